//! Replays of incidents: collapse without the library, survival with it, in the lab's virtual time.
//!
//! ```text
//! scenario read     tiers, callers and a timeline, as data, from a file
//! catalogue         the nine incidents
//! setting           which mode, which adoption, which seed
//! world             the event loop; timeline, wiring and slab are its parts
//! client calls plain hand   those who call: with the library, as it was, by hand
//! process work      those who are called: slots, queues, limits, what refusing costs
//! tally judge       what a run leaves behind, and what it says
//! report page plot  tables, an HTML page, pictures
//! sweep             where a system comes back by itself
//! ```

mod calls;
pub mod catalogue;
mod client;
mod hand;
pub mod judge;
pub mod page;
mod plain;
pub mod plot;
mod process;
pub mod read;
pub mod report;
pub mod scenario;
pub mod setting;
mod slab;
pub mod sweep;
pub mod tally;
pub mod timeline;
mod wiring;
mod work;
pub mod world;
pub mod yardstick;
