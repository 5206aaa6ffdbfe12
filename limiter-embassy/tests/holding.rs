//! Who waits in line while a call that failed keeps its slot.

mod common;

use common::{Clock, Count};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Duration;
use limiter_embassy::law::{Decision, Law, Reason, Window};
use limiter_embassy::{BreakerConfig, CallOptions, Dependency, Ending, Policy, config, policy};
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Raises the limit after each window.
#[derive(Clone, Copy, Debug)]
struct Growing;

impl Law for Growing {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(window.limit + 1, Reason::Grew)
    }
}

/// Ends when it is told to.
async fn attempt(ends: &Cell<bool>, result: Result<(), u16>) -> Result<(), u16> {
    poll_fn(|_| match ends.get() {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
    result
}

/// F29 of others: a limit that grew, and nobody who looked.
#[test]
fn a_limit_that_a_failed_attempt_raised_lets_in_who_waits_also_where_the_slot_is_kept() {
    let second = std::time::Duration::from_secs(1);
    let policy = policy()
        .throttle(None)
        .breaker(BreakerConfig::new().consecutive(None).failure_share(None))
        .timeout(20 * second)
        .total(60 * second);
    let policy: &'static Policy = Box::leak(Box::new(Policy::try_new(policy).expect("it works")));
    for keeps in [CallOptions::new(), CallOptions::new().hold_slot()] {
        let clock = Clock::take();
        let config = config(Growing).initial(1).min_samples(1);
        let cloud: Dependency<CriticalSectionRawMutex, Growing, (), 2> =
            Dependency::new(config, policy, 9);
        let judge = |_: &u16| Ending::failure();
        let mut context = Context::from_waker(Waker::noop());
        // What a window needs, before it is long enough.
        for _ in 0..3 {
            let ends = Cell::new(false);
            let mut call = pin!(cloud.call(CallOptions::new(), judge, async |_| {
                attempt(&ends, Ok(())).await
            }));
            assert!(call.as_mut().poll(&mut context).is_pending());
            clock.advance(Duration::from_millis(10));
            ends.set(true);
            assert!(call.as_mut().poll(&mut context).is_ready());
        }
        let before = cloud.snapshot().limiter.limit;
        let never = Cell::new(false);
        let others = (1..before).map(|_| {
            let call = cloud.call(CallOptions::new(), judge, async |_| {
                attempt(&never, Ok(())).await
            });
            let mut call = Box::pin(call);
            assert!(call.as_mut().poll(&mut context).is_pending());
            call
        });
        let _others: Vec<_> = others.collect();
        let fails = Cell::new(false);
        let mut first = pin!(cloud.call(keeps, judge, async |_| attempt(&fails, Err(1)).await));
        let mut context = Context::from_waker(Waker::noop());
        assert!(first.as_mut().poll(&mut context).is_pending());
        let (woken, waker) = Count::new();
        let mut waits = pin!(cloud.call(CallOptions::new(), judge, async |_| Ok(())));
        let mut other = Context::from_waker(&waker);
        assert!(waits.as_mut().poll(&mut other).is_pending());
        assert_eq!(cloud.queued(), 1);
        clock.advance(Duration::from_secs(5));
        fails.set(true);
        // The attempt fails, its window closes, the call backs off.
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(cloud.snapshot().limiter.limit > before);
        assert_eq!((cloud.queued(), woken.get()), (0, 1));
        assert!(waits.as_mut().poll(&mut other).is_ready());
    }
}
