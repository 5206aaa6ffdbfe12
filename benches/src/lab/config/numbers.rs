//! Numbers of a file that are checked while they are read, so that an error knows its place.

use crate::lab::random::Shape;
use serde::de::{Deserialize, Deserializer, Error};

fn checked<'de, D, T>(
    deserializer: D,
    allowed: &'static str,
    right: impl Fn(&T) -> bool,
) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + std::fmt::Display,
{
    let value = T::deserialize(deserializer)?;
    if right(&value) {
        Ok(Some(value))
    } else {
        Err(D::Error::custom(format!("{value}: allowed is {allowed}")))
    }
}

/// More than 0, and not more than 1e9.
pub(super) fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    checked(from, "more than 0, up to 1e9", |&x: &f64| {
        x > 0.0 && x <= 1e9
    })
}

/// 0 to 1e9.
pub(super) fn not_negative<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    checked(from, "0 to 1e9", |x: &f64| (0.0..=1e9).contains(x))
}

/// 0 to 1.
pub(super) fn share<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    checked(from, "0 to 1", |x: &f64| (0.0..=1.0).contains(x))
}

/// 1 to a million.
pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    checked(from, "1 to 1000000", |x: &u32| (1..=1_000_000).contains(x))
}

/// 1 to 10,000.
pub(super) fn callers<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    checked(from, "1 to 10000", |x: &u32| (1..=10_000).contains(x))
}

/// A shape whose numbers make sense.
pub(super) fn shape<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Shape>, D::Error> {
    let shape = Shape::deserialize(from)?;
    let (sigma, slow_share, slower) = match shape {
        Shape::Exact | Shape::Exponential => (0.0, 0.0, 1.0),
        Shape::LogNormal { sigma } => (sigma, 0.0, 1.0),
        Shape::Mix {
            slow_share,
            slower,
            sigma,
        } => (sigma, slow_share, slower),
    };
    let right = (0.0..=4.0).contains(&sigma)
        && (0.0..=1.0).contains(&slow_share)
        && (1.0..=1e6).contains(&slower);
    right.then_some(Some(shape)).ok_or_else(|| {
        D::Error::custom("allowed is a sigma of 0 to 4, a slow-share of 0 to 1, slower 1 to 1e6")
    })
}
