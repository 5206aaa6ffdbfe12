//! A law that is changed while it runs.

use limiter_std::law::{Aimd, AnyLaw, Decision, Fixed, Knee, Law, Reason, Window};
use limiter_std::{
    CallOptions, Config, ConfigError, Dependency, DependencyConfig, Ending, Keyed, Limiter,
    ManualClock, Outcome,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The limit is `step` times the number of windows so far, which is what was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stepping {
    step: u32,
    kind: u32,
    panics: bool,
}

const fn stepping(step: u32) -> Stepping {
    Stepping {
        step,
        kind: 0,
        panics: false,
    }
}

impl Law for Stepping {
    type State = [u32; 1];

    fn on_window(&self, [windows]: &mut [u32; 1], _: &Window) -> Decision {
        *windows += 1;
        if self.panics {
            resume_unwind(Box::new("a law that panics"));
        }
        Decision::new(self.step * *windows, Reason::Grew)
    }

    fn goes_on_from(&self, before: &Self) -> bool {
        self.kind == before.kind
    }

    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::check("stepping.step", self.step.into(), 1, 100)
    }
}

/// Every permit that ends closes a window.
fn config<L: Law + Copy>(law: L) -> Config<L> {
    Config::new(law)
        .min_samples(1)
        .windows(Duration::ZERO, SECOND)
}

fn limiter<L: Law + Copy>(config: Config<L>) -> (Limiter<L, ManualClock>, ManualClock) {
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(config, clock.clone());
    (limiter.expect("a configuration that works"), clock)
}

/// Takes one permit whose end closes a window, and returns the limit after it.
fn window<L: Law>(limiter: &Limiter<L, ManualClock>, clock: &ManualClock) -> u32 {
    let permit = limiter.try_acquire().expect("nothing is in flight");
    clock.advance(2 * SECOND);
    permit.finish(Outcome::Success);
    limiter.snapshot().limit
}

/// For laws that look at what a window shows: one of all of the limit, closed by the last.
fn round_trip<L: Law>(
    limiter: &Limiter<L, ManualClock>,
    clock: &ManualClock,
    outcome: Outcome,
) -> u32 {
    let mut permits: Vec<_> = std::iter::from_fn(|| limiter.try_acquire().ok()).collect();
    let last = permits.pop().expect("a limit of at least 1");
    clock.advance(SECOND / 10);
    for permit in permits {
        permit.finish(outcome);
    }
    clock.advance(2 * SECOND);
    last.finish(outcome);
    limiter.snapshot().limit
}

/// Windows that hold a [`round_trip`] at a limit of 50.
fn patient<L: Law + Copy>(law: L) -> Config<L> {
    Config::new(law)
        .min_samples(50)
        .windows(SECOND, 60 * SECOND)
}

fn aimd(keep: u32, increase: u32) -> Aimd {
    let law = Aimd::new().keep(keep);
    law.and_then(|law| law.increase(increase))
        .expect("parameters that work")
}

#[test]
fn the_next_decision_is_by_the_new_parameters_and_nothing_learned_is_lost() {
    let (limiter, clock) = limiter(patient(aimd(900, 1)).initial(100));
    // Ends the ramp, which a law that had forgotten would begin again.
    assert_eq!(round_trip(&limiter, &clock, Outcome::Overload), 50);
    limiter.set_law(aimd(800, 7)).unwrap();
    assert_eq!(
        limiter.snapshot().limit,
        50,
        "a parameter moves no limit by itself"
    );
    assert_eq!(round_trip(&limiter, &clock, Outcome::Success), 57);
    assert_eq!(round_trip(&limiter, &clock, Outcome::Overload), 45);
    limiter.set_law(aimd(200, 7)).unwrap();
    assert_eq!(round_trip(&limiter, &clock, Outcome::Overload), 9);
}

