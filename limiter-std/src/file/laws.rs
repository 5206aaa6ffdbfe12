//! The laws and their parameters.

use super::values::time_or_none;
use core::time::Duration;
use limiter_core::ConfigError;
use limiter_core::law::AnyLaw;
use limiter_core::law::{Aimd, Fixed, Gradient, Knee, Vegas};
use serde::Deserialize;

/// The shipped laws, with the parameters of their authors unless there is a section of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The limit stays.
    Fixed,
    /// Additive increase, multiplicative decrease.
    Aimd,
    /// By an estimate of the queue.
    Vegas,
    /// By the ratio of RTTs.
    Gradient,
    /// By the elasticity of throughput.
    Knee,
}

impl Law {
    /// As a file names it, and the section of its parameters.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Aimd => "aimd",
            Self::Vegas => "vegas",
            Self::Gradient => "gradient",
            Self::Knee => "knee",
        }
    }
}

/// `[limiter.fixed]`, which has no parameters: beside `law = "fixed"` it may be left out as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
#[non_exhaustive]
pub struct FixedTerms {}

/// `[limiter.knee]`: the parameters of [`Knee`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct KneeTerms {
    /// The elasticity at which the limit rests, per mille.
    pub target: Option<u32>,
    /// How far the two limits are from the middle, per mille.
    pub spread: Option<u32>,
}

/// `[limiter.aimd]`: the parameters of [`Aimd`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct AimdTerms {
    /// Slots added per round trip.
    pub increase: Option<u32>,
    /// What is kept of the limit after overload, per mille.
    pub keep: Option<u32>,
    /// Whether it doubles at the start.
    pub ramp: Option<bool>,
}

/// `[limiter.vegas]`: the parameters of [`Vegas`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct VegasTerms {
    /// Grows below so many waiting requests.
    pub alpha: Option<u32>,
    /// Shrinks above so many.
    pub beta: Option<u32>,
    /// What is kept of the limit after overload, per mille.
    pub keep: Option<u32>,
    /// Whether it doubles at the start.
    pub ramp: Option<bool>,
}

/// `[limiter.gradient]`: the parameters of [`Gradient`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a section")]
pub struct GradientTerms {
    /// The RTT that is no congestion yet, in thousandths of the baseline.
    pub tolerance: Option<u32>,
    /// The largest mean RTT that is healthy.
    #[serde(deserialize_with = "time_or_none")]
    pub max_rtt: Option<Duration>,
    /// What is kept of the limit after overload, per mille.
    pub keep: Option<u32>,
    /// Whether it doubles at the start.
    pub ramp: Option<bool>,
}

/// The parameters of all laws; only those of the chosen one may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) law: Law,
    pub(super) fixed: Option<FixedTerms>,
    pub(super) knee: Option<KneeTerms>,
    pub(super) aimd: Option<AimdTerms>,
    pub(super) vegas: Option<VegasTerms>,
    pub(super) gradient: Option<GradientTerms>,
}

impl Terms {
    /// The sections of laws that are not the chosen one.
    pub(super) fn idle(&self) -> impl Iterator<Item = &'static str> {
        let sections = [
            (Law::Fixed, self.fixed.is_some()),
            (Law::Knee, self.knee.is_some()),
            (Law::Aimd, self.aimd.is_some()),
            (Law::Vegas, self.vegas.is_some()),
            (Law::Gradient, self.gradient.is_some()),
        ];
        let chosen = self.law;
        let idle = sections
            .into_iter()
            .filter(move |(law, given)| *given && *law != chosen);
        idle.map(|(law, _)| law.name())
    }

    pub(super) fn law(&self) -> Result<AnyLaw, ConfigError> {
        Ok(match self.law {
            Law::Fixed => AnyLaw::Fixed(Fixed),
            Law::Knee => AnyLaw::Knee(knee(self.knee.unwrap_or_default())?),
            Law::Aimd => AnyLaw::Aimd(aimd(self.aimd.unwrap_or_default())?),
            Law::Vegas => AnyLaw::Vegas(vegas(self.vegas.unwrap_or_default())?),
            Law::Gradient => AnyLaw::Gradient(gradient(self.gradient.unwrap_or_default())?),
        })
    }
}

fn knee(terms: KneeTerms) -> Result<Knee, ConfigError> {
    let law = terms
        .target
        .map_or(Ok(Knee::new()), |target| Knee::new().target(target))?;
    terms.spread.map_or(Ok(law), |spread| law.spread(spread))
}

fn aimd(terms: AimdTerms) -> Result<Aimd, ConfigError> {
    let law = match terms.ramp {
        Some(false) => Aimd::new().without_ramp(),
        _ => Aimd::new(),
    };
    let law = terms
        .increase
        .map_or(Ok(law), |slots| law.increase(slots))?;
    terms.keep.map_or(Ok(law), |keep| law.keep(keep))
}

fn vegas(terms: VegasTerms) -> Result<Vegas, ConfigError> {
    let law = match terms.ramp {
        Some(false) => Vegas::new().without_ramp(),
        _ => Vegas::new(),
    };
    let (alpha, beta) = (terms.alpha.unwrap_or(3), terms.beta.unwrap_or(6));
    let law = law.queue(alpha, beta)?;
    terms.keep.map_or(Ok(law), |keep| law.keep(keep))
}

fn gradient(terms: GradientTerms) -> Result<Gradient, ConfigError> {
    let law = match terms.ramp {
        Some(false) => Gradient::new().without_ramp(),
        _ => Gradient::new(),
    };
    let law = terms
        .tolerance
        .map_or(Ok(law), |tolerance| law.tolerance(tolerance))?;
    let law = terms.max_rtt.map_or(Ok(law), |rtt| law.max_rtt(rtt))?;
    terms.keep.map_or(Ok(law), |keep| law.keep(keep))
}
