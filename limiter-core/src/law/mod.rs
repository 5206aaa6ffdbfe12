//! Laws: pure integer decisions about the limit. Numbers in, numbers out; no atomics and no clock.
//!
//! A [`Law`] sees one closed [`Window`] at a time and answers with a [`Decision`]. Everything else, who
//! closes a window, when, and how the limit is published, is the limiter's business, so the same law runs
//! in a server, in firmware, in the simulator and in the model checker.

use crate::cell::state::Words;
use crate::error::ConfigError;
use crate::time::{TickRate, Ticks, Timestamp};

mod aimd;
mod any;
pub(crate) mod backoff;
mod baseline;
pub(crate) mod breaker;
pub(crate) mod budget;
pub(crate) mod callers;
mod fixed;
mod gradient;
pub(crate) mod histogram;
mod knee;
pub(crate) mod math;
pub(crate) mod partition;
pub(crate) mod record;
pub(crate) mod shares;
pub(crate) mod throttle;
mod vegas;

pub use aimd::Aimd;
pub use any::AnyLaw;
pub use fixed::Fixed;
pub use gradient::Gradient;
pub use knee::Knee;
pub use vegas::Vegas;

/// A rule that turns what a window showed into the next limit.
///
/// `Self` holds the parameters, [`State`](Law::State) what was learned: an array of `u32`, all zero
/// before the first window, kept in the limiter as atomic words.
///
/// A law must return for any window; whatever limit it returns is clamped to the limiter's bounds.
/// A law that panics leaves the limiter usable and the limit as it was. One for a `static` is `Copy`.
///
/// ```
/// use limiter_core::law::{Decision, Law, Reason, Window};
/// use limiter_core::{Config, Limiter, TickRate};
///
/// /// Adds one per window that was limited, halves on overload.
/// #[derive(Clone, Copy, Debug)]
/// struct Halving;
///
/// impl Law for Halving {
///     type State = [u32; 0];
///
///     fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
///         if window.overloaded() {
///             Decision::new(window.limit / 2, Reason::CutOverload)
///         } else if window.few() {
///             Decision::new(window.limit, Reason::HeldTooFewSamples)
///         } else if window.limited() {
///             Decision::new(window.limit + 1, Reason::Grew)
///         } else {
///             Decision::new(window.limit, Reason::HeldNotLimited)
///         }
///     }
/// }
///
/// static LIMITER: Limiter<Halving> = Limiter::new(Config::new(Halving, TickRate::MICROS));
/// assert_eq!(LIMITER.snapshot().limit, 10);
/// ```
pub trait Law {
    /// What the law has learned.
    type State: Words;

    /// Decides after a window. `state` is all zero before the first one.
    fn on_window(&self, state: &mut Self::State, window: &Window) -> Decision;

    /// Is told that the limit became `limit` otherwise than by its own decision.
    fn on_set(&self, state: &mut Self::State, limit: u32) {
        let _ = (state, limit);
    }

    /// Whether the limit moves by itself. Where it does not, nobody lowers it to let it grow again, as a
    /// breaker that closes does.
    fn adapts(&self) -> bool {
        true
    }

    /// Whether what `before` learned means the same to this one, which takes its place while running. What
    /// does not is forgotten: the state is all zero again.
    fn goes_on_from(&self, before: &Self) -> bool {
        let _ = before;
        true
    }

    /// Checks the parameters; [`Limiter::try_new`](crate::Limiter::try_new) calls it.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] that names the parameter.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// What one window showed.
///
/// Times are in ticks of [`rate`](Window::rate). Permits that ended between the opening and the close
/// are in it, except those that ended in the part that the law asked to skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub struct Window {
    /// The limit in force.
    pub limit: u32,
    /// The smallest limit allowed.
    pub min: u32,
    /// The largest limit allowed.
    pub max: u32,
    /// Permits that ended with success.
    pub successes: u32,
    /// Of these, so many were not timed: others stand for them.
    pub untimed: u32,
    /// Permits that ended with success in the part that was skipped: they count for the share of overloads
    /// only, for overloads are counted from the opening on.
    pub early: u32,
    /// Permits admitted since the last cut that ended with overload, or were given up when they were
    /// already older than the usual RTT.
    pub overloads: u32,
    /// Mean RTT of the successes, 0 without any.
    pub rtt_mean: Ticks,
    /// Smallest RTT of the successes, 0 without any.
    pub rtt_min: Ticks,
    /// How long was collected for, a part that was skipped not counted.
    pub elapsed: Ticks,
    /// The largest number in flight seen by an acquire.
    pub inflight_peak: u32,
    /// The time average of the number in flight, times 256 (Little's law over the permits that ended).
    pub inflight_avg_q8: u32,
    /// The moment of closing.
    pub now: Timestamp,
    /// The moment of closing on the wall clock (ticks since an instant that is a whole number of
    /// [`WALL_SECONDS`] after the Unix epoch), when the limiter was given its offset.
    pub wall: Option<Timestamp>,
    /// The length of a tick.
    pub rate: TickRate,
    /// Fewer successes than this are too few to judge by.
    pub min_samples: u32,
    /// The share of overloads that is tolerated, per mille.
    pub tolerance: u32,
}

/// The wall clock handed to laws is right modulo this many seconds.
pub const WALL_SECONDS: u32 = 8;

