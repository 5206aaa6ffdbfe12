//! The client-side throttle: stress is answered by degrees, before a breaker has to answer it at once.

use crate::cell::ring::{Ring, Wheel, bucket_shift};
use crate::cell::sync::const_unless_loom;
use crate::error::ConfigError;
use crate::law::throttle::{Rule, refuses};
use crate::time::{Pace, Stamp, TickRate, Timestamp};
use core::time::Duration;

/// Requests in the high half, accepts in the low half.
const REQUEST: u32 = 1 << 16;
const ACCEPT: u32 = 1;
const TOPS: u32 = 1 << 31 | 1 << 15;
const BUCKETS: usize = 4;

/// What a [`Throttle`] is built from.
///
/// Defaults: a window of about ten seconds, two requests for each accept are normal, fewer than 20 requests
/// are never refused, and a tenth always passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleConfig {
    window: Duration,
    slack_q8: u32,
    protect: u32,
    most: u32,
}

impl ThrottleConfig {
    /// The defaults; slack and form are those of Google's client-side throttling (Site Reliability
    /// Engineering, "Handling Overload"). Its window of two minutes keeps refusing for as long after the
    /// dependency is well again; that of Envoy's admission control is 30 s.
    pub const fn new() -> Self {
        Self {
            window: Duration::from_secs(10),
            slack_q8: 512,
            protect: 20,
            most: 900,
        }
    }

    /// What is remembered: the last quarter is always incomplete, and quarters are rounded to a power of
    /// two of about half a millisecond. From 10 ms to an hour.
    #[must_use]
    pub const fn window(mut self, window: Duration) -> Self {
        self.window = window;
        self
    }

    /// How many requests for each accept are normal, times 256: `K`. From 257 (just above one) to 65,535;
    /// the larger, the later the throttle sets in.
    #[must_use]
    pub const fn slack_q8(mut self, requests_per_accept: u32) -> Self {
        self.slack_q8 = requests_per_accept;
        self
    }

    /// Refuses nothing while the window has fewer requests, from 1 to 30,000.
    #[must_use]
    pub const fn protect(mut self, requests: u32) -> Self {
        self.protect = requests;
        self
    }

    /// The largest share that is refused, per mille, from 1 to 990: what passes tells when the dependency is
    /// well again.
    #[must_use]
    pub const fn most(mut self, per_mille: u32) -> Self {
        self.most = per_mille;
        self
    }

    /// Checks every value.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let millis = self
            .window
            .as_secs()
            .saturating_mul(1_000)
            .saturating_add(self.window.subsec_millis() as u64);
        ConfigError::check_all(&[
            ("throttle.window in ms", millis, 10, 3_600_000),
            ("throttle.slack_q8", self.slack_q8 as u64, 257, 65_535),
            ("throttle.protect", self.protect as u64, 1, 30_000),
            ("throttle.most", self.most as u64, 1, 990),
        ])
    }

    pub(crate) const fn settings(&self, rate: TickRate) -> ThrottleSettings {
        ThrottleSettings {
            rule: Rule {
                slack_q8: self.slack_q8 as u16,
                protect: self.protect as u16,
                most_q16: (self.most * 65_536 / 1_000) as u16,
            },
            shift: bucket_shift::<BUCKETS>(rate.pace().units(rate.ticks(self.window))) as u8,
        }
    }
}

impl Default for ThrottleConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// A checked configuration in the units of the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThrottleSettings {
    rule: Rule,
    shift: u8,
}

/// The counts of a throttle, without its configuration.
#[derive(Debug)]
pub(crate) struct Requests(Ring<BUCKETS>);

impl Requests {
    const_unless_loom! {
        pub(crate) fn new() -> Self {
            Self(Ring::new())
        }
    }

