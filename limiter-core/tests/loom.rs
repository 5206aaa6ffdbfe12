//! Models of the real code, every interleaving explored:
//! `RUSTFLAGS="--cfg limiter_loom" cargo test --profile loom -p limiter-core --features loom --test loom`.
//!
//! Models of single cells, which need the crate's inside, are in `loom/cells.rs` and run as unit tests
//! (`--lib`). Each model counts its executions, asserts the state words after the joins, and is known to catch the
//! seeded mutations that `cargo xtask test loom-bites` applies.

#![cfg(limiter_loom)]

#[path = "loom/admission.rs"]
mod admission;
#[path = "loom/breaker.rs"]
mod breaker;
#[path = "loom/budget.rs"]
mod budget;
#[path = "loom/dependency.rs"]
mod dependency;
#[path = "loom/explore.rs"]
mod explore;
#[path = "loom/gate.rs"]
mod gate;
#[path = "loom/partition.rs"]
mod partition;
#[path = "loom/shares.rs"]
mod shares;
#[path = "loom/tickets.rs"]
mod tickets;
#[path = "loom/users.rs"]
mod users;
#[path = "loom/window.rs"]
mod window;

use core::time::Duration;
use explore::{explore, explore_bounded};
use limiter_core::law::{Decision, Law, Next, Reason, Window};
use limiter_core::{Config, Limiter, TickRate, Ticks, Timestamp};

const NOW: Timestamp = Timestamp::from_ticks(1_000);
/// The RTT of every permit in the models.
const RTT: u64 = 100;

fn later() -> Timestamp {
    Timestamp::from_ticks(NOW.ticks() + RTT)
}

/// Counts what it sees in its state, and shows it in the limit: 1,000 per window and 1 per success.
#[derive(Clone, Copy, Debug)]
struct Count;

const BASE: u32 = 10_000;

impl Law for Count {
    type State = [u32; 2];

    fn on_window(&self, [windows, successes]: &mut [u32; 2], window: &Window) -> Decision {
        *windows += 1;
        *successes += window.successes;
        let limit = BASE + *windows * 1_000 + *successes;
        Decision::new(limit, Reason::Grew).then(Next {
            settle: Ticks::new(0),
            length: Ticks::new(0),
            samples: 1,
        })
    }
}

/// A limiter whose every finished permit is enough for a window.
fn eager<L: Law + Copy>(law: L, limit: u32) -> Limiter<L> {
    Limiter::new(
        Config::new(law, TickRate::MICROS)
            .initial(limit)
            .max(30_000)
            .min_samples(1)
            .windows(Duration::ZERO, Duration::from_secs(1)),
    )
}
