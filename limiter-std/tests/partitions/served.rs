//! Who waits is served by whatever makes room between the partitions.

use crate::common::{Task, poll};
use crate::{fill, of, parted};
use limiter_std::law::{Decision, Law, Reason, Window};
use limiter_std::{Config, Guarantee, Limiter, ManualClock, Outcome, Partitions, Request};
use std::task::{Poll, Waker};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn what_a_newcomer_lends_is_for_those_who_wait() {
    let lent = Guarantee::of(300).lend_after(SECOND);
    let (store, clock) = parted(10, &[("reads", Guarantee::NONE), ("writes", lent)]);
    let held = fill(&store, "reads");
    assert_eq!(held.len(), 7);
    let mut waiting = Task::queued_for(&store, of(&store, "reads"));
    clock.advance(2 * SECOND);
    assert!(store.try_acquire_for(of(&store, "reads")).is_err());
    drop(waiting.permit());
}

#[test]
fn a_heavy_waiter_is_let_in_alone_although_a_guarantee_is_owed() {
    let (limiter, _) = parted(2, &[("a", Guarantee::of(300))]);
    let heavy = Request::new().weight(4);
    let held = limiter.try_acquire_for(heavy).expect("alone");
    // The guarantee of "a" is 1 of 4 now, and owed, for four are in flight.
    limiter.set_limit(4).expect("within the bounds");
    let mut waiting = Task::queued_for(&limiter, heavy);
    drop(held);
    drop(waiting.permit());
}

/// One less at the end of every window.
#[derive(Clone, Copy, Debug)]
struct OneLess;

impl Law for OneLess {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(window.limit - 1, Reason::CutLatency)
    }
}

#[test]
fn a_smaller_limit_that_leaves_more_for_everybody_lets_in_who_waits() {
    let clock = ManualClock::new();
    let partitions = Partitions::new()
        .partition("a", Guarantee::of(200))
        .partition("b", Guarantee::of(300));
    let config = Config::new(OneLess)
        .initial(10)
        .min_samples(1)
        .windows(Duration::from_millis(1), SECOND);
    let limiter = Limiter::partitioned_with_clock(config, &partitions, clock.clone())
        .expect("a configuration that works");
    let a = Request::new().partition(limiter.partition("a").expect("there is one"));
    let own = limiter.try_acquire_for(a).expect("two are its own");
    let _pooled: Vec<_> = std::iter::from_fn(|| limiter.try_acquire().ok()).collect();
    let mut waiting = Box::pin(limiter.acquire_async());
    assert!(poll(&mut waiting, Waker::noop()).is_pending());
    clock.advance(2 * SECOND);
    // The answer is there, and the slot is kept: as for a body.
    let hold = own.into_hold();
    hold.record(Outcome::Success, hold.now());
    assert_eq!(limiter.snapshot().limit, 9);
    assert!(matches!(
        poll(&mut waiting, Waker::noop()),
        Poll::Ready(Ok(_))
    ));
}
