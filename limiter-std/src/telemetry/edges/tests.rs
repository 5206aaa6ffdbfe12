use super::*;

/// Looks ten times a second, and what came of it.
#[derive(Default)]
struct Looks {
    edges: Edges,
    now: Duration,
    refused: usize,
    watched: usize,
    uncovered: usize,
    heard: Vec<(u64, Edge)>,
}

impl Looks {
    fn look(&mut self, look: Look) {
        let at = self.now.as_millis() as u64;
        let heard = &mut self.heard;
        let look = Look {
            now: self.now,
            refused: self.refused,
            watched: self.watched,
            watched_reason: "partition_full",
            uncovered: self.uncovered,
            reason: "at_limit",
            by_limit: look.limiter.is_some_and(|seen| !seen.closed),
            ..look
        };
        self.edges.see(look, &mut |edge| heard.push((at, edge)));
        self.now += Duration::from_millis(100);
    }

    /// So many looks at a limiter, with so much in flight and so many refused between two.
    fn limiter(&mut self, looks: u32, (inflight, limit): (u32, u32), refused: usize) {
        for _ in 0..looks {
            self.refused = self.refused.wrapping_add(refused);
            let limiter = Some(LimiterLook {
                nearly_full: inflight >= limit,
                ..limiter(inflight, limit)
            });
            self.look(Look {
                limiter,
                ..Look::default()
            });
        }
    }

    fn names(&self) -> Vec<&'static str> {
        self.heard.iter().map(|(_, edge)| edge.name()).collect()
    }
}

fn limiter(inflight: u32, limit: u32) -> LimiterLook {
    let utilisation = (u64::from(inflight) * 1_000).checked_div(limit.into());
    LimiterLook {
        limit,
        inflight,
        peak: 0,
        idle: 0,
        // More than all of it, where the limit shrank.
        utilisation: u32::try_from(utilisation.unwrap_or(1_000)).unwrap_or(u32::MAX),
        waiting: 0,
        nearly_full: false,
        closed: false,
        reason: Reason::HeldSteady,
    }
}

#[test]
fn a_quiet_limiter_has_no_edges() {
    let mut looks = Looks::default();
    looks.limiter(1_000, (3, 10), 0);
    assert_eq!(looks.names(), [""; 0]);
}

#[test]
fn an_overload_is_told_once_for_each_of_its_steps_and_once_when_it_is_over() {
    let mut looks = Looks::default();
    looks.limiter(10, (3, 10), 0);
    looks.limiter(5, (10, 10), 0);
    looks.limiter(600, (10, 10), 100);
    looks.limiter(100, (3, 10), 0);
    let expected = ["queue_building", "shedding", "saturated", "recovered"];
    assert_eq!(looks.names(), expected);
    let [building, shedding, _, recovered] = looks.heard[..] else {
        panic!("{:?}", looks.heard)
    };
    assert_eq!(
        (building.0, shedding.0),
        (1_000, 1_500),
        "the queue comes first"
    );
    assert!(
        matches!(recovered.1, Edge::Recovered { refused: 60_000, lasted, .. } if lasted.as_secs() == 61),
        "{recovered:?}"
    );
}

#[test]
fn somebody_who_waits_is_a_queue_whatever_the_limit() {
    let mut looks = Looks::default();
    let waits = LimiterLook {
        waiting: 3,
        ..limiter(2, 100)
    };
    looks.look(Look {
        limiter: Some(waits),
        ..Look::default()
    });
    let queue = Edge::QueueBuilding {
        waiting: 3,
        inflight: 2,
        idle: 0,
        limit: 100,
    };
    assert_eq!(looks.heard, [(0, queue)]);
}

#[test]
fn refusals_that_stop_and_come_again_are_not_told_each_time() {
    let mut looks = Looks::default();
    // One refusal in three seconds, for an hour.
    for _ in 0..1_200 {
        looks.limiter(1, (3, 10), 1);
        looks.limiter(29, (3, 10), 0);
    }
    assert!(looks.heard.len() < 20, "{:?}", looks.names());
}

