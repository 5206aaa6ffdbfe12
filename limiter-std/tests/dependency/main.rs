//! Dependencies: calls of threads and of futures, the faults that people met in others' retries, hedges and
//! breakers, and calls that go away.

mod breaker;
mod cancelling;
mod hedges;
#[path = "../common/nap.rs"]
mod nap;
mod priorities;
mod restart;
mod retries;
mod support;
