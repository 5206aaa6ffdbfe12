//! What an operation costs: time against a raw pair of atomic operations beside it, instructions,
//! allocations and bytes, for the library and for others that do the same job.
//!
//! - [`case`]: something to measure, and [`catalogue`] all there is
//! - `ours`, `peers`: how each is built and called
//! - `raw`: what times are given in
//! - [`timing`]: interleaved rounds, on one thread and on two
//! - [`counting`]: instructions, by a child process under callgrind
//! - [`heap`]: allocations, by a program with a counting allocator
//! - [`target`], [`report`]: what is asked for, and the table

pub mod case;
pub mod catalogue;
pub mod counting;
pub mod heap;
mod ours;
mod peers;
mod raw;
pub mod report;
pub mod scaling;
mod service;
pub mod target;
pub mod timing;
