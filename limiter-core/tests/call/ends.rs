//! Every way in which a call and its attempts end gives everything back, once.

use super::*;
use limiter_core::BreakerState;
use limiter_core::LatencyHistogram;

/// Half open, with a single lease: whoever keeps it is found out.
fn half_open(limit: u32) -> Dependency<Fixed> {
    let breaker = BreakerConfig::new().consecutive(Some(1)).probes(1);
    let dependency = fixed(limit, plain().breaker(breaker));
    fail(&mut begin(&dependency, 0), Ending::failure(), 0);
    assert_eq!(dependency.breaker(at(6_000)), BreakerState::HalfOpen);
    dependency
}

fn is_clean(dependency: &Dependency<Fixed>, now: u64) {
    let seen = dependency.snapshot(at(now));
    assert_eq!((seen.limiter.inflight, seen.backing_off), (0, 0));
    // A lease is to be had.
    let mut call = begin(dependency, now);
    assert!(matches!(step(&mut call, now), Step::Attempt(_)));
}

#[test]
fn a_call_that_is_dropped_frees_everything() {
    let dependency = half_open(1);
    drop(begin(&dependency, 6_000));
    is_clean(&dependency, 6_000);
    let mut call = begin(&dependency, 6_000);
    attempt(&mut call, 6_000);
    drop(call);
    is_clean(&dependency, 6_000);
    for options in [CallOptions::new(), CallOptions::new().hold_slot()] {
        let dependency = fixed(1, plain());
        let mut call = dependency.call(at(0), options);
        fail(&mut call, Ending::failure(), 0);
        wait(&mut call, 0);
        assert_eq!(dependency.snapshot(at(0)).backing_off, 1);
        drop(call);
        is_clean(&dependency, 0);
    }
}

#[test]
fn a_call_that_is_abandoned_frees_everything_and_tells_who_waits() {
    let dependency = half_open(1);
    let mut call = begin(&dependency, 6_000);
    attempt(&mut call, 6_000);
    dependency.limiter().set_waiting();
    assert!(call.abandon(at(6_010)).wake);
    dependency.limiter().clear_waiting();
    assert_eq!(gives_up(&mut call, 6_010), GiveUp::Abandoned);
    is_clean(&dependency, 6_010);
    assert!(!call.abandon(at(6_010)).wake);
}

#[test]
fn every_ending_frees_the_slot() {
    for ending in [
        Ending::success(),
        Ending::failure(),
        Ending::permanent(),
        Ending::overload(),
        Ending::timeout(),
        Ending::ignored(),
    ] {
        let dependency = fixed(1, plain());
        let mut call = begin(&dependency, 0);
        fail(&mut call, ending, 0);
        assert_eq!(dependency.limiter().snapshot().inflight, 0, "{ending:?}");
        drop(call);
        is_clean(&dependency, 0);
    }
}

#[test]
fn a_second_end_of_an_attempt_changes_nothing() {
    let dependency = fixed(10, plain());
    let mut call = begin(&dependency, 0);
    let first = attempt(&mut call, 0);
    for _ in 0..3 {
        end(&mut call, first, Ending::overload(), 10);
    }
    call.finish(0, Ending::success(), at(10), WORD);
    call.finish(99, Ending::success(), at(10), WORD);
    let until = wait(&mut call, 10);
    assert_eq!(dependency.limiter().snapshot().inflight, 0);
    assert_eq!(attempt(&mut call, until).number, 2);
}

#[test]
fn an_attempt_that_nobody_ends_is_timed_out_and_counts_as_an_overload() {
    let dependency = fixed(1, plain());
    let mut call = begin(&dependency, 0);
    let first = attempt(&mut call, 0);
    assert_eq!(step(&mut call, 1_999), Step::Running(first.deadline));
    assert_eq!(step(&mut call, 2_000), Step::Cancel(1));
    let seen = dependency.limiter().snapshot();
    assert_eq!((seen.inflight, seen.window_overloads), (0, 1));
    assert_eq!(wait(&mut call, 2_000), 3_000);
}