#[test]
fn the_window_that_is_open_is_judged_by_the_new_parameters() {
    let (limiter, clock) = limiter(Config::new(aimd(900, 1).without_ramp()).initial(10));
    let permits: Vec<_> = std::iter::from_fn(|| limiter.try_acquire().ok()).collect();
    clock.advance(2 * SECOND);
    limiter.set_law(aimd(300, 1).without_ramp()).unwrap();
    for permit in permits {
        permit.finish(Outcome::Overload);
    }
    assert_eq!(limiter.snapshot().limit, 3);
}

#[test]
fn bad_parameters_are_refused_by_name_and_change_nothing() {
    let (limiter, clock) = limiter(config(stepping(2)));
    let said = "stepping.step = 0: allowed are 1 to 100";
    assert_eq!(limiter.set_law(stepping(0)).unwrap_err().to_string(), said);
    let wrong = config(stepping(0)).max(500);
    assert_eq!(limiter.reconfigure(&wrong).unwrap_err().to_string(), said);
    assert_eq!(limiter.snapshot().max, 1_000);
    // And what is wrong elsewhere leaves the law.
    assert!(
        limiter
            .reconfigure(&config(stepping(9)).queue_length(0))
            .is_err()
    );
    assert_eq!(window(&limiter, &clock), 2);
    let refused = Limiter::try_new(config(stepping(0))).unwrap_err();
    assert_eq!(refused.to_string(), said);
}

#[test]
fn a_law_of_another_kind_begins_anew_from_the_limit_that_there_is() {
    let law = AnyLaw::Aimd(aimd(900, 1));
    let (limiter, clock) = limiter(patient(law).initial(100));
    assert_eq!(round_trip(&limiter, &clock, Outcome::Overload), 50);
    limiter.set_law(AnyLaw::Fixed(Fixed)).unwrap();
    for outcome in [Outcome::Overload, Outcome::Success] {
        assert_eq!(round_trip(&limiter, &clock, outcome), 50, "it stays");
    }
    limiter.set_law(law).unwrap();
    assert_eq!(
        round_trip(&limiter, &clock, Outcome::Success),
        100,
        "a ramp"
    );
    assert_eq!(round_trip(&limiter, &clock, Outcome::Overload), 50);
    // Another and back, without a window between: nobody knows whose words those were.
    limiter.set_law(AnyLaw::Knee(Knee::new())).unwrap();
    limiter.set_law(law).unwrap();
    assert_eq!(
        round_trip(&limiter, &clock, Outcome::Success),
        100,
        "a ramp"
    );
}

#[test]
fn a_limit_that_is_set_after_another_kind_of_law_finds_no_words_of_the_old_one() {
    let (limiter, clock) = limiter(config(stepping(3)));
    assert_eq!([3, 6], [(); 2].map(|()| window(&limiter, &clock)));
    let other = Stepping {
        kind: 1,
        ..stepping(1)
    };
    limiter.set_law(other).unwrap();
    limiter.set_limit(1).unwrap();
    assert_eq!(window(&limiter, &clock), 1);
}

#[test]
fn a_law_that_panics_is_replaced_and_another_kind_still_begins_anew() {
    let (limiter, clock) = limiter(config(stepping(2)).initial(1));
    assert_eq!(window(&limiter, &clock), 2);
    let bad = Stepping {
        kind: 1,
        panics: true,
        ..stepping(2)
    };
    limiter.set_law(bad).unwrap();
    let permit = limiter.try_acquire().unwrap();
    clock.advance(2 * SECOND);
    let finish = AssertUnwindSafe(|| permit.finish(Outcome::Success));
    assert!(catch_unwind(finish).is_err());
    assert_eq!(
        (limiter.snapshot().limit, limiter.snapshot().inflight),
        (2, 0)
    );
    let good = Stepping {
        panics: false,
        step: 5,
        ..bad
    };
    limiter.set_law(good).unwrap();
    assert_eq!(window(&limiter, &clock), 5, "its first window");
}

/// Sets another law whenever it is asked.
#[derive(Clone, Copy, Debug)]
struct Restless(u32);

static RESTLESS: OnceLock<Limiter<Restless, ManualClock>> = OnceLock::new();

