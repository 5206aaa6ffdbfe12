//! Calls that go away: after every poll of every way that a call can take.

use crate::support::{Bad, Lab, ms, never, poll};
use limiter_std::law::Fixed;
use limiter_std::{BreakerState, CallOptions, Config};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// What happens between two polls of a call.
type Event = fn(&Lab);

fn nothing(_: &Lab) {}

fn pass_ten(lab: &Lab) {
    lab.clock.advance(ms(10));
}

fn pass_a_hundred(lab: &Lab) {
    // A little more, for delays are rounded up.
    lab.clock.advance(ms(101));
}

fn fail_all(lab: &Lab) {
    lab.server.answer_all(Err(Bad::Broken));
}

fn fail_the_newest(lab: &Lab) {
    let newest = lab.server.attempts().len() - 1;
    lab.server.answer(newest, Err(Bad::Full));
}

fn answer_all(lab: &Lab) {
    lab.server.answer_all(Ok(1));
}

fn set_back(lab: &Lab) {
    lab.clock.set(ms(1));
}

fn shrink(lab: &Lab) {
    lab.store.set_limit(1).expect("within the bounds");
}

fn raise(lab: &Lab) {
    lab.store.set_limit(4).expect("within the bounds");
}

fn close(lab: &Lab) {
    lab.store.close();
}

#[test]
fn a_call_can_be_dropped_after_any_poll_and_leaves_nothing_behind() {
    let ways: [&[Event]; 8] = [
        &[nothing, answer_all],
        // Back-off, and a second attempt.
        &[fail_all, pass_a_hundred, answer_all],
        // A hedge, of which either wins.
        &[pass_ten, nothing, answer_all],
        &[pass_ten, fail_the_newest, nothing, answer_all],
        // Both fail, back-off, a third.
        &[pass_ten, fail_all, nothing, pass_a_hundred, fail_all],
        // Timeouts of all of them.
        &[
            pass_a_hundred,
            pass_a_hundred,
            pass_a_hundred,
            pass_a_hundred,
            pass_a_hundred,
        ],
        &[
            pass_ten,
            set_back,
            pass_a_hundred,
            shrink,
            fail_all,
            raise,
            pass_a_hundred,
        ],
        &[pass_ten, close, fail_all, pass_a_hundred],
    ];
    let options = [
        CallOptions::new(),
        CallOptions::new().hedge(),
        CallOptions::new().hedge().hold_slot(),
        CallOptions::new().total(ms(150)).hedge(),
    ];
    let mut dropped = 0;
    for (events, options) in ways
        .iter()
        .flat_map(|way| options.map(|options| (way, options)))
    {
        // Slots that others hold: with two of them the call waits in line.
        for held in 0..=2 {
            for polls in 0..=events.len() {
                for event_before_drop in [false, true] {
                    let lab = Lab::limited(Config::new(Fixed).initial(2).max(8), |config| {
                        config.hedge(950, ms(10)).attempts(3).timeout(ms(80))
                    });
                    let mut others: Vec<_> =
                        (0..held).map(|_| lab.calling(CallOptions::new())).collect();
                    assert!(others.iter_mut().all(|other| poll(other).is_pending()));
                    let mut calling = lab.calling(options);
                    for (step, event) in events.iter().take(polls).enumerate() {
                        let ready = poll(&mut calling).is_ready();
                        if ready {
                            break;
                        }
                        if step + 1 < polls || event_before_drop {
                            event(&lab);
                        }
                        // Another gives its slot back on the way, so that those in line are granted it.
                        if step == 1 {
                            others.pop();
                        }
                    }
                    drop((calling, others));
                    lab.assert_idle();
                    dropped += 1;
                }
            }
        }
    }
    assert!(dropped > 800, "{dropped} ways");
}

#[test]
fn the_slot_that_was_granted_to_a_call_that_goes_away_goes_to_the_next_in_line() {
    let lab = Lab::limited(Config::new(Fixed).initial(1), |config| config);
    let mut calls: Vec<_> = (0..4).map(|_| lab.calling(CallOptions::new())).collect();
    assert!(calls.iter_mut().all(|calling| poll(calling).is_pending()));
    assert_eq!(lab.store.queued(), 3);
    // The first gives its slot to the second, which goes away without a poll, as does the third.
    calls.drain(..3);
    assert!(poll(&mut calls[0]).is_pending());
    assert_eq!((lab.store.queued(), lab.server.running()), (0, 1));
    drop(calls);
    lab.assert_idle();
}

#[test]
fn a_call_in_line_that_is_dropped_leaves_no_lease_of_a_half_open_breaker_taken() {
    let lab = Lab::limited(Config::new(Fixed).initial(2), |config| {
        config
            .breaker(never().consecutive(Some(1)).probes(1))
            .timeout(Duration::from_secs(60))
            .timeout_bounds(ms(50), Duration::from_secs(60))
            .total(Duration::from_secs(60))
    });
    let once = CallOptions::new().attempts(1);
    let mut old = lab.calling(once);
    assert!(poll(&mut old).is_pending());
    lab.call(once, |_| Err(Bad::Broken)).unwrap_err();
    lab.store.set_limit(1).unwrap();
    lab.clock.advance(Duration::from_secs(5));
    for polls in 1..=3 {
        let mut waiting = lab.calling(once);
        for _ in 0..polls {
            assert!(
                poll(&mut waiting).is_pending(),
                "in line behind the old one"
            );
        }
        drop(waiting);
        assert_eq!(lab.store.queued(), 0);
    }
    drop(old);
    assert_eq!(lab.call(once, |_| Ok(1)), Ok(1));
    assert_eq!(lab.store.snapshot().breaker, BreakerState::Closed);
}

#[test]
fn an_attempt_that_panics_frees_everything_and_wakes_who_waits() {
    let lab = Lab::limited(Config::new(Fixed).initial(1), |config| config);
    let mut waiting = None;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        lab.call(CallOptions::new(), |_| {
            let mut other = lab.calling(CallOptions::new());
            assert!(poll(&mut other).is_pending());
            waiting = Some(other);
            panic!("by the attempt")
        })
    }));
    assert!(panicked.is_err());
    let mut other = waiting.expect("in line");
    assert!(poll(&mut other).is_pending());
    assert_eq!(
        (lab.server.running(), lab.store.queued()),
        (1, 0),
        "it has the slot"
    );
    drop(other);
    lab.assert_idle();
}

#[test]
fn a_sleep_that_is_always_over_does_not_keep_a_poll_for_ever() {
    let lab = Lab::new();
    let server = lab.server.clone();
    let sleep = |_| std::future::ready(());
    let attempt = move |attempt| server.attempt(attempt);
    let mut calling: crate::support::Calling =
        Box::pin(
            lab.store
                .call_async(sleep, CallOptions::new(), crate::support::judge, attempt),
        );
    for _ in 0..3 {
        assert!(poll(&mut calling).is_pending(), "the clock stands still");
    }
    lab.server.answer(0, Ok(1));
    assert!(poll(&mut calling).is_ready());
}
