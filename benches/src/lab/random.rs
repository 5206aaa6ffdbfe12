//! Random numbers: one stream for arrivals, and a little generator of its own for each request.
//!
//! What a request draws depends on the seed and its place in the arrival stream alone, never on what a
//! limiter did before it, so all laws and the oracle meet the same requests.

use rand_distr::{Distribution, Exp1, StandardNormal};
pub use rand_pcg::Pcg64Mcg as Random;
use serde::Deserialize;

/// A generator for a purpose of a run.
pub fn stream(seed: u64, purpose: u64) -> Random {
    Random::new(mix(seed, purpose))
}

/// The generator of the request that the arrival stream gave `mark`, for one of its `purpose`s.
pub fn of_request(mark: u64, purpose: u64) -> Random {
    Random::new(mix(mark, purpose))
}

/// Which of `count` callers a request is of, by its mark.
pub fn pick(mark: u64, count: usize) -> usize {
    ((u128::from(mark) * count as u128) >> 64) as usize
}

/// Spreads two numbers over 128 bits by odd multipliers (those of the PCG reference and SplitMix64).
fn mix(a: u64, b: u64) -> u128 {
    let a = u128::from(a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let spread = a.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
    spread ^ (spread >> 61)
}

/// A uniform number in [0, 1).
pub fn uniform(random: &mut Random) -> f64 {
    use rand_distr::uniform::{UniformFloat, UniformSampler};
    UniformFloat::<f64>::sample_single(0.0, 1.0, random).unwrap_or(0.0)
}

/// An exponential number with mean 1.
pub fn exponential(random: &mut Random) -> f64 {
    Exp1.sample(random)
}

/// How a time is spread around its mean.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(
    rename_all = "kebab-case",
    rename_all_fields = "kebab-case",
    deny_unknown_fields
)]
pub enum Shape {
    /// Always the mean.
    Exact,
    /// Exponential.
    Exponential,
    /// Log-normal; `sigma` is the standard deviation of the logarithm.
    LogNormal {
        /// 0.5 is an ordinary service, 1.8 a heavy tail.
        sigma: f64,
    },
    /// Two kinds of requests, each log-normal.
    Mix {
        /// The share of the slow ones.
        slow_share: f64,
        /// How many times longer they take.
        slower: f64,
        /// The spread of either kind.
        sigma: f64,
    },
}

impl Shape {
    /// A draw with mean 1.
    pub fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Exact => 1.0,
            Self::Exponential => exponential(random),
            Self::LogNormal { sigma } => log_normal(random, sigma),
            Self::Mix {
                slow_share,
                slower,
                sigma,
            } => {
                let fast = 1.0 / (1.0 - slow_share + slow_share * slower);
                let factor = if uniform(random) < slow_share {
                    slower
                } else {
                    1.0
                };
                fast * factor * log_normal(random, sigma)
            }
        }
    }
}

fn log_normal(random: &mut Random, sigma: f64) -> f64 {
    let normal: f64 = StandardNormal.sample(random);
    (sigma * normal - sigma * sigma / 2.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_has_mean_one() {
        let shapes = [
            Shape::Exact,
            Shape::Exponential,
            Shape::LogNormal { sigma: 0.5 },
            Shape::Mix {
                slow_share: 0.1,
                slower: 40.0,
                sigma: 0.3,
            },
        ];
        for shape in shapes {
            let draws = 200_000;
            let sum: f64 = (0..draws)
                .map(|mark| shape.draw(&mut of_request(mark, 1)))
                .sum();
            let mean = sum / draws as f64;
            // The widest has a standard deviation of 2.5: 0.02 is three and a half standard errors.
            assert!((mean - 1.0).abs() < 0.02, "{shape:?} has mean {mean}");
        }
    }

    #[test]
    fn requests_with_neighbouring_marks_draw_unrelated_numbers() {
        let (mut product, mut squares) = (0.0, 0.0);
        let draws = 100_000;
        for mark in 0..draws {
            let here = uniform(&mut of_request(mark, 0)) - 0.5;
            let next = uniform(&mut of_request(mark + 1, 0)) - 0.5;
            product += here * next;
            squares += here * here;
        }
        let correlation: f64 = product / squares;
        assert!(correlation.abs() < 0.015, "correlation {correlation}");
        assert!((squares / draws as f64 - 1.0 / 12.0).abs() < 0.002);
    }
}
