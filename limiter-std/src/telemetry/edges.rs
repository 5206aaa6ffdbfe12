//! Edges out of looks: plain code, with the time as an argument.

use super::Edge;
use super::signal::{Signal, Turn};
use core::time::Duration;
use limiter_core::law::Reason;

/// From this share of the limit in use, per mille, a service has no room for a burst any more. It is over below
/// the other, which is where an autoscaler should hold it.
const SATURATED: u32 = 850;
const ROOMY: u32 = 700;
/// The mean is over about so long.
const MEAN_OVER: Duration = Duration::from_secs(1);
/// An autoscaler looks every 15 s: a mean over less would be an accident.
const GAUGE_OVER: Duration = Duration::from_secs(10);
/// Laws step up and down within periods of at most 4 s to measure; a mean over that hides it.
const LIMIT_OVER: Duration = Duration::from_secs(4);
/// And no more often than this is a limit reported that moves.
const LIMIT_EVERY: Duration = Duration::from_secs(5);

/// What one look at a source found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// On the source's own clock.
    pub(super) now: Duration,
    pub(super) limiter: Option<LimiterLook>,
    pub(super) breaker: Option<BreakerLook>,
    /// The budget covers a retry.
    pub(super) covers: Option<bool>,
    /// Requests refused since the source was made, by reason; they wrap.
    pub(super) refused: usize,
    /// For what most were refused since the last look.
    pub(super) reason: &'static str,
    /// Some of them for want of a slot.
    pub(super) by_limit: bool,
    /// It only watches.
    pub(super) watches_only: bool,
    /// Requests that it let through and would have refused, since the source was made.
    pub(super) watched: usize,
    /// For what most would have been since the last look.
    pub(super) watched_reason: &'static str,
    /// Attempts that the dependency refused by a limit of its own, since the source was made.
    pub(super) there: usize,
    /// Retries that the budget did not cover, since the source was made.
    pub(super) uncovered: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LimiterLook {
    pub(super) limit: u32,
    pub(super) inflight: u32,
    /// The most since the open window began.
    pub(super) peak: u32,
    /// Guaranteed to partitions and not in use.
    pub(super) idle: u32,
    /// As in the snapshot.
    pub(super) utilisation: u32,
    pub(super) waiting: usize,
    /// The limit is nearly reached, or was since the last look.
    pub(super) nearly_full: bool,
    pub(super) closed: bool,
    pub(super) reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BreakerLook {
    Closed,
    Open,
    HalfOpen,
}

/// What is remembered of one source between looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    before: Option<Look>,
    /// What had been counted before the first look.
    first: Look,
    building: Signal,
    saturated: Signal,
    shedding: Signal,
    would_shed: Signal,
    there: Signal,
    empty: Signal,
    /// When the first of the first four began, and what had been refused and let through by then.
    since: Option<(Duration, [usize; 2])>,
    mean: Mean,
    gauge: Mean,
    limit: LimitEdge,
    closed: bool,
    watches: bool,
}

/// What of overload holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overload {
    /// [`Edge::QueueBuilding`] and not yet over.
    pub queue_building: bool,
    /// [`Edge::Saturated`] and not yet over.
    pub saturated: bool,
    /// [`Edge::Shedding`] and not yet over.
    pub shedding: bool,
    /// [`Edge::WouldShed`] and not yet over.
    pub would_shed: bool,
    /// [`Edge::DependencyRefuses`] and not yet over.
    pub dependency_refuses: bool,
    /// [`Edge::BudgetEmpty`] and not yet over.
    pub budget_empty: bool,
}