#[test]
fn a_mean_below_the_limit_is_not_saturated_whatever_its_peaks() {
    let mut looks = Looks::default();
    for _ in 0..100 {
        looks.limiter(5, (10, 10), 0);
        looks.limiter(5, (2, 10), 0);
    }
    assert!(!looks.names().contains(&"saturated"), "{:?}", looks.names());
    assert!((450..750).contains(&looks.edges.utilisation()));
}

#[test]
fn utilisation_is_all_of_it_where_the_limit_shrank_below_what_is_in_flight_or_was_closed() {
    for shrunk in [(50, 10), (3, 0)] {
        let mut looks = Looks::default();
        looks.limiter(2_000, shrunk, 0);
        assert_eq!(looks.edges.utilisation(), 1_000, "{shrunk:?}");
    }
}

#[test]
fn the_steps_by_which_a_law_measures_are_not_told_and_a_move_of_the_limit_is() {
    let mut looks = Looks::default();
    for phase in 0..200 {
        looks.limiter(5, (0, [12, 8][phase % 2]), 0);
    }
    assert_eq!(looks.names(), [""; 0]);
    looks.limiter(300, (0, 40), 0);
    assert!((1..=5).contains(&looks.heard.len()), "{:?}", looks.heard);
    let mut limit = 10;
    for (_, edge) in &looks.heard {
        let Edge::LimitMoved { from, to, .. } = *edge else {
            panic!("{edge:?}")
        };
        assert!((9..=12).contains(&from) || from == limit, "{edge:?}");
        limit = to;
    }
    assert!((32..=40).contains(&limit), "{limit}");
}

#[test]
fn a_limit_set_by_hand_is_told_at_once() {
    let mut looks = Looks::default();
    looks.limiter(1, (0, 10), 0);
    let set = LimiterLook {
        reason: Reason::SetByHand,
        ..limiter(0, 11)
    };
    looks.look(Look {
        limiter: Some(set),
        ..Look::default()
    });
    let moved = Edge::LimitMoved {
        from: 10,
        to: 11,
        reason: Reason::SetByHand,
    };
    assert_eq!(looks.heard, [(100, moved)]);
}

#[test]
fn a_breaker_is_told_as_it_changes_and_what_was_open_before_the_first_look_too() {
    let mut looks = Looks::default();
    use BreakerLook::{Closed, HalfOpen, Open};
    for breaker in [Open, Open, HalfOpen, Closed, Closed] {
        looks.look(Look {
            breaker: Some(breaker),
            ..Look::default()
        });
    }
    let expected = ["breaker_opened", "breaker_half_open", "breaker_closed"];
    assert_eq!(looks.names(), expected);
}

#[test]
fn an_empty_budget_is_told_by_its_balance_or_by_a_retry_that_it_did_not_cover() {
    for (covers, uncovered) in [(false, 0), (true, 1)] {
        let mut looks = Looks::default();
        let full = Look {
            covers: Some(true),
            ..Look::default()
        };
        looks.look(full);
        looks.uncovered += uncovered;
        looks.look(Look {
            covers: Some(covers),
            ..full
        });
        assert_eq!(looks.names(), ["budget_empty"]);
        for _ in 0..20 {
            looks.look(full);
        }
        assert_eq!(looks.names(), ["budget_empty", "budget_covers"]);
    }
}

#[test]
fn closing_is_told_once_and_is_no_queue() {
    let mut looks = Looks::default();
    let closed = LimiterLook {
        closed: true,
        nearly_full: true,
        ..limiter(0, 0)
    };
    for _ in 0..50 {
        looks.look(Look {
            limiter: Some(closed),
            ..Look::default()
        });
    }
    assert_eq!(looks.names(), ["closed"]);
}

#[test]
fn counters_that_wrap_and_clocks_that_jump_break_nothing() {
    let mut looks = Looks {
        refused: usize::MAX - 5,
        ..Looks::default()
    };
    looks.limiter(3, (u32::MAX, u32::MAX), 2);
    assert!(looks.names().contains(&"shedding"));
    for now in [Duration::MAX, Duration::ZERO, Duration::from_secs(1 << 40)] {
        let mut edges = looks.edges.clone();
        let limiter = Some(limiter(u32::MAX, 1));
        let look = Look {
            now,
            limiter,
            ..Look::default()
        };
        edges.see(look, &mut |_| ());
        assert!(edges.utilisation() <= 1_000);
    }
}

