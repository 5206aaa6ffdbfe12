//! What a monitor looks at. Limiters and dependencies are held weakly: watching one keeps nothing alive.

use super::alarm::{Alarm, Bell, PRESSURE};
use super::edges::{BreakerLook, LimiterLook, Look};
use super::{BudgetSeen, DependencySeen, LimiterSeen, Seen};
use crate::clock::{Clock, RATE};
use crate::dependency::Shared as DependencyShared;
use crate::shared::{Lane, Shared};
use crate::{Breaker, Budget, DependencyCounts};
use core::time::Duration;
use limiter_core::law::Law;
use limiter_core::{BreakerState, Priority, Timestamp, Tokens};
use std::sync::{Arc, Weak};

/// Something that is looked at.
pub(super) trait Source: Send {
    /// What it looks like; `None` when it is gone.
    fn look(&mut self) -> Option<(Look, Seen)>;

    /// Does this with its alarm, if it has one.
    fn alarm(&self, _: &dyn Fn(&Alarm)) {}

    /// What is to call from now on, before the next look is due.
    fn arm(&self, what: u8) {
        self.alarm(&|alarm| alarm.arm(what));
    }

    fn connect(&self, bell: &Arc<Bell>) {
        self.alarm(&|alarm| alarm.connect(bell));
    }
}

/// A limiter or the limiter of a dependency, and what was counted at the last look.
pub(super) struct Limited<A> {
    lane: Weak<A>,
    refused: Vec<usize>,
    watched: Vec<usize>,
    /// How many had got a slot.
    admitted: usize,
    cuts: Option<u16>,
    all_cuts: usize,
}

impl<A: Lane> Limited<A> {
    pub(super) const fn new(lane: Weak<A>) -> Self {
        Self {
            lane,
            refused: Vec::new(),
            watched: Vec::new(),
            admitted: 0,
            cuts: None,
            all_cuts: 0,
        }
    }

    fn with_alarm(&self, act: &dyn Fn(&Alarm)) {
        if let Some(lane) = self.lane.upgrade() {
            act(lane.alarm());
        }
    }

    fn look_at(&mut self, lane: &A, admitted: usize) -> (LimiterLook, LimiterSeen) {
        let (snapshot, now) = (lane.snapshot(), lane.clock().now());
        // Without the lock where nobody waits.
        let (mut waiting, mut oldest) = (0, Duration::ZERO);
        if snapshot.waiting {
            for class in Priority::ALL {
                let (len, age, _) = lane.waiters().class(class, now);
                waiting += len;
                oldest = oldest.max(RATE.duration(age));
            }
        }
        // A window that nobody ends stays open: its peak would be shown for ever.
        let idle = admitted == core::mem::replace(&mut self.admitted, admitted);
        let peak = if idle {
            snapshot.inflight
        } else {
            snapshot.inflight_peak
        };
        let new = snapshot
            .cuts
            .wrapping_sub(self.cuts.unwrap_or(snapshot.cuts));
        self.cuts = Some(snapshot.cuts);
        self.all_cuts = self.all_cuts.wrapping_add(new.into());
        let look = LimiterLook {
            limit: snapshot.limit,
            inflight: snapshot.inflight,
            peak: snapshot.inflight_peak,
            idle: snapshot.idle,
            utilisation: snapshot.utilisation(),
            waiting,
            // What was armed and is not any more has called.
            nearly_full: snapshot.is_nearly_full() || lane.alarm().has_called(PRESSURE),
            closed: snapshot.closed,
            reason: snapshot.reason,
        };
        let seen = LimiterSeen {
            snapshot,
            utilisation: 0,
            peak,
            waiting,
            oldest,
            rtt: RATE.duration(snapshot.usual_rtt),
            cuts: self.all_cuts,
        };
        (look, seen)
    }
}

/// Reasons for which somebody found no slot, and not no share or no such thing.
const FULL: [&str; 6] = [
    "at_limit",
    "partition_full",
    "waiters_ahead",
    "queue_full",
    "timed_out",
    "would_expire",
];

