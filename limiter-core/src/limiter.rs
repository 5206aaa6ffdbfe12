//! The limiter: where the admission word, the open window and a law meet.

use crate::cell::admission::{Admission, Arrival, Occupancy};
use crate::cell::controls::Controls;
use crate::cell::gate::{Gate, SET};
use crate::cell::peak::Peak;
use crate::cell::sampling::Sampling;
use crate::cell::shares::ClassShares;
use crate::cell::state::{Cells, Words};
use crate::cell::sync::const_unless_loom;
use crate::cell::window::OpenWindow;
use crate::config::{Config, Settings};
use crate::error::{ConfigError, RejectReason, Rejected};
use crate::law::{Knee, Law, Reason};
use crate::permit::{Permit, Slot};
use crate::settle::{Change, Settled};
use crate::snapshot::{Snapshot, nearly_full};
use crate::tag::Entered;
use crate::time::{TickRate, Ticks, Timestamp};
use core::ops::Deref;

/// An adaptive concurrency limit.
///
/// Lives in a `static`, an `Arc`, or anywhere else; every operation takes `&self`. Admission is one
/// compare-exchange on one word, a refusal one load, a release one subtraction. Whoever finishes the
/// permit that completes a window runs the law; nobody ever waits for that.
///
/// ```
/// use limiter_core::law::Aimd;
/// use limiter_core::{Config, Limiter, Outcome, TickRate, Timestamp};
///
/// static LIMITER: Limiter<Aimd> = Limiter::new(Config::new(Aimd::new(), TickRate::MICROS).initial(1));
///
/// let permit = LIMITER.try_acquire(Timestamp::from_ticks(0)).expect("nothing is in flight");
/// let refused = LIMITER.try_acquire(Timestamp::from_ticks(1)).unwrap_err();
/// assert_eq!(refused.limit, 1);
/// permit.finish(Outcome::Success, Timestamp::from_ticks(20_000));
/// assert_eq!(LIMITER.snapshot().inflight, 0);
/// ```
#[derive(Debug)]
pub struct Limiter<L: Law = Knee> {
    pub(crate) entry: Entry,
    pub(crate) window: OpenWindow,
    pub(crate) controls: Controls,
    pub(crate) shares: ClassShares,
    pub(crate) state: <L::State as Words>::Cells,
    pub(crate) settings: Settings,
    pub(crate) law: L,
}

/// All that an admission looks at, on a cache line of its own where there are caches, so that windows do not
/// slow it. The gate and the scale change with the windows only.
#[derive(Debug)]
#[cfg_attr(target_pointer_width = "64", repr(align(64)))]
pub(crate) struct Entry {
    pub(crate) admission: Admission,
    pub(crate) gate: Gate,
    pub(crate) peak: Peak,
    pub(crate) sampling: Sampling,
}

impl<L: Law> Limiter<L> {
    const_unless_loom! {
        /// A limiter from a configuration that is known to be right: for `static`s and constants, where a
        /// wrong one fails to compile. The parameters of the law are checked when they are given.
        ///
        /// # Panics
        ///
        /// If the configuration is wrong. At run time use [`try_new`](Limiter::try_new).
        pub fn new(config: Config<L>) -> Self
        where
            L: Copy,
        {
            if let Err(error) = config.check() {
                error.fail::<()>();
            }
            Self::from_checked(&config.with_law(()), config.law)
        }
    }

    /// A limiter from a configuration that may be wrong.
    ///
    /// # Errors
    ///
    /// The first field that does not work: its name, its value and what is allowed.
    pub fn try_new(config: Config<L>) -> Result<Self, ConfigError> {
        config.check()?;
        config.law.check()?;
        Ok(Self::from_checked(&config.with_law(()), config.law))
    }

    const_unless_loom! {
        fn from_checked(config: &Config<()>, law: L) -> Self {
            let settings = config.settings();
            Self {
                entry: Entry {
                    admission: Admission::new(config.initial),
                    gate: Gate::new(),
                    peak: Peak::new(),
                    sampling: Sampling::new(),
                },
                window: OpenWindow::new(settings.first()),
                controls: Controls::new(config.min, config.max),
                shares: ClassShares::new(config.shares),
                #[cfg(not(limiter_loom))]
                state: <L::State as Words>::Cells::ZERO,
                #[cfg(limiter_loom)]
                state: <L::State as Words>::Cells::zero(),
                settings,
                law,
            }
        }
    }

    /// Takes a slot, or says at once why there is none.
    ///
    /// # Errors
    ///
    /// [`Rejected`] with the reason and the numbers; nothing was stored.
    ///
    /// # Fairness
    ///
    /// None between newcomers. Those who wait in an adapter's queue go first.
    #[inline]
    pub fn try_acquire(&self, now: Timestamp) -> Result<Permit<&Self>, Rejected> {
        Self::try_acquire_owned(self, now)
    }