impl Edges {
    /// Of a source that has counted this much by now: that is no news.
    pub(super) fn since(first: Look) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// Tells `emit` what began and what is over with this look.
    pub(super) fn see(&mut self, look: Look, emit: &mut impl FnMut(Edge)) {
        let now = look.now;
        let passed = self
            .before
            .map_or(Duration::ZERO, |before| now.saturating_sub(before.now));
        let before = self.before.unwrap_or(self.first);
        if let Some(seen) = look.limiter {
            // Also where the limit shrank below what is in flight.
            let share = seen.utilisation.min(1_000);
            if self.before.is_none() {
                self.gauge.set(share);
            }
            self.mean.add(share, passed, MEAN_OVER);
            self.gauge.add(share, passed, GAUGE_OVER);
            // Before what comes of it.
            if seen.closed && !core::mem::replace(&mut self.closed, true) {
                emit(Edge::Closed);
            }
            self.watch(&seen, &look, emit);
            self.overload(&seen, &look, &before, emit);
            self.limit.see(&seen, now, passed, emit);
        }
        match self.there.see(look.there != before.there, now) {
            Turn::Began => emit(Edge::DependencyRefuses),
            Turn::Over => emit(Edge::DependencyAccepts),
            Turn::Stays => {}
        }
        self.budget(&look, &before, emit);
        self.breaker(&look, emit);
        self.before = Some(look);
    }

    fn watch(&mut self, seen: &LimiterLook, look: &Look, emit: &mut impl FnMut(Edge)) {
        if seen.closed || look.watches_only == self.watches {
            return;
        }
        self.watches = look.watches_only;
        emit(if self.watches {
            Edge::Watching
        } else {
            Edge::Enforcing
        });
    }

    fn overload(
        &mut self,
        seen: &LimiterLook,
        look: &Look,
        before: &Look,
        emit: &mut impl FnMut(Edge),
    ) {
        let LimiterLook {
            inflight,
            idle,
            limit,
            waiting,
            ..
        } = *seen;
        let now = look.now;
        let (refuses, lets_through) = (
            look.refused != before.refused,
            look.watched != before.watched,
        );
        // Who refuses for want of a slot had a queue, or no room for one.
        let wants = (refuses || lets_through) && look.by_limit;
        let builds = waiting != 0 || seen.nearly_full || wants;
        let utilisation = self.mean.get();
        let building = self.building.see(builds && !seen.closed, now);
        let bound = if self.saturated.is_on() {
            ROOMY
        } else {
            SATURATED
        };
        let saturated = self
            .saturated
            .see(utilisation >= bound && !seen.closed, now);
        let shedding = self.shedding.see(refuses, now);
        let would_shed = self.would_shed.see(lets_through, now);
        let signals = [
            &self.building,
            &self.saturated,
            &self.shedding,
            &self.would_shed,
        ];
        let any = signals.into_iter().any(Signal::is_on);
        if any {
            let before = [before.refused, before.watched];
            self.since.get_or_insert((now, before));
        }
        if building == Turn::Began {
            // It may have been reached for an instant before this look.
            let most = if waiting == 0 { seen.peak } else { 0 };
            emit(Edge::QueueBuilding {
                waiting,
                inflight: inflight.max(most),
                idle,
                limit,
            });
        }
        if saturated == Turn::Began {
            emit(Edge::Saturated { utilisation, limit });
        }
        if shedding == Turn::Began {
            emit(Edge::Shedding {
                reason: look.reason,
                inflight,
                idle,
                limit,
            });
        }
        if would_shed == Turn::Began {
            emit(Edge::WouldShed {
                reason: look.watched_reason,
                inflight,
                idle,
                limit,
            });
        }
        if !any {
            if let Some((since, [refused, watched])) = self.since.take() {
                emit(Edge::Recovered {
                    refused: look.refused.wrapping_sub(refused),
                    would_refuse: look.watched.wrapping_sub(watched),
                    lasted: now.saturating_sub(since),
                });
            }
        }
    }

