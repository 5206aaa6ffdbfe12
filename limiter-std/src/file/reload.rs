//! Going by another text while running.

use super::error::{FileError, Mistake};
use super::source::{Names, Source, names};
use super::{Format, Settings, check, sense, told};
use crate::clock::Clock;
use crate::{Dependency, Limiter, PartitionError};
use limiter_core::law::AnyLaw;

impl Settings {
    /// Goes by another text from now on, and so does `limiter`, which keeps what it learned.
    ///
    /// Bounds, shares, queue, guarantees and watching change at once, and the law as by
    /// [`Limiter::set_law`]; the limit is moved into the bounds, and set by hand where another `initial` is
    /// written.
    ///
    /// # Errors
    ///
    /// As [`parse`](Settings::parse); every field that changes at a restart only, and every partition that `limiter`
    /// has not, or that is left out; a file that says nothing, which may be one that is being written; a limiter that
    /// was closed, for that is for good. Nothing changes then, neither here nor in `limiter`.
    pub fn reload_limiter<C: Clock>(
        &mut self,
        text: &str,
        format: Format,
        limiter: &Limiter<AnyLaw, C>,
    ) -> Result<(), FileError> {
        let source = written(text, format)?;
        let next = check::settings(&source)?;
        let mut wrong = self.fixed(&next, &source);
        let strange = next.limiter.partitions.keys();
        let strange = strange.filter(|name| limiter.partition(name).is_err());
        for name in strange {
            let path = partition(name);
            if wrong.iter().all(|mistake| mistake.names() != path) {
                let why = "the limiter has no such partition: names change at a restart only";
                wrong.push(Mistake::at(&source, path, why));
            }
        }
        FileError::of(wrong)?;
        open("limiter", limiter.is_closed())?;
        let said = |error| FileError::from(told::value(&source, "limiter", &error));
        let config = next.limiter_config()?;
        // It checks everything before it changes anything; what comes after it was checked above.
        limiter.reconfigure(&config).map_err(said)?;
        limiter
            .set_partitions(&next.partitions())
            .map_err(|error| match error {
                PartitionError::Config(error) => said(error),
                PartitionError::Unknown(error) => {
                    Mistake::field(&source, "limiter.partitions", error.to_string()).into()
                }
            })?;
        if let Some(limit) = self.set_by_hand(&next) {
            limiter.set_limit(limit).map_err(said)?;
        }
        *self = next;
        Ok(())
    }

    /// Goes by another text from now on, and so does `dependency`, which keeps what it learned: as
    /// [`reload_limiter`](Settings::reload_limiter), and the budget, which stays equally full. Attempts, times,
    /// back-off, breaker and throttle change at a restart only.
    ///
    /// # Errors
    ///
    /// As [`reload_limiter`](Settings::reload_limiter), and what a dependency's limiter [has
    /// not](Settings::dependency).
    pub fn reload_dependency<C: Clock>(
        &mut self,
        text: &str,
        format: Format,
        dependency: &Dependency<AnyLaw, C>,
    ) -> Result<(), FileError> {
        let source = written(text, format)?;
        let next = check::settings(&source)?;
        sense::of_a_dependency(&next, &source)?;
        FileError::of(self.fixed(&next, &source))?;
        open("dependency", dependency.snapshot().limiter.closed)?;
        let said = |error| FileError::from(told::value(&source, "limiter", &error));
        let config = next.dependency_config()?;
        dependency.reconfigure(&config).map_err(said)?;
        if let Some(limit) = self.set_by_hand(&next) {
            dependency.set_limit(limit).map_err(said)?;
        }
        *self = next;
        Ok(())
    }

    /// The limit that is written in the next settings and was not in these.
    fn set_by_hand(&self, next: &Self) -> Option<u32> {
        let initial = next.limiter.initial;
        initial.filter(|_| initial != self.limiter.initial)
    }