impl Window {
    /// A window over `limit` in which nothing happened; set the fields that matter. For tests of laws.
    pub const fn new(limit: u32, rate: TickRate) -> Self {
        Self {
            limit,
            min: 1,
            max: crate::MAX_LIMIT,
            successes: 0,
            untimed: 0,
            overloads: 0,
            early: 0,
            rtt_mean: Ticks::new(0),
            rtt_min: Ticks::new(0),
            elapsed: Ticks::new(0),
            inflight_peak: 0,
            inflight_avg_q8: 0,
            now: Timestamp::from_ticks(0),
            wall: None,
            rate,
            min_samples: 10,
            tolerance: 20,
        }
    }

    /// The limit was reached: more demand would have been refused.
    pub const fn limited(&self) -> bool {
        self.inflight_peak >= self.limit
    }

    /// The share of overloads is above the tolerated one, beyond chance.
    pub const fn overloaded(&self) -> bool {
        self.overloads_above(self.tolerance)
    }

    /// The share of overloads is above this one, per mille, beyond chance.
    pub(crate) const fn overloads_above(&self, per_mille: u32) -> bool {
        excessive(
            self.successes.saturating_add(self.early),
            self.overloads,
            per_mille,
        )
    }

    /// The share of overloads among successes and overloads, per mille.
    pub const fn overload_share(&self) -> u32 {
        let (mut overloads, mut ended) = (
            self.overloads as u64,
            self.successes as u64 + self.early as u64 + self.overloads as u64,
        );
        // Into the range in which a 32-bit division does.
        while ended > (u32::MAX / 1000) as u64 {
            overloads >>= 1;
            ended >>= 1;
        }
        math::quotient(overloads as u32 * 1000, ended as u32)
    }

    /// Fewer timed successes than it takes to judge.
    pub const fn few(&self) -> bool {
        self.successes.saturating_sub(self.untimed) < self.min_samples
    }
}

/// Whether so many overloads are more than two standard deviations above what a tolerated share of
/// `per_mille` gives (their number is then nearly Poisson, its variance its mean). Without the margin a
/// window of twenty would be cut by one stray error, which is 5 % of it.
#[inline(never)]
pub(crate) const fn excessive(successes: u32, overloads: u32, per_mille: u32) -> bool {
    if per_mille >= 1_000 {
        return false;
    }
    let ended = successes as u64 + overloads as u64;
    let expected = ended * per_mille as u64;
    match (overloads as u64 * 1000).checked_sub(expected) {
        None | Some(0) => false,
        // excess² > 4 · 1000 · expected: both are below 2⁴³, so that a square of more than 64 bits is
        // above any expected one.
        Some(excess) if excess > u32::MAX as u64 => true,
        Some(excess) => excess * excess > expected * 4_000,
    }
}

/// What a law decides after a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Decision {
    /// The limit from now on, clamped to the bounds by the limiter.
    pub limit: u32,
    /// Why.
    pub reason: Reason,
    /// Whether the overloads of permits admitted before this decision no longer count.
    pub cut: bool,
    /// When the next window collects and closes, if the law cares; else two RTTs within the
    /// configured bounds.
    pub next: Option<Next>,
}

impl Decision {
    /// A decision for `limit`. Reasons that are cuts start a new epoch.
    pub const fn new(limit: u32, reason: Reason) -> Self {
        Self {
            limit,
            reason,
            cut: matches!(reason, Reason::CutOverload),
            next: None,
        }
    }

    /// The same decision with a window of the law's choice after it.
    #[must_use]
    pub const fn then(mut self, next: Next) -> Self {
        self.next = Some(next);
        self
    }
}

/// The next window as a law wants it. Lengths are cut to the longest that can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Next {
    /// Skipped at the start: successes that end in it teach nothing.
    pub settle: Ticks,
    /// Then collected for at least this long.
    pub length: Ticks,
    /// And until at least so many successes have ended, or the longest window has passed.
    pub samples: u32,
}

/// Why the limit is what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
// A word, so that what holds one is copied by words: three bytes beside it would be copied by a routine of 600.
#[repr(u32)]
pub enum Reason {
    /// The configured initial limit; no window has closed yet.
    Initial = 0,
    /// There was room for more.
    Grew = 1,
    /// Held: the limit was not reached, so nothing is known about a larger one.
    HeldNotLimited = 2,
    /// Held: too few permits ended to judge.
    HeldTooFewSamples = 3,
    /// Held: more would not help and less would hurt.
    HeldSteady = 4,
    /// Cut: too large a share ended with overload.
    CutOverload = 5,
    /// Cut: concurrency bought latency instead of throughput.
    CutLatency = 6,
    /// Moved for a measurement, to be moved back.
    Probing = 7,
    /// Would have been cut further, is at its lower bound.
    PinnedAtMin = 8,
    /// Would have grown further, is at its upper bound.
    PinnedAtMax = 9,
    /// Set, or moved by new bounds, by hand.
    SetByHand = 10,
    /// Closed.
    Closed = 11,
}

impl Reason {
    pub(crate) const fn from_code(code: u32) -> Self {
        match code {
            1 => Self::Grew,
            2 => Self::HeldNotLimited,
            3 => Self::HeldTooFewSamples,
            4 => Self::HeldSteady,
            5 => Self::CutOverload,
            6 => Self::CutLatency,
            7 => Self::Probing,
            8 => Self::PinnedAtMin,
            9 => Self::PinnedAtMax,
            10 => Self::SetByHand,
            11 => Self::Closed,
            _ => Self::Initial,
        }
    }
}