    fn wheel(&self, settings: &ThrottleSettings) -> Wheel<'_> {
        self.0.wheel(settings.shift, TOPS)
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    fn share_q16(&self, settings: &ThrottleSettings, now: Stamp) -> u32 {
        let (mut requests, mut accepts) = (0, 0);
        self.0.look(settings.shift, now, |word| {
            requests += word >> 16;
            accepts += word & 0xffff;
        });
        settings.rule.share_q16(requests, accepts)
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn refuses(&self, settings: &ThrottleSettings, now: Stamp, random: u32) -> bool {
        refuses(self.share_q16(settings, now), random)
    }

    pub(crate) fn share_per_mille(&self, settings: &ThrottleSettings, now: Stamp) -> u32 {
        (self.share_q16(settings, now) * 1_000) >> 16
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    pub(crate) fn request(&self, settings: &ThrottleSettings, requests: u32, now: Stamp) {
        self.0.add(settings.shift, TOPS, now, REQUEST * requests);
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn accept(&self, settings: &ThrottleSettings, accepts: u32, now: Stamp) {
        if accepts != 0 {
            self.0.add(settings.shift, TOPS, now, ACCEPT * accepts);
        }
    }

    /// Counts accepts without a clock.
    pub(crate) fn accept_late(&self, settings: &ThrottleSettings, accepts: u32) {
        if accepts != 0 {
            self.wheel(settings).add_late(ACCEPT * accepts);
        }
    }

    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}

/// Refuses a share of the requests that grows with the share that the dependency does not accept.
///
/// With `K` requests for each accept as normal, it refuses `(requests − K · accepts) / (requests + 1)` of
/// them. What it refuses counts as a request too, so the pressure on an overloaded dependency falls to `K`
/// times what it accepts, and comes back with the accepts. Requests are counted when they start: counted at
/// their end, those in flight would be invisible and the throttle would set in one round trip late.
///
/// ```
/// use limiter_core::{Throttle, ThrottleConfig, TickRate, Timestamp};
///
/// static THROTTLE: Throttle = Throttle::new(ThrottleConfig::new(), TickRate::MILLIS);
///
/// let now = Timestamp::from_ticks(0);
/// for _ in 0..100 {
///     THROTTLE.request(now); // none of them is accepted
/// }
/// assert!(THROTTLE.refuses(now, 0x1234_5678));
/// assert!(!THROTTLE.refuses(now, 0xffff_ffff), "a tenth passes");
/// ```
#[derive(Debug)]
pub struct Throttle {
    requests: Requests,
    settings: ThrottleSettings,
    pace: Pace,
}

impl Throttle {
    const_unless_loom! {
        /// A throttle from a configuration that is known to be right: for `static`s and constants, where a
        /// wrong one fails to compile.
        ///
        /// # Panics
        ///
        /// If the configuration is wrong. At run time use [`try_new`](Throttle::try_new).
        pub fn new(config: ThrottleConfig, rate: TickRate) -> Self {
            if let Err(error) = config.check() {
                error.fail::<()>();
            }
            Self {
                requests: Requests::new(),
                settings: config.settings(rate),
                pace: rate.pace(),
            }
        }
    }

    /// A throttle from a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work.
    pub fn try_new(config: ThrottleConfig, rate: TickRate) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            requests: Requests::new(),
            settings: config.settings(rate),
            pace: rate.pace(),
        })
    }

    /// Whether a request should be refused, by a random word of the caller's. Counts nothing: count it by
    /// [`request`](Throttle::request) whether it is refused or sent.
    pub fn refuses(&self, now: Timestamp, random: u32) -> bool {
        self.requests
            .refuses(&self.settings, self.pace.stamp(now), random)
    }

    /// The share that is refused now, per mille. Reading it has no side effect.
    pub fn share(&self, now: Timestamp) -> u32 {
        self.requests
            .share_per_mille(&self.settings, self.pace.stamp(now))
    }

    /// Counts a request, when it starts.
    pub fn request(&self, now: Timestamp) {
        let stamp = self.pace.stamp(now);
        self.requests.request(&self.settings, 1, stamp);
    }

    /// Counts an accept: the dependency took the request, whatever came of it.
    pub fn accept(&self, now: Timestamp) {
        let stamp = self.pace.stamp(now);
        self.requests.accept(&self.settings, 1, stamp);
    }
}