    /// Takes a slot for a permit that owns its handle (`&'static Limiter`, `Arc<Limiter>`), so that it
    /// can move into a spawned or blocking task and keep the slot as long as the work lasts.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire).
    #[inline]
    pub fn try_acquire_owned<H>(handle: H, now: Timestamp) -> Result<Permit<H>, Rejected>
    where
        H: Deref<Target = Self>,
    {
        let entered = handle.take(Arrival::Newcomer)?;
        Ok(Permit::tended(handle, 1, entered, now))
    }

    /// Takes a slot from an interrupt handler: never runs a law.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire).
    pub fn try_acquire_from_isr(&self, now: Timestamp) -> Result<Permit<&Self>, Rejected> {
        let slot = self.admit(now)?;
        Ok(Permit::new(self, slot))
    }

    /// Closes a window that was marked due by an interrupt handler; for adapters, after
    /// [`admit`](Limiter::admit). Costs one load when there is nothing to do.
    #[inline]
    pub fn tend(&self, now: Timestamp) -> Settled {
        if self.entry.gate.read().pending() {
            self.apply(0, now)
        } else {
            Settled::NOTHING
        }
    }

    /// Takes a slot as plain data that does not free itself; for adapters.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire).
    #[inline]
    pub fn admit(&self, now: Timestamp) -> Result<Slot, Rejected> {
        self.slot_for(Arrival::Newcomer, now)
    }

