//! The lab: laws measured against the best possible, in virtual time.
//!
//! ```text
//! queue random      virtual time and random numbers
//! arrivals          an open-loop load
//! server            slots, a queue, and what can be wrong with them
//! gate peers laws   limiters: ours, the oracle's, those of others; by name
//! callers           limiters with requests that are out
//! stage world       where a run is; the event loop that joins all; trace is what it leaves behind
//! model catalogue   what is simulated, as data
//! config            a model and a limiter from a file
//! oracle            the best a fixed limit can do
//! measure judge     figures of a run, and a run held against the oracle
//! tournament        everything, on all processors
//! verdict           what is asked of a law, and who is better
//! report plot       tables and pictures
//! variants          the default law with its parameters halved and doubled
//! ```

pub mod arrivals;
pub mod callers;
pub mod catalogue;
pub mod config;
mod describe;
pub mod gate;
pub mod judge;
pub mod laws;
pub mod measure;
pub mod model;
pub mod oracle;
pub mod peers;
pub mod plot;
pub mod queue;
pub mod random;
pub mod report;
pub mod server;
pub mod stage;
pub mod tournament;
pub mod trace;
pub mod variants;
pub mod verdict;
pub mod world;