    fn budget(&mut self, look: &Look, before: &Look, emit: &mut impl FnMut(Edge)) {
        let Some(covers) = look.covers else { return };
        let uncovered = look.uncovered != before.uncovered;
        match self.empty.see(!covers || uncovered, look.now) {
            Turn::Began => emit(Edge::BudgetEmpty),
            Turn::Over => emit(Edge::BudgetCovers),
            Turn::Stays => {}
        }
    }

    fn breaker(&self, look: &Look, emit: &mut impl FnMut(Edge)) {
        let before = self
            .before
            .map_or(Some(BreakerLook::Closed), |before| before.breaker);
        if look.breaker == before {
            return;
        }
        match look.breaker {
            Some(BreakerLook::Open) => emit(Edge::BreakerOpened),
            Some(BreakerLook::HalfOpen) => emit(Edge::BreakerHalfOpen),
            Some(BreakerLook::Closed) => emit(Edge::BreakerClosed),
            None => {}
        }
    }

    pub(super) const fn holds(&self) -> Overload {
        Overload {
            queue_building: self.building.is_on(),
            saturated: self.saturated.is_on(),
            shedding: self.shedding.is_on(),
            would_shed: self.would_shed.is_on(),
            dependency_refuses: self.there.is_on(),
            budget_empty: self.empty.is_on(),
        }
    }

    /// Mean share of the limit in use, per mille.
    pub(super) const fn utilisation(&self) -> u32 {
        self.gauge.get()
    }
}

/// When a limit is worth to be reported.
#[derive(Clone, Debug, Default)]
struct LimitEdge {
    /// Of the limit in thousandths.
    mean: Mean,
    /// The limit last reported, and when.
    reported: Option<(u32, Duration)>,
    /// The limit at the last look, and the decision that was seen with its last move.
    moved: Option<(u32, Reason)>,
}

impl LimitEdge {
    fn see(
        &mut self,
        seen: &LimiterLook,
        now: Duration,
        passed: Duration,
        emit: &mut impl FnMut(Edge),
    ) {
        let Some((from, at)) = self.reported else {
            self.mean.set(seen.limit);
            self.reported = Some((seen.limit, now));
            self.moved = Some((seen.limit, seen.reason));
            return;
        };
        if self.moved.is_none_or(|(limit, _)| limit != seen.limit) {
            self.moved = Some((seen.limit, seen.reason));
        }
        // What somebody set holds from then on; what a law does, when it has held for a while.
        let by_hand = seen.reason == Reason::SetByHand && seen.limit != from;
        if by_hand {
            self.mean.set(seen.limit);
        } else {
            self.mean.add(seen.limit, passed, LIMIT_OVER);
        }
        let to = self.mean.get();
        let far = u64::from(to.abs_diff(from)) * 4 >= u64::from(from);
        let due = now.saturating_sub(at) >= LIMIT_EVERY;
        if to != from && !seen.closed && (by_hand || far && due) {
            self.reported = Some((to, now));
            let reason = self.moved.map_or(seen.reason, |(_, reason)| reason);
            emit(Edge::LimitMoved { from, to, reason });
        }
    }
}

/// A mean over the time since, in which what is older counts for less.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    /// Times 2^16.
    value: u64,
}

impl Mean {
    fn set(&mut self, value: u32) {
        self.value = u64::from(value) << 16;
    }

    /// The value was this for the time that `passed`.
    fn add(&mut self, value: u32, passed: Duration, over: Duration) {
        let (passed, over) = (passed.as_micros(), over.as_micros());
        let (old, new) = (u128::from(self.value), u128::from(value) << 16);
        // Both sides are below 2^48 and 2^71: nothing overflows.
        let passed = passed.min(1 << 48);
        let mean = (old * over + new * passed) / (over + passed).max(1);
        self.value = u64::try_from(mean).unwrap_or(u64::MAX);
    }

    const fn get(&self) -> u32 {
        // Rounded; below 2^32 plus a half.
        ((self.value + (1 << 15)) >> 16) as u32
    }
}

#[cfg(test)]
mod tests;
