//! The default law with each parameter halved and doubled: does it depend on them?

use super::laws::Contestant;
use limiter_core::law::Knee;
use limiter_core::{Config, ConfigError, TickRate};
use std::time::Duration;

type Change = fn(Config<Knee>) -> Result<Config<Knee>, ConfigError>;

fn knee(law: Result<Knee, ConfigError>) -> Result<Config<Knee>, ConfigError> {
    Ok(Config::new(law?, TickRate::NANOS))
}

fn windows(shortest_ms: u64, longest_ms: u64) -> Config<Knee> {
    let ms = Duration::from_millis;
    Config::new(Knee::new(), TickRate::NANOS).windows(ms(shortest_ms), ms(longest_ms))
}

/// Name and change of each.
const VARIANTS: [(&str, Change); 14] = [
    ("as it is", Ok),
    ("target / 2", |_| knee(Knee::new().target(60))),
    ("target * 2", |_| knee(Knee::new().target(240))),
    ("spread / 2", |_| knee(Knee::new().spread(50))),
    ("spread * 2", |_| knee(Knee::new().spread(200))),
    ("initial / 2", |config| Ok(config.initial(5))),
    ("initial * 2", |config| Ok(config.initial(20))),
    ("samples / 2", |config| Ok(config.min_samples(5))),
    ("samples * 2", |config| Ok(config.min_samples(20))),
    ("windows / 2", |_| Ok(windows(5, 500))),
    ("windows * 2", |_| Ok(windows(20, 2_000))),
    ("all timed", |config| Ok(config.one_timed_of(1))),
    ("tolerance / 2", |config| Ok(config.overload_tolerance(10))),
    ("tolerance * 2", |config| Ok(config.overload_tolerance(40))),
];

/// Every variant as a law of the table; the first is the default.
///
/// # Errors
///
/// When a halved or doubled parameter is not allowed.
pub fn all() -> Result<Vec<Contestant>, ConfigError> {
    VARIANTS
        .iter()
        .map(|(name, change)| {
            let config = change(Config::new(Knee::new(), TickRate::NANOS))?;
            Contestant::shipped(name, config)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_may_be_halved_and_doubled() {
        let variants = all().expect("all are allowed");
        assert_eq!(variants.len(), VARIANTS.len());
    }
}