#[test]
fn a_limit_that_was_nearly_reached_is_told_with_the_most_that_was_in_flight_and_is_no_queue() {
    let mut looks = Looks::default();
    let peak = LimiterLook {
        peak: 19,
        idle: 1,
        nearly_full: true,
        ..limiter(2, 20)
    };
    looks.look(Look {
        limiter: Some(peak),
        ..Look::default()
    });
    let said: Vec<_> = looks
        .heard
        .iter()
        .map(|(_, edge)| edge.to_string())
        .collect();
    let idle = "1 idle of what is guaranteed to partitions";
    let told = format!("limit nearly reached: 19 in flight, {idle}, limit 20");
    assert_eq!(said, [told]);
}

/// Looks at one that watches or does not, of which so many were let through or refused between two.
fn watching(looks: &mut Looks, times: u32, watches_only: bool, count: usize) {
    for _ in 0..times {
        if watches_only {
            looks.watched += count;
        } else {
            looks.refused += count;
        }
        looks.look(Look {
            limiter: Some(limiter(3, 10)),
            watches_only,
            ..Look::default()
        });
    }
}

#[test]
fn what_is_let_through_is_another_edge_than_what_is_refused() {
    let mut looks = Looks::default();
    watching(&mut looks, 5, true, 2);
    assert_eq!(looks.names(), ["watching", "queue_building", "would_shed"]);
    let would = looks.edges.holds();
    assert!(would.would_shed && !would.shedding);
    assert!(
        !looks
            .heard
            .iter()
            .any(|(_, edge)| edge.name() != "queue_building" && edge.is_bad())
    );
    watching(&mut looks, 20, true, 0);
    let said = looks.heard.last().unwrap().1.to_string();
    assert_eq!(said, "recovered: would have refused 10 in 1.4s and stopped");
    assert!(!looks.edges.holds().would_shed);
}

#[test]
fn one_that_is_switched_in_an_overload_says_so_and_counts_both_apart() {
    let mut looks = Looks::default();
    watching(&mut looks, 10, true, 3);
    watching(&mut looks, 10, false, 5);
    watching(&mut looks, 40, false, 0);
    let expected = [
        "watching",
        "queue_building",
        "would_shed",
        "enforcing",
        "shedding",
        "recovered",
    ];
    assert_eq!(looks.names(), expected);
    let said = looks.heard.last().unwrap().1.to_string();
    assert!(
        said.starts_with(
            "recovered: refused 50, and would have refused 30 while it only watched, in "
        ),
        "{said}"
    );
    // And back: what is over is not counted again.
    watching(&mut looks, 1, true, 7);
    watching(&mut looks, 100, true, 0);
    let said = looks.heard.last().unwrap().1.to_string();
    assert!(
        said.starts_with("recovered: would have refused 7 in "),
        "{said}"
    );
}

#[test]
fn a_closed_one_says_so_before_it_refuses_and_switches_no_more() {
    let mut looks = Looks::default();
    watching(&mut looks, 1, true, 0);
    let closed = LimiterLook {
        closed: true,
        ..limiter(0, 0)
    };
    looks.refused += 1;
    looks.look(Look {
        limiter: Some(closed),
        watches_only: false,
        ..Look::default()
    });
    assert_eq!(looks.names(), ["watching", "closed", "shedding"]);
}

#[test]
fn a_dependency_that_refuses_is_told_once_and_when_it_does_no_more() {
    let mut looks = Looks::default();
    for there in [0, 1, 2, 3] {
        looks.look(Look {
            there,
            ..Look::default()
        });
    }
    assert!(looks.edges.holds().dependency_refuses);
    for _ in 0..20 {
        looks.look(Look {
            there: 3,
            ..Look::default()
        });
    }
    assert_eq!(looks.names(), ["dependency_refuses", "dependency_accepts"]);
}
