//! Parameters: what their builders accept.

use limiter_core::ConfigError;
use limiter_core::law::{Aimd, Gradient, Knee, Vegas};
use std::time::Duration;

#[test]
fn a_parameter_out_of_range_is_an_error_with_its_name() {
    #[track_caller]
    fn check<T>(built: Result<T, ConfigError>, expect: Option<&str>) {
        assert_eq!(built.err().map(|error| error.field()), expect);
    }
    for (value, ok) in [(0, false), (1, true), (999, true), (1_000, false)] {
        let named = |name| (!ok).then_some(name);
        check(Aimd::new().keep(value), named("aimd.keep"));
        check(Vegas::new().keep(value), named("vegas.keep"));
        check(Gradient::new().keep(value), named("gradient.keep"));
    }
    for (value, ok) in [(0, false), (1, true), (1_000, true), (1_001, false)] {
        check(
            Aimd::new().increase(value),
            (!ok).then_some("aimd.increase"),
        );
    }
    check(Vegas::new().queue(0, 6), Some("vegas.queue.alpha"));
    check(Vegas::new().queue(6, 6), None);
    check(Vegas::new().queue(7, 6), Some("vegas.queue.alpha"));
    check(Vegas::new().queue(1_000, 1_000), None);
    check(Vegas::new().queue(3, 1_001), Some("vegas.queue.beta"));
    for (value, ok) in [(999, false), (1_000, true), (3_000, true), (3_001, false)] {
        check(
            Gradient::new().tolerance(value),
            (!ok).then_some("gradient.tolerance"),
        );
    }
    for (rtt, ok) in [
        (Duration::ZERO, false),
        (Duration::from_nanos(999), false),
        (Duration::from_micros(1), true),
        (Duration::from_secs(3_600), true),
        (Duration::from_micros(3_600_000_001), false),
        (Duration::MAX, false),
    ] {
        check(
            Gradient::new().max_rtt(rtt),
            (!ok).then_some("gradient.max_rtt in us"),
        );
    }
    for (value, ok) in [(9, false), (10, true), (900, true), (901, false)] {
        check(Knee::new().target(value), (!ok).then_some("knee.target"));
    }
    for (value, ok) in [(19, false), (20, true), (300, true), (301, false)] {
        check(Knee::new().spread(value), (!ok).then_some("knee.spread"));
    }
}
