//! The limiter of a file: a law with its parameters, and the configuration around it.

use super::{FileError, allowed, wrong};
use crate::lab::laws::Contestant;
use limiter_core::law::{Aimd, AnyLaw, Fixed, Gradient, Knee, Vegas};
use limiter_core::{Config, ConfigError, TickRate};
use serde::Deserialize;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;

type Number = Option<Spanned<u32>>;

/// All that a limiter is built from; what is not said is the default.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Limiter {
    #[serde(default)]
    law: LawTable,
    initial: Number,
    min: Number,
    max: Number,
    shortest_window_ms: Number,
    longest_window_ms: Number,
    min_samples: Number,
    tolerance_per_mille: Number,
    urgent_overloads: Number,
}

/// A table named after the law.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LawTable {
    Fixed {},
    Aimd(AimdTable),
    Vegas(VegasTable),
    Gradient(GradientTable),
    Knee(KneeTable),
}

impl Default for LawTable {
    fn default() -> Self {
        Self::Knee(KneeTable::default())
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct AimdTable {
    increase: Number,
    keep_per_mille: Number,
    without_ramp: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct VegasTable {
    alpha: Number,
    beta: Number,
    keep_per_mille: Number,
    without_ramp: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct GradientTable {
    tolerance_per_mille: Number,
    max_rtt_ms: Number,
    keep_per_mille: Number,
    without_ramp: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct KneeTable {
    target_per_mille: Number,
    spread_per_mille: Number,
}

pub(super) fn contestant(
    name: &str,
    limiter: Spanned<Limiter>,
    text: &str,
) -> Result<Contestant, FileError> {
    let place = limiter.span();
    let limiter = limiter.into_inner();
    let mut config = Config::new(limiter.law.law(text)?, TickRate::NANOS);
    let ms = |number: u32| Duration::from_millis(number.into());
    let windows = (&limiter.shortest_window_ms, &limiter.longest_window_ms);
    if windows.0.is_some() || windows.1.is_some() {
        config = config.windows(ms(value(windows.0, 10)), ms(value(windows.1, 1_000)));
    }
    config = config
        .initial(value(&limiter.initial, 20))
        .min(value(&limiter.min, 1))
        .max(value(&limiter.max, 1_000));
    if let Some(samples) = &limiter.min_samples {
        config = config.min_samples(*samples.as_ref());
    }
    if let Some(share) = &limiter.tolerance_per_mille {
        config = config.overload_tolerance(*share.as_ref());
    }
    if let Some(count) = &limiter.urgent_overloads {
        config = config.urgent_overloads(*count.as_ref());
    }
    Contestant::shipped(name, config)
        .map_err(|error| wrong(text, &limiter.place(&error, place), full(&error)))
}

/// With the core's name: a bound of one field may be the value of another.
fn full(error: &ConfigError) -> String {
    error.to_string()
}

fn value(number: &Number, usual: u32) -> u32 {
    number.as_ref().map_or(usual, |number| *number.as_ref())
}

impl Limiter {
    /// Where the field is that the core complains about, or the whole table.
    fn place(&self, error: &ConfigError, table: Range<usize>) -> Range<usize> {
        let number = match error.field() {
            "initial" => &self.initial,
            "min" => &self.min,
            "max" => &self.max,
            "windows.shortest in ns" => &self.shortest_window_ms,
            "windows.longest in ns" => &self.longest_window_ms,
            "min_samples" => &self.min_samples,
            "overload_tolerance" => &self.tolerance_per_mille,
            "urgent_overloads" => &self.urgent_overloads,
            _ => &None,
        };
        number.as_ref().map_or(table, Spanned::span)
    }
}

/// `set` with the number, if there is one.
fn with<T>(
    law: T,
    number: &Number,
    text: &str,
    set: impl FnOnce(T, u32) -> Result<T, ConfigError>,
) -> Result<T, FileError> {
    match number {
        None => Ok(law),
        Some(number) => {
            set(law, *number.as_ref()).map_err(|error| wrong(text, &number.span(), allowed(&error)))
        }
    }
}

impl LawTable {
    fn law(&self, text: &str) -> Result<AnyLaw, FileError> {
        Ok(match self {
            Self::Fixed {} => AnyLaw::Fixed(Fixed),
            Self::Aimd(table) => {
                let law = with(Aimd::new(), &table.increase, text, Aimd::increase)?;
                let law = with(law, &table.keep_per_mille, text, Aimd::keep)?;
                AnyLaw::Aimd(if table.without_ramp {
                    law.without_ramp()
                } else {
                    law
                })
            }
            Self::Vegas(table) => {
                let (alpha, beta) = (value(&table.alpha, 3), value(&table.beta, 6));
                let law = Vegas::new().queue(alpha, beta).map_err(|error| {
                    let numbers = match error.field() {
                        "vegas.queue.beta" => [&table.beta, &table.alpha],
                        _ => [&table.alpha, &table.beta],
                    };
                    let place = numbers.into_iter().flatten().next().map(Spanned::span);
                    wrong(text, &place.unwrap_or_default(), allowed(&error))
                })?;
                let law = with(law, &table.keep_per_mille, text, Vegas::keep)?;
                AnyLaw::Vegas(if table.without_ramp {
                    law.without_ramp()
                } else {
                    law
                })
            }
            Self::Gradient(table) => {
                let law = Gradient::new();
                let law = with(law, &table.tolerance_per_mille, text, Gradient::tolerance)?;
                let law = with(law, &table.max_rtt_ms, text, |law, ms| {
                    law.max_rtt(Duration::from_millis(ms.into()))
                })?;
                let law = with(law, &table.keep_per_mille, text, Gradient::keep)?;
                AnyLaw::Gradient(if table.without_ramp {
                    law.without_ramp()
                } else {
                    law
                })
            }
            Self::Knee(table) => {
                let law = with(Knee::new(), &table.target_per_mille, text, Knee::target)?;
                AnyLaw::Knee(with(law, &table.spread_per_mille, text, Knee::spread)?)
            }
        })
    }
}