impl Law for Restless {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], _: &Window) -> Decision {
        let limiter = RESTLESS.get().expect("it is there");
        limiter.set_law(Restless(self.0 + 1)).expect("it works");
        Decision::new(self.0, Reason::Grew)
    }

    fn goes_on_from(&self, before: &Self) -> bool {
        // One of 50 comes only after one of 40.
        if self.0 == 50 && before.0 != 40 {
            let limiter = RESTLESS.get().expect("it is there");
            limiter.set_law(Restless(40)).expect("it works");
        }
        true
    }
}

#[test]
fn a_law_may_set_its_successor_and_its_predecessor() {
    let (limiter, clock) = limiter(config(Restless(20)).initial(1));
    let limiter = RESTLESS.get_or_init(|| limiter);
    for limit in [20, 21, 22] {
        assert_eq!(window(limiter, &clock), limit);
    }
    limiter.set_law(Restless(50)).unwrap();
    assert_eq!(window(limiter, &clock), 50);
}

/// As many windows as were judged, by whichever law: the state must know them all.
static JUDGED: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy, Debug)]
struct Counted(u32);

impl Law for Counted {
    type State = [u32; 1];

    fn on_window(&self, [windows]: &mut [u32; 1], _: &Window) -> Decision {
        *windows += 1;
        assert_eq!(
            *windows,
            JUDGED.fetch_add(1, Ordering::Relaxed) + 1,
            "learned"
        );
        Decision::new(self.0 + (*windows & 1), Reason::Grew)
    }
}

#[test]
fn laws_that_are_set_while_windows_close_lose_no_window_and_the_last_one_stays() {
    let limiter = Limiter::try_new(config(Counted(4)).initial(4)).unwrap();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..5_000 {
                    limiter.acquire().unwrap().finish(Outcome::Success);
                }
            });
        }
        for law in (0..2_000).map(|round| Counted(4 + round % 5)) {
            limiter.set_law(law).unwrap();
        }
    });
    limiter.set_law(Counted(50)).unwrap();
    while limiter.snapshot().limit < 50 {
        limiter.acquire().unwrap().finish(Outcome::Success);
    }
    assert_eq!(limiter.snapshot().inflight, 0);
    assert!(JUDGED.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_configuration_brings_its_law_to_a_limiter_that_watches_and_to_all_keys_now_and_later() {
    let (watching, clock) = limiter(config(stepping(2)).watch_only(true));
    watching
        .reconfigure(&config(stepping(3)).watch_only(true))
        .unwrap();
    assert_eq!(window(&watching, &clock), 3);

    let clock = ManualClock::new();
    let table = Keyed::with_clock(config(stepping(2)), 8, clock.clone()).unwrap();
    let learned = |key: u32| window(&table.get(key).unwrap(), &clock);
    assert_eq!(learned(1), 2);
    assert!(table.reconfigure(&config(stepping(0))).is_err());
    assert_eq!((learned(1), learned(2)), (4, 2));
    table.reconfigure(&config(stepping(5))).unwrap();
    assert_eq!((learned(1), learned(2), learned(3)), (15, 10, 5));
}

#[test]
fn the_limit_of_a_dependency_follows_its_new_law() {
    let clock = ManualClock::new();
    let made = DependencyConfig::new(config(stepping(2)));
    let store = Dependency::with_clock(made, clock.clone(), 7).unwrap();
    let called = || {
        let answer = store.call(
            CallOptions::new(),
            |_| Ending::success(),
            |_| {
                clock.advance(2 * SECOND);
                Ok::<_, ()>(())
            },
        );
        answer.expect("it answers");
        store.snapshot().limiter.limit
    };
    assert_eq!(called(), 2);
    store.set_law(stepping(7)).unwrap();
    assert_eq!(called(), 14);
    assert!(store.set_law(stepping(0)).is_err());
    store
        .reconfigure(&DependencyConfig::new(config(stepping(9)).min(20)))
        .expect("where it starts, at 10, says nothing any more");
    assert_eq!(store.snapshot().limiter.limit, 20);
    assert_eq!(called(), 27);
}
