//! Settings that are right each by itself, and together would do nothing.

use limiter_std::file::{Format, Settings};

#[test]
fn what_could_never_come_to_be_is_refused_and_says_what_keeps_it() {
    for (text, said) in [
        (
            "[dependency]\ntotal = \"5s\"\ntimeout = \"6s\"",
            "dependency.timeout (line 3): got 6s, which never passes: dependency.total (line 2) is below it, 5s",
        ),
        (
            "[dependency.timeout_bounds]\nleast = \"11s\"\nmost = \"20s\"",
            "dependency.timeout_bounds.least (line 2): got 11s, which never passes: dependency.total is 10s unless it \
             is set",
        ),
        (
            "[dependency.breaker.slow_share]\nper_mille = 500\nlongest = \"11s\"",
            "dependency.breaker.slow_share.longest (line 3): got 11s, which never passes: dependency.total is 10s \
             unless it is set",
        ),
        (
            "[dependency.hedge]\ndelay = \"12s\"",
            "dependency.hedge.delay (line 2): got 12s, which never passes: dependency.total is 10s unless it is set",
        ),
        (
            "[dependency.hedge]\ndelay = \"2s\"",
            "dependency.hedge.delay (line 2): got 2s, which never passes: dependency.timeout is 2s unless it is set",
        ),
        (
            "[dependency]\nattempts = 1\n[dependency.hedge]",
            "dependency.hedge (line 3): none is ever sent: dependency.attempts (line 2) is too few for it, 1, and a \
             hedge is an attempt",
        ),
        (
            "[dependency]\ntotal = \"800ms\"",
            "dependency.total (line 2): got 800ms, but dependency.backoff.base is 1s unless it is set, so no attempt \
             would follow the first; shorten it, or write attempts = 1",
        ),
        (
            "[dependency]\ntotal = \"2s\"\n[dependency.backoff]\nbase = \"2s\"",
            "dependency.backoff.base (line 4): got 2s, but a call is over after 2s, so no attempt would follow the \
             first; shorten it, or write attempts = 1",
        ),
        (
            "[dependency.budget]\nfloor_milli = 20000",
            "dependency.budget.floor_milli (line 2): got 20000, allowed 1 to 10000: dependency.budget.capacity_milli \
             is 10000 unless it is set",
        ),
        (
            "[limiter.windows]\nshortest = \"0s\"",
            "limiter.windows.shortest (line 2): got 0s, allowed 1ns to 1s",
        ),
        (
            "[limiter.partitions.reads]\nlend_after = \"1s\"",
            "limiter.partitions.reads.lend_after (line 2): nothing is lent where nothing is guaranteed: write a \
             guarantee, or leave this out",
        ),
        (
            "[limiter]\nmax = 100\n[limiter.partitions.\"a.b\"]\nguarantee = 9",
            "limiter.partitions.a.b.guarantee (line 4): got 9, which is no slot ever: limiter.max (line 2) is not \
             enough for it, 100",
        ),
    ] {
        let error = Settings::parse(text, Format::Toml).expect_err(text);
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn what_is_off_for_a_while_or_was_not_written_is_no_mistake() {
    for text in [
        // Timeouts that nobody wrote end with the call.
        "[dependency]\ntotal = \"1500ms\"\n[dependency.hedge]\ndelay = \"50ms\"",
        "[dependency]\ntotal = \"800ms\"\nattempts = 1",
        "[dependency]\ntotal = \"800ms\"\n[dependency.backoff]\nbase = \"50ms\"",
        // The shortest delay of this draw is none.
        "[dependency]\ntotal = \"800ms\"\n[dependency.backoff]\njitter = \"full\"",
        "[dependency.timeout_bounds]\nmost = \"1h\"",
        "[dependency.throttle]\non = false\nmost = 500",
        "[dependency.budget]\nfloor_period = \"none\"\nfloor_milli = 20000",
        "[limiter.queue]\nlength = \"none\"\nlongest_wait = \"1s\"",
        "[limiter.partitions.reads]\nguarantee = 0\nlend_after = \"1s\"",
        "[limiter]\nmax = 100\n[limiter.partitions.reads]\nguarantee = 10",
    ] {
        assert_eq!(
            Settings::parse(text, Format::Toml).map(|_| ()),
            Ok(()),
            "{text}"
        );
    }
}
