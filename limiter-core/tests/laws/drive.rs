//! One law driven by windows made by hand, clamped between them as the limiter does.

use limiter_core::law::{Decision, Law, Reason, Window};
use limiter_core::{TickRate, Ticks, Words};

/// A law with its state, the limit and the bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drive<L: Law> {
    pub(crate) law: L,
    pub(crate) state: L::State,
    pub(crate) limit: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) rate: TickRate,
}

impl<L: Law> Drive<L> {
    pub(crate) fn new(law: L, limit: u32) -> Self {
        Self {
            law,
            state: L::State::ZERO,
            limit,
            min: 1,
            max: 1_000,
            rate: TickRate::MICROS,
        }
    }

    pub(crate) fn bounds(mut self, min: u32, max: u32) -> Self {
        (self.min, self.max) = (min, max);
        self
    }

    /// An empty window over the limit in force.
    pub(crate) fn window(&self) -> Window {
        let mut window = Window::new(self.limit, self.rate);
        (window.min, window.max) = (self.min, self.max);
        window
    }

    /// A window of two round trips at the limit, 100 successes.
    pub(crate) fn busy(&self, rtt: u64) -> Window {
        let mut window = self.window();
        window.successes = 100;
        window.rtt_mean = Ticks::new(rtt);
        window.rtt_min = Ticks::new(rtt);
        window.elapsed = Ticks::new(rtt.saturating_mul(2));
        window.inflight_peak = self.limit;
        window.inflight_avg_q8 = self.limit.saturating_mul(256);
        window
    }

    /// The same with a tenth of the demand.
    pub(crate) fn idle(&self, rtt: u64) -> Window {
        let mut window = self.busy(rtt);
        window.inflight_peak = self.limit / 10;
        window.inflight_avg_q8 = window.inflight_peak.saturating_mul(128);
        window
    }

    /// Lets the law decide and clamps its decision as the limiter does.
    pub(crate) fn step(&mut self, window: Window) -> Decision {
        let mut decision = self.law.on_window(&mut self.state, &window);
        let limit = decision.limit.clamp(self.min, self.max);
        if limit != decision.limit {
            decision.reason = if limit == self.max {
                Reason::PinnedAtMax
            } else {
                Reason::PinnedAtMin
            };
            decision.limit = limit;
        }
        self.limit = limit;
        decision
    }

    /// So many busy windows; the limit after each.
    pub(crate) fn busy_for(&mut self, windows: usize, rtt: u64) -> Vec<u32> {
        (0..windows)
            .map(|_| self.step(self.busy(rtt)).limit)
            .collect()
    }

    /// Busy windows until one opens a probe; how many came before it.
    #[track_caller]
    pub(crate) fn until_probe(&mut self, rtt: u64) -> usize {
        let probe = (0..1_000).position(|_| self.step(self.busy(rtt)).reason == Reason::Probing);
        probe.expect("a probe within a thousand windows")
    }

    /// A law whose baseline has just been measured by a drain, back at `limit`.
    pub(crate) fn measured(law: L, limit: u32, baseline: u64) -> Self {
        let mut drive = Self::new(law, limit).bounds(limit, limit);
        let mut window = drive.busy(baseline);
        window.min = 1;
        let opened = drive.law.on_window(&mut drive.state, &window);
        assert_eq!(
            opened.reason,
            Reason::Probing,
            "the first drain comes at once"
        );
        drive.limit = opened.limit;
        let window = drive.busy(baseline);
        let ended = drive.step(window);
        assert_eq!((ended.limit, ended.reason), (limit, Reason::Probing));
        drive.bounds(1, 1_000)
    }
}

/// The baseline of [`Vegas`](limiter_core::law::Vegas) and [`Gradient`](limiter_core::law::Gradient): the
/// first two words of their state.
pub(crate) fn baseline(state: &[u32]) -> u64 {
    u64::from(state[1]) << 32 | u64::from(state[0])
}