    /// Where the next settings differ from these and cannot while running.
    fn fixed(&self, next: &Self, source: &Source) -> Vec<Mistake> {
        let paths = changed(self, next).into_iter();
        let mut wrong: Vec<_> = paths
            .map(|path| Mistake::field(source, path, "changes at a restart only"))
            .collect();
        let (old, new) = (&self.limiter.partitions, &next.limiter.partitions);
        for name in new.keys().filter(|name| !old.contains_key(*name)) {
            let there: Vec<_> = old.keys().map(String::as_str).collect();
            let why = match there.is_empty() {
                true => "there are no partitions: they change at a restart only".to_owned(),
                false => format!(
                    "there are only {}: names change at a restart only",
                    there.join(", ")
                ),
            };
            wrong.push(Mistake::at(source, partition(name), why));
        }
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            let why = "is left out, and there is this partition: names change at a restart only";
            wrong.push(Mistake::at(source, partition(name), why));
        }
        wrong
    }
}

/// A text that says something.
fn written(text: &str, format: Format) -> Result<Source, FileError> {
    let nothing = || {
        let defaults = match format {
            Format::Toml => "`[limiter]`",
            Format::Json => "`{}`",
        };
        let why = format!(
            "the file says nothing, so it may be one that is just being written: write another file and rename it \
             over this one, or write {defaults} where all defaults are meant"
        );
        FileError::from(Mistake::new(Names::new(), None, why))
    };
    if text.trim().is_empty() {
        return Err(nothing());
    }
    let source = Source::new(text, format)?;
    if source.says_nothing() {
        return Err(nothing());
    }
    Ok(source)
}

/// What was closed does not open again, whatever is set.
fn open(what: &str, closed: bool) -> Result<(), FileError> {
    if closed {
        let why = format!("the {what} was closed, for good: nothing can change it any more");
        return Err(Mistake::new(Names::new(), None, why).into());
    }
    Ok(())
}

fn partition(name: &str) -> Names {
    let mut path = names("limiter.partitions");
    path.push(name.to_owned());
    path
}

/// The fields that differ and change at a restart only, by their paths.
fn changed(old: &Settings, new: &Settings) -> Vec<&'static str> {
    macro_rules! differ {
        ($($section:literal: $old:expr, $new:expr; $($field:ident)*;)*) => {
            [$($((
                concat!($section, ".", stringify!($field)),
                $old.$field != $new.$field,
            ),)*)*]
        };
    }
    let (was, is) = (&old.limiter, &new.limiter);
    let (before, after) = (&old.dependency, &new.dependency);
    let always = differ! {
        "limiter": was, is; min_samples overload_tolerance urgent_overloads;
        "limiter.windows": was.windows, is.windows; shortest longest;
        "dependency": before, after; attempts total timeout retry_cost_milli timeout_cost_milli
            pushback_cost_milli waiting;
        "dependency.timeout_bounds": before.timeout_bounds, after.timeout_bounds; least most;
        "dependency.timeout_quantile": before.timeout_quantile, after.timeout_quantile;
            per_mille margin samples;
        "dependency.backoff": before.backoff, after.backoff; jitter base cap most_hinted;
        "dependency.breaker": before.breaker, after.breaker; consecutive failure_share volume window probes
            probe_time;
        "dependency.breaker.open": before.breaker.open, after.breaker.open; first most;
        "dependency.throttle": before.throttle, after.throttle; on window slack_q8 protect most;
    };
    let mut all = always.to_vec();
    // Sections that there may not be.
    match (before.hedge, after.hedge) {
        (Some(before), Some(after)) => {
            all.extend(differ! { "dependency.hedge": before, after; per_mille delay; });
        }
        (before, after) => all.push(("dependency.hedge", before != after)),
    }
    match (before.breaker.slow_share, after.breaker.slow_share) {
        (Some(before), Some(after)) => {
            let of = differ! { "dependency.breaker.slow_share": before, after; per_mille longest; };
            all.extend(of);
        }
        (before, after) => all.push(("dependency.breaker.slow_share", before != after)),
    }
    let all = all.into_iter().filter(|(_, changed)| *changed);
    all.map(|(path, _)| path).collect()
}
