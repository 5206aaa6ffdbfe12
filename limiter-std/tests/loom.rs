//! Models of the real code under every interleaving that loom can make, with both widths of the admission
//! word:
//!
//! ```text
//! RUSTFLAGS="--cfg limiter_loom" cargo test --profile loom -p limiter-std --features loom --test loom
//! RUSTFLAGS="--cfg limiter_loom --cfg limiter_narrow" cargo test ...
//! ```
//!
//! Each model prints how many executions it explored, and fails when there was one only. A waiter that is
//! stranded is a deadlock, which loom reports. After the joins the words are looked at: nothing in flight,
//! no waiting bit, an empty queue, the limit that was set.

#![cfg(limiter_loom)]

#[path = "loom/cancel.rs"]
mod cancel;
#[path = "loom/classes.rs"]
mod classes;
#[path = "loom/close.rs"]
mod close;
#[path = "loom/hold.rs"]
mod hold;
#[path = "loom/newcomer.rs"]
mod newcomer;
#[path = "loom/partitions.rs"]
mod partitions;
#[path = "loom/raise.rs"]
mod raise;
#[path = "loom/release.rs"]
mod release;
#[path = "loom/support.rs"]
mod support;
#[path = "loom/timeout.rs"]
mod timeout;
#[path = "loom/tuned.rs"]
mod tuned;
