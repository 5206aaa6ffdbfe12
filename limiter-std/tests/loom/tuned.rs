//! A law that is set while a window closes.

use crate::support::{Seen, assert_idle, check, with_law};
use core::time::Duration;
use limiter_std::law::{Decision, Law, Reason, Window};
use limiter_std::{Config, Outcome};
use loom::thread;

/// Says how many windows it has seen, plus ten times its kind.
#[derive(Clone, Copy, Debug)]
struct Kind(u32);

impl Law for Kind {
    type State = [u32; 1];

    fn on_window(&self, [windows]: &mut [u32; 1], _: &Window) -> Decision {
        *windows += 1;
        Decision::new(10 * self.0 + *windows, Reason::Grew)
    }

    fn goes_on_from(&self, before: &Self) -> bool {
        self.0 == before.0
    }
}

/// Catches: what a law of another kind learned taken for the new one's, or forgotten twice.
#[test]
fn a_law_of_another_kind_set_while_a_window_closes_begins_anew_once() {
    let (before, after) = (Seen::default(), Seen::default());
    let (by_old, by_new) = (before.clone(), after.clone());
    check("another law meets a window", move || {
        let config = Config::new(Kind(1))
            .initial(1)
            .min_samples(1)
            .windows(Duration::ZERO, Duration::from_secs(1));
        let limiter = with_law(config);
        let window = |limiter: &crate::support::Modelled<Kind>| {
            let permit = limiter.try_acquire().expect("nothing else is in flight");
            permit.finish(Outcome::Success);
            limiter.snapshot().limit
        };
        assert_eq!(window(&limiter), 11);
        let closer = {
            let limiter = limiter.clone();
            thread::spawn(move || window(&limiter))
        };
        limiter.set_law(Kind(2)).expect("it works");
        let next = match closer.join().expect("no panic") {
            12 => {
                by_old.once();
                21
            }
            21 => {
                by_new.once();
                22
            }
            limit => panic!("a limit of {limit}"),
        };
        assert_eq!(window(&limiter), next);
        assert_idle(&limiter, next);
    });
    before.assert_some("closed the window before the law was set");
    after.assert_some("closed the window after the law was set");
}