    /// Like [`admit`](Limiter::admit), but asks for the time only when there is a slot that is timed: a clock
    /// costs many times what a slot costs. `now` must not panic, for by then the slot is taken.
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire).
    #[inline]
    pub fn admit_with(&self, now: impl FnOnce() -> Timestamp) -> Result<Slot, Rejected> {
        let entered = self.take(Arrival::Newcomer)?;
        Ok(self.slot_with(1, entered.tag(), now))
    }

    /// Takes a slot for the head of the queue of waiters; for adapters, under the queue's lock and after
    /// [`set_waiting`](Limiter::set_waiting).
    ///
    /// # Errors
    ///
    /// As [`try_acquire`](Limiter::try_acquire), but never because of waiters.
    pub fn admit_waiter(&self, now: Timestamp) -> Result<Slot, Rejected> {
        self.slot_for(Arrival::Waiter, now)
    }

    /// One code for all ways to a bare slot on cores without compare-and-swap: each is a critical section there.
    #[cfg_attr(target_has_atomic = "32", inline)]
    #[cfg_attr(not(target_has_atomic = "32"), inline(never))]
    fn slot_for(&self, arrival: Arrival, now: Timestamp) -> Result<Slot, Rejected> {
        let entered = self.take(arrival)?;
        Ok(self.slot(1, entered.tag(), now))
    }

    #[inline]
    fn take(&self, arrival: Arrival) -> Result<Entered, Rejected> {
        match self.entry.admission.acquire(arrival) {
            Ok(after) => Ok(self.entered(after)),
            Err(seen) => Err(refusal(seen)),
        }
    }

    /// Notes what an admission makes of the gauges, and draws whether it is timed.
    #[inline]
    pub(crate) fn entered(&self, after: Occupancy) -> Entered {
        self.entry.peak.raise(after.inflight());
        self.draw()
    }

    /// Draws whether an admission is timed, and what else its slot carries.
    #[inline]
    pub(crate) fn draw(&self) -> Entered {
        Entered {
            seen: self.entry.gate.read(),
            drawn: self.entry.sampling.draw(),
        }
    }

    /// The gauges of this moment.
    #[inline(never)]
    pub fn snapshot(&self) -> Snapshot {
        let seen = self.entry.admission.load();
        let (min, max) = self.controls.bounds();
        Snapshot {
            limit: seen.limit(),
            inflight: seen.inflight(),
            idle: 0,
            inflight_peak: self.entry.peak.load().max(seen.inflight()),
            waiting: seen.waiting(),
            closed: seen.closed(),
            min,
            max,
            reason: if seen.closed() {
                Reason::Closed
            } else {
                self.controls.reason()
            },
            cuts: self.entry.gate.read().cuts(),
            usual_rtt: self.usual_rtt(),
            window_successes: self.window.well(),
            window_overloads: self.window.overloads(),
        }
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// The length of a tick.
    pub const fn rate(&self) -> TickRate {
        self.settings.rate
    }

    /// Sets the limit; an adaptive law goes on from there. Shrinking below what is in flight admits
    /// nothing until enough have left.
    ///
    /// # Errors
    ///
    /// When `limit` is outside the bounds: move those first.
    pub fn set_limit(&self, limit: u32, now: Timestamp) -> Result<Settled, ConfigError> {
        let (min, max) = self.controls.bounds();
        ConfigError::check("limit", limit.into(), min.into(), max.into())?;
        self.controls.request_limit(limit);
        Ok(self.apply(SET, now))
    }

    /// Moves the bounds, and the limit into them; what was learned is kept.
    ///
    /// # Errors
    ///
    /// When `min` is 0 or above `max`, or `max` above [`MAX_LIMIT`](crate::MAX_LIMIT); nothing changes.
    pub fn set_bounds(&self, min: u32, max: u32, now: Timestamp) -> Result<Settled, ConfigError> {
        ConfigError::check("max", max.into(), 1, crate::MAX_LIMIT.into())?;
        ConfigError::check("min", min.into(), 1, max.into())?;
        self.controls.set_bounds(min, max);
        Ok(self.apply(SET, now))
    }

    /// Tells the laws the wall clock: `offset` ticks after a timestamp is that moment on the wall clock,
    /// modulo [`WALL_SECONDS`](crate::law::WALL_SECONDS) seconds since the Unix epoch.
    ///
    /// Limiters in front of one server that know it measure in step. Call it again from time to time,
    /// for clocks drift; a correction of a few milliseconds is harmless.
    pub fn set_wall_offset(&self, offset: Ticks) {
        self.controls.set_wall_offset(self.settings.rate, offset);
    }

    /// Refuses everybody from now on; those in flight may finish. There is no way back.
    pub fn close(&self) -> Settled {
        let before = self.entry.admission.close();
        Settled {
            change: before.map(|before| Change {
                from: before.limit(),
                to: 0,
                reason: Reason::Closed,
            }),
            wake: before.is_some_and(Occupancy::waiting),
        }
    }

    /// Announces that someone waits, so that newcomers are refused and releases say so; for adapters,
    /// under the queue's lock, before the waiter's last try.
    pub fn set_waiting(&self) {
        self.entry.admission.set_waiting();
    }

    /// Lets newcomers in again; for adapters, under the queue's lock, when the queue is empty.
    pub fn clear_waiting(&self) {
        self.entry.admission.clear_waiting();
    }

    /// Whether less is in flight than the limit allows; for adapters, that know by it whether the next
    /// waiter can be served too. Costs one load.
    #[inline]
    pub fn has_room(&self) -> bool {
        let seen = self.entry.admission.load();
        seen.inflight() < seen.limit()
    }

    /// Whether it was [closed](Limiter::close). Costs one load.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.entry.admission.load().closed()
    }

    /// Whether less than an eighth of the limit is left; for adapters, that tell by it before anybody is
    /// refused. Costs one load.
    #[inline]
    pub fn is_nearly_full(&self) -> bool {
        let seen = self.entry.admission.load();
        nearly_full(seen.inflight(), seen.limit())
    }

    /// Whether the limit is reached, or was since the open window began.
    pub(crate) fn saturated(&self) -> bool {
        let seen = self.entry.admission.load();
        seen.waiting() || seen.inflight().max(self.entry.peak.load()) >= seen.limit()
    }

    /// Sets the limit to a quarter of what it is, within the bounds, if the law can let it grow again.
    pub(crate) fn restart_from_quarter(&self, now: Timestamp) -> Option<Settled> {
        let limit = self.entry.admission.load().limit();
        let (min, _) = self.controls.bounds();
        if !self.law.adapts() {
            return None;
        }
        self.set_limit((limit / 4).max(min), now).ok()
    }

    pub(crate) fn bounds(&self) -> (u32, u32) {
        self.controls.bounds()
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        self.entry.admission.load()
    }

    pub(crate) fn publish_limit(&self, limit: u32) -> Option<Occupancy> {
        self.entry.admission.set_limit(limit)
    }

    pub(crate) fn usual_rtt(&self) -> Ticks {
        self.settings.ticks(self.window.usual())
    }

    #[cold]
    pub(crate) fn apply(&self, bits: u32, now: Timestamp) -> Settled {
        let change = self.close_window(bits, now);
        Settled {
            change,
            wake: self.occupancy().waiting(),
        }
    }
}

fn refusal(seen: Occupancy) -> Rejected {
    let reason = if seen.closed() {
        RejectReason::Closed
    } else if seen.inflight() >= seen.limit() {
        RejectReason::AtLimit
    } else {
        RejectReason::WaitersAhead
    };
    Rejected::new(reason, seen.limit(), seen.inflight())
}
