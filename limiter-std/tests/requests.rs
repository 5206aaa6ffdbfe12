//! Requests that say what they are, through the handle.

use limiter_std::law::Fixed;
use limiter_std::{Config, Limiter, Outcome, Priority, RejectReason, Request, Shares};

fn limiter() -> Limiter<Fixed> {
    Limiter::try_new(Config::new(Fixed).initial(10).max(10)).unwrap()
}

#[test]
fn a_class_is_let_in_up_to_its_share_which_changes_while_running() {
    let limiter = limiter();
    let batch = Request::new().priority(Priority::Batch);
    let fill =
        || -> Vec<_> { core::iter::from_fn(|| limiter.try_acquire_for(batch).ok()).collect() };
    let held = fill();
    assert_eq!(held.len(), 7);
    limiter.set_shares(Shares::new().batch(800)).unwrap();
    let more = fill();
    assert_eq!(more.len(), 1);
    assert!(limiter.set_shares(Shares::new().batch(0)).is_err());
    let refused = limiter.try_acquire_for(batch).unwrap_err();
    assert_eq!(refused.reason, RejectReason::ShareTaken);
    drop((held, more));
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[test]
fn a_weight_is_given_back_whole_by_a_drop_and_by_an_outcome() {
    let limiter = limiter();
    let heavy = Request::new().weight(4);
    let first = limiter.try_acquire_for(heavy).unwrap();
    let second = limiter.try_acquire_for(heavy).unwrap();
    assert_eq!(limiter.snapshot().inflight, 8);
    drop(first);
    second.finish(Outcome::Success);
    assert_eq!(limiter.snapshot().inflight, 0);
    let refused = limiter
        .try_acquire_for(Request::new().weight(11))
        .unwrap_err();
    assert_eq!(refused.reason, RejectReason::TooHeavy(11));
}
