//! What outlives a restart.

use crate::support::{Bad, Lab, ms, never};
use limiter_std::{BreakerState, CallOptions, RecordError, Tokens};
use std::time::Duration;

const ONCE: CallOptions = CallOptions::new().attempts(1);

#[test]
fn limit_budget_and_breaker_come_back_and_time_asleep_counts() {
    let trips =
        |config: limiter_std::DependencyConfig<_>| config.breaker(never().consecutive(Some(1)));
    let before = Lab::with(trips);
    before.store.set_limit(7).unwrap();
    before.store.budget().withdraw(Tokens::whole(6)).unwrap();
    before.call(ONCE, |_| Err(Bad::Broken)).unwrap_err();
    let kept = before.store.save();

    let after = Lab::with(trips);
    after
        .store
        .restore(&kept, Duration::ZERO)
        .expect("a record");
    let seen = after.store.snapshot();
    assert_eq!(
        (seen.limiter.limit, seen.balance),
        (7, Tokens::milli(4_100))
    );
    let BreakerState::Open { left } = seen.breaker else {
        panic!("{seen:?}");
    };
    assert!(limiter_std::duration(left) > ms(2_000));

    let late = Lab::with(trips);
    late.store
        .restore(&kept, Duration::from_secs(30))
        .expect("a record");
    let seen = late.store.snapshot();
    assert_eq!(seen.breaker, BreakerState::HalfOpen);
    assert!(
        seen.balance >= Tokens::milli(7_000),
        "three tokens of the floor: {seen:?}"
    );
}

#[test]
fn bytes_that_are_no_record_leave_an_empty_budget_and_first_attempts() {
    let kept = Lab::new().store.save();
    let mut torn = kept;
    torn[9] ^= 1;
    for (bytes, error) in [
        (&[0; 24][..], RecordError::Blank),
        (&[0xff; 24], RecordError::Blank),
        (&kept[..10], RecordError::Short),
        (&torn, RecordError::Damaged),
    ] {
        let lab = Lab::new();
        assert_eq!(lab.store.restore(bytes, Duration::ZERO), Err(error));
        assert!(lab.store.budget().balance() < Tokens::ONE);
        assert!(lab.store.budget().withdraw(Tokens::ONE).is_err());
    }
}
