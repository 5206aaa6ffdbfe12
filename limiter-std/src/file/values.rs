//! Values as people write them: times with their unit, and `"none"` where there may be no such thing.

use core::fmt;
use core::time::Duration;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// A length of time: `"250ms"`, `"1m 30s"`.
pub(super) fn time<'de, D: Deserializer<'de>>(reader: D) -> Result<Duration, D::Error> {
    reader.deserialize_str(Time { or_none: false })
}

/// The same, or `"none"`.
pub(super) fn time_or_none<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<Duration>, D::Error> {
    reader.deserialize_str(OrNone(Time { or_none: true }))
}

/// A number, or `"none"`.
pub(super) fn number_or_none<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<u32>, D::Error> {
    reader.deserialize_any(OrNone(Number))
}

struct Time {
    /// Whether it is told that there may be none.
    or_none: bool,
}

impl Visitor<'_> for Time {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"250ms\" or \"1m 30s\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        humantime::parse_duration(text).map_err(|error| match error {
            humantime::DurationError::NumberOverflow => {
                E::custom(format_args!("{text:?} is too long a time"))
            }
            // What the parser says is about characters and their places; what to write says more.
            _ => {
                let or_none = if self.or_none { ", or \"none\"" } else { "" };
                let such = "write one such as \"250ms\" or \"1m 30s\"";
                E::custom(format_args!("{text:?} is no time; {such}{or_none}"))
            }
        })
    }
}

/// Also asked for words, which it has none of.
struct Number;

impl Visitor<'_> for Number {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u32, E> {
        let expected = "a number, or \"none\"";
        Err(E::invalid_type(Unexpected::Str(text), &expected))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        let wrong = |_| E::custom(format_args!("{number} is too large"));
        u32::try_from(number).map_err(wrong)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        let wrong = |_| E::custom(format_args!("{number} is below 0"));
        u64::try_from(number)
            .map_err(wrong)
            .and_then(|number| self.visit_u64(number))
    }
}

struct OrNone<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for OrNone<V> {
    type Value = Option<V::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)?;
        f.write_str(", or \"none\"")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == "none" {
            return Ok(None);
        }
        self.0.visit_str(text).map(Some)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.0.visit_u64(number).map(Some)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.0.visit_i64(number).map(Some)
    }
}