#[test]
fn an_attempt_cut_short_by_the_calls_own_deadline_is_no_overload() {
    for told in [false, true] {
        let dependency = fixed(1, plain());
        let mut call = dependency.call(at(0), CallOptions::new().total(ticks(50)));
        let first = attempt(&mut call, 0);
        assert_eq!((first.timeout, first.deadline), (ticks(50), at(50)));
        if told {
            end(&mut call, first, Ending::timeout(), 50);
        } else {
            assert_eq!(step(&mut call, 50), Step::Cancel(1));
        }
        assert_eq!(gives_up(&mut call, 50), GiveUp::Deadline);
        let seen = dependency.limiter().snapshot();
        assert_eq!((seen.inflight, seen.window_overloads), (0, 0));
    }
}

#[test]
fn a_call_whose_time_is_over_before_it_starts_sends_nothing() {
    let dependency = fixed(1, plain());
    let mut call = begin(&dependency, 0);
    assert_eq!(gives_up(&mut call, 10_000), GiveUp::Deadline);
    assert_eq!(call.attempts(), 0);
    let mut none = dependency.call(at(0), CallOptions::new().total(ticks(0)));
    assert_eq!(gives_up(&mut none, 0), GiveUp::Deadline);
}

/// Late waiters that were sent all the same ended as overloads, the limit fell, and others waited longer.
#[test]
fn an_attempt_that_would_more_likely_than_not_be_given_up_is_not_sent_but_one_in_eight() {
    let dependency: Dependency<Fixed, LatencyHistogram> =
        Dependency::new(Config::new(Fixed, RATE), plain());
    for now in 0..100 {
        let mut call = begin(&dependency, now);
        let sent = attempt(&mut call, now);
        end(&mut call, sent, Ending::success(), now + 300);
    }
    let now = 500;
    let sent = |left, word: u32| {
        let mut call = dependency.call(at(now), CallOptions::new().total(ticks(left)));
        match call.step(at(now), word) {
            Step::Attempt(_) => true,
            step => {
                assert_eq!(step, Step::GiveUp(GiveUp::Deadline));
                false
            }
        }
    };
    assert!(!sent(200, WORD) && !sent(200, u32::MAX));
    assert!(sent(200, 7) && sent(400, WORD));
    let many = (0..800_u32).filter(|index| sent(200, index.wrapping_mul(0x9e37_79b9)));
    assert!((80..=120).contains(&many.count()));
}

#[test]
fn a_clock_that_is_set_back_neither_stalls_a_call_nor_takes_its_time() {
    let dependency = fixed(1, plain());
    let mut call = begin(&dependency, 1_000_000);
    let first = attempt(&mut call, 1_000_000);
    end(&mut call, first, Ending::failure(), 1_000_000);
    assert_eq!(wait(&mut call, 1_000_000), 1_001_000);
    // An hour and more back: from here on a second at most.
    assert_eq!(wait(&mut call, 5), 1_005);
    let second = attempt(&mut call, 1_005);
    assert_eq!(second.deadline, at(3_005));
    assert_eq!(step(&mut call, 1), Step::Running(at(2_001)));
    // Only steps forward count: 1,000 and these.
    assert_eq!(step(&mut call, 9_001), Step::Cancel(2));
    assert_eq!(gives_up(&mut call, 9_001), GiveUp::Deadline);
}

#[test]
fn an_owned_call_outlives_its_maker() {
    let dependency = std::sync::Arc::new(fixed(1, plain()));
    let call = Dependency::call_owned(
        std::sync::Arc::clone(&dependency),
        at(0),
        CallOptions::new(),
    );
    let thread = std::thread::spawn(move || {
        let mut call = call;
        fail(&mut call, Ending::success(), 0);
        step(&mut call, 0)
    });
    assert_eq!(thread.join().unwrap(), Step::Done);
    is_clean(&dependency, 0);
}
