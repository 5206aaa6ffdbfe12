//! Settings that are right each by itself, and together do nothing: certainly not what was meant.
//!
//! Only what is written is told of. What nobody wrote, or what is off for a while (a throttle, a queue) with its
//! other settings left in the file, is none of this.

use super::error::Mistake;
use super::source::Source;
use super::told::{because, in_line, time, value};
use super::{Draw, Settings};
use core::time::Duration;
use limiter_core::ConfigError;

/// A section of a law that is not the chosen one.
pub(super) fn of_laws(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let chosen = settings.limiter.law.name();
    let Some(other) = settings.limiter.terms().idle().next() else {
        return Ok(());
    };
    let law = match source.at("limiter.law") {
        Some(written) => format!("limiter.law{} is {chosen}", in_line(Some(written))),
        None => format!("limiter.law is {chosen} unless it is set"),
    };
    let why = format!(
        "{law}, so this section would do nothing: leave it out, or write law = \"{other}\""
    );
    let path = format!("limiter.{other}");
    Err(Mistake::field(source, &path, why).about(["limiter.law"]))
}

/// What a server's limiter has and a dependency's has not, where the file has a section of a dependency.
pub(super) fn of_the_owner(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    match source.at("dependency") {
        Some(_) => of_a_dependency(settings, source),
        None => Ok(()),
    }
}

/// The same, where it is known that a dependency is meant.
pub(super) fn of_a_dependency(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let or = source.at("dependency").map_or(String::new(), |written| {
        let line = written.line;
        format!(", or the section dependency (line {line}) where this is for a server")
    });
    let wrong = |path: &str, why: &str| {
        let why = format!("{why}; leave it out{or}");
        Err(Mistake::field(source, path, why).about(["dependency"]))
    };
    if !settings.limiter.partitions.is_empty() {
        return wrong(
            "limiter.partitions",
            "the limiter of a dependency has no partitions",
        );
    }
    if settings.limiter.watch_only {
        return wrong(
            "limiter.watch_only",
            "a dependency cannot only watch: its breaker and its budget would go on refusing",
        );
    }
    Ok(())
}

/// Values that rule each other out.
pub(super) fn of_values(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    partitions(settings, source)?;
    times(settings, source)?;
    retries(settings, source)?;
    hedges(settings, source)
}

/// A window of no time would end with its first samples, whatever they are.
pub(super) fn of_windows(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let windows = settings.limiter.windows;
    if windows.longest.is_zero() {
        // Which is told by itself.
        return Ok(());
    }
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (shortest, longest) = (nanos(windows.shortest), nanos(windows.longest));
    ConfigError::check("windows.shortest in ns", shortest, 1, longest)
        .map_err(|error| value(source, "limiter", &error))
}

fn partitions(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let max = settings.limiter.max;
    for (name, share) in &settings.limiter.partitions {
        let path = |field: &str| ["limiter", "partitions", name, field].map(str::to_owned);
        let guarantee = u32::from(share.guarantee);
        if guarantee == 0
            && share.lend_after.is_some()
            && source.at_names(&path("guarantee")).is_none()
        {
            let why =
                "nothing is lent where nothing is guaranteed: write a guarantee, or leave this out";
            return Err(Mistake::at(source, path("lend_after").into(), why));
        }
        if guarantee != 0 && u64::from(guarantee) * u64::from(max) < 1_000 {
            let of = because(source, "limiter.max", "not enough for", &max.to_string());
            let why = format!("got {guarantee}, which is no slot ever: {of}");
            return Err(Mistake::at(source, path("guarantee").into(), why).about(["limiter.max"]));
        }
    }
    Ok(())
}

/// What takes longer than a call may never comes to be.
fn times(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let dependency = &settings.dependency;
    let total = dependency.total;
    let slow = dependency.breaker.slow_share;
    let times = [
        ("dependency.timeout", Some(dependency.timeout)),
        (
            "dependency.timeout_bounds.least",
            Some(dependency.timeout_bounds.least),
        ),
        (
            "dependency.hedge.delay",
            dependency.hedge.map(|hedge| hedge.delay),
        ),
        (
            "dependency.breaker.slow_share.longest",
            slow.map(|slow| slow.longest),
        ),
    ];
    for (path, length) in times {
        if let Some(length) = length.filter(|length| *length > total) {
            longer(source, path, length, ("dependency.total", total))?;
        }
    }
    Ok(())
}

/// Where it is written, it is longer than what ends everything.
fn longer(
    source: &Source,
    path: &str,
    length: Duration,
    (end, after): (&'static str, Duration),
) -> Result<(), Mistake> {
    if source.at(path).is_none() {
        return Ok(());
    }
    let (length, after) = (time(length), time(after));
    let over = because(source, end, "below", &after);
    let why = format!("got {length}, which never passes: {over}");
    Err(Mistake::field(source, path, why).about([end]))
}

/// Retries that never leave, and a floor that does not fit into its budget.
fn retries(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let dependency = &settings.dependency;
    let (backoff, total) = (dependency.backoff, dependency.total);
    // The shortest delay of the other draw is none.
    let waits = backoff.jitter == Draw::Decorrelated && dependency.attempts > 1;
    let (base, end) = ("dependency.backoff.base", "dependency.total");
    if waits && backoff.base >= total {
        let none = "so no attempt would follow the first; shorten it, or write attempts = 1";
        let (length, total) = (time(backoff.base), time(total));
        if source.at(base).is_some() {
            let why = format!("got {length}, but a call is over after {total}, {none}");
            return Err(Mistake::field(source, base, why).about([end]));
        }
        let why = format!("got {total}, but {base} is {length} unless it is set, {none}");
        return Err(Mistake::field(source, end, why).about([base]));
    }
    let budget = dependency.budget;
    if budget.floor_period.is_some() {
        let (floor, capacity) = (budget.floor_milli.into(), budget.capacity_milli.into());
        let floor = ConfigError::check("budget.floor in thousandths", floor, 1, capacity);
        floor.map_err(|error| {
            let path = "dependency.budget.capacity_milli";
            let of = because(source, path, "below", &capacity.to_string());
            let why = format!("got {}, allowed 1 to {capacity}: {of}", error.value());
            Mistake::field(source, "dependency.budget.floor_milli", why).about([path])
        })?;
    }
    Ok(())
}

/// A hedge is an attempt, beside one that still runs.
fn hedges(settings: &Settings, source: &Source) -> Result<(), Mistake> {
    let dependency = &settings.dependency;
    let Some(hedge) = dependency.hedge else {
        return Ok(());
    };
    if dependency.attempts == 1 {
        let of = because(source, "dependency.attempts", "too few for", "1");
        let why = format!("none is ever sent: {of}, and a hedge is an attempt");
        let path = "dependency.hedge";
        return Err(Mistake::field(source, path, why).about(["dependency.attempts"]));
    }
    if hedge.delay >= dependency.timeout {
        let end = ("dependency.timeout", dependency.timeout);
        longer(source, "dependency.hedge.delay", hedge.delay, end)?;
    }
    Ok(())
}