/// For what most were refused since what was counted before.
fn mostly(before: &mut Vec<usize>, now: &[(&'static str, usize)]) -> &'static str {
    before.resize(now.len(), 0);
    let mut most = ("", 0);
    for (before, (reason, count)) in before.iter_mut().zip(now) {
        let new = count.wrapping_sub(core::mem::replace(before, *count));
        if new > most.1 {
            most = (reason, new);
        }
    }
    most.0
}

impl<L: Law + Send + Sync, C: Clock> Source for Limited<Shared<L, C>> {
    fn look(&mut self) -> Option<(Look, Seen)> {
        let lane = self.lane.upgrade()?;
        let counts = lane.counters().read();
        let reason = mostly(&mut self.refused, &counts.refused.by_reason());
        let watched = lane.watched();
        let watched_reason = mostly(&mut self.watched, &watched.by_reason());
        let (limiter, seen) = self.look_at(&lane, counts.admitted);
        let look = Look {
            now: since_origin(lane.clock().now()),
            limiter: Some(limiter),
            refused: counts.refused.total(),
            reason,
            by_limit: FULL.contains(&reason) || FULL.contains(&watched_reason),
            watches_only: watched.on,
            watched: watched.all(),
            watched_reason,
            ..Look::default()
        };
        let seen = Seen {
            limiter: Some(seen),
            requests: Some(counts),
            partitions: lane.partitions(),
            watches_only: watched.on,
            watched: Some(watched),
            ..Seen::default()
        };
        Some((look, seen))
    }

    fn alarm(&self, act: &dyn Fn(&Alarm)) {
        self.with_alarm(act);
    }
}

impl<L: Law + Send + Sync, C: Clock> Source for Limited<DependencyShared<L, C>> {
    fn look(&mut self) -> Option<(Look, Seen)> {
        let lane = self.lane.upgrade()?;
        let (now, counts) = (lane.clock().now(), lane.counters.read());
        let all = refused(&counts);
        let by_limit = self.refused.first() != Some(&counts.refused_by_limiter);
        let reason = mostly(&mut self.refused, &all);
        let (limiter, seen) = self.look_at(&lane, counts.attempts);
        let state = lane.core.snapshot(now);
        let look = Look {
            now: since_origin(now),
            limiter: Some(limiter),
            breaker: Some(breaker(state.breaker)),
            covers: Some(state.balance >= Tokens::ONE),
            refused: all.iter().map(|(_, count)| count).sum(),
            reason,
            by_limit,
            there: counts.refused_by_dependency,
            uncovered: counts.refused_by_budget,
            ..Look::default()
        };
        let seen = Seen {
            limiter: Some(seen),
            dependency: Some(DependencySeen {
                counts,
                throttled: state.throttled,
                backing_off: state.backing_off,
                timeout: RATE.duration(state.timeout),
            }),
            breaker: Some(state.breaker),
            budget: Some(BudgetSeen {
                balance: state.balance,
                capacity: state.capacity,
            }),
            ..Seen::default()
        };
        Some((look, seen))
    }

    fn alarm(&self, act: &dyn Fn(&Alarm)) {
        self.with_alarm(act);
    }
}

impl<C: Clock> Source for Breaker<C> {
    fn look(&mut self) -> Option<(Look, Seen)> {
        let state = self.state();
        let look = Look {
            now: since_origin(self.now()),
            breaker: Some(breaker(state)),
            ..Look::default()
        };
        let seen = Seen {
            breaker: Some(state),
            ..Seen::default()
        };
        Some((look, seen))
    }
}

impl Source for Budget {
    fn look(&mut self) -> Option<(Look, Seen)> {
        let seen = BudgetSeen {
            balance: self.balance(),
            capacity: self.capacity(),
        };
        let look = Look {
            now: since_origin(self.now()),
            covers: Some(seen.balance >= Tokens::ONE),
            ..Look::default()
        };
        let seen = Seen {
            budget: Some(seen),
            ..Seen::default()
        };
        Some((look, seen))
    }
}

/// Attempts refused before they left, by what refused them.
pub(super) const fn refused(counts: &DependencyCounts) -> [(&'static str, usize); 3] {
    [
        ("limiter", counts.refused_by_limiter),
        ("breaker", counts.refused_by_breaker),
        ("throttle", counts.refused_by_throttle),
    ]
}

const fn breaker(state: BreakerState) -> BreakerLook {
    match state {
        BreakerState::Closed => BreakerLook::Closed,
        BreakerState::Open { .. } => BreakerLook::Open,
        BreakerState::HalfOpen => BreakerLook::HalfOpen,
    }
}

fn since_origin(now: Timestamp) -> Duration {
    now.since(Timestamp::default())
        .map_or(Duration::ZERO, |ticks| RATE.duration(ticks))
}
