//! Who is beyond its share, and what comes of it.

#[path = "callers/model.rs"]
mod model;

use limiter_core::law::Fixed;
use limiter_core::{
    Caller, Callers, Config, Guarantee, Limiter, Partitioned, Priority, Random, RejectReason,
    Request, Standing, TickRate, Timestamp,
};

type Table = Callers<256>;

fn table() -> Table {
    Callers::new(TickRate::MILLIS, 0x5eed)
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

/// A name that looks like nothing.
fn name(number: u64) -> Caller {
    Caller::new((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Lets every caller in `each` times in a second, for four seconds from `start`; returns the end.
fn used(table: &Table, callers: &[(Caller, u32)], start: u64) -> u64 {
    for round in 0..40 {
        for (caller, each) in callers {
            let now = at(start + round * 100);
            table.count(*caller, table.standing(*caller, now), *each, now);
        }
    }
    start + 4_000
}

#[test]
fn a_caller_with_ten_times_its_share_is_beyond_and_the_others_are_not() {
    let table = table();
    let mut callers: Vec<_> = (0..9).map(|number| (name(number), 10)).collect();
    callers.push((name(9), 100));
    let now = at(used(&table, &callers, 1_000));
    for (caller, each) in callers {
        let expected = if each == 100 {
            Standing::Beyond
        } else {
            Standing::Within
        };
        assert_eq!(table.standing(caller, now), expected);
    }
}

/// Of two threads that read their clocks at the turn of a period, the one that read it first may count last.
#[test]
fn a_clock_that_was_read_a_tick_earlier_makes_nobody_beyond_its_share() {
    let table = table();
    let callers: Vec<_> = (0..8).map(|number| (name(number), 20)).collect();
    let turn = used(&table, &callers, 6_000);
    table.count(name(0), Standing::Within, 1, at(turn));
    table.count(name(1), Standing::Within, 1, at(turn - 1));
    for (caller, _) in callers {
        assert_eq!(table.standing(caller, at(turn)), Standing::Within);
    }
}

/// Counts of a time that the clock left and came back to are not held against those that came since.
#[test]
fn a_clock_that_is_set_back_and_comes_back_makes_nobody_beyond_its_share() {
    for back in [40_000, 60_000, 3_600_000, 1 << 40] {
        let table = table();
        let then = (1 << 41) + 5_000;
        used(&table, &[(name(0), 20)], then - 4_000);
        table.count(name(1), Standing::Within, 1, at(then - back));
        table.count(name(1), Standing::Within, 1, at(then));
        assert_eq!(table.standing(name(0), at(then)), Standing::Within);
    }
}

/// Of thousands of millions of slots a second nobody can tell, and nobody is refused.
#[test]
fn shares_are_told_whatever_the_unit_of_weights_is_as_long_as_they_can_be() {
    for (each, expected) in [
        (20, Standing::Beyond),
        (20_000, Standing::Beyond),
        (2_000_000, Standing::Beyond),
        (200_000_000, Standing::Within),
    ] {
        let table = table();
        let mut callers: Vec<_> = (0..9).map(|number| (name(number), each)).collect();
        callers.push((name(9), 10 * each));
        let now = at(used(&table, &callers, 1_000));
        assert_eq!(table.standing(name(9), now), expected, "{each}");
        assert_eq!(table.standing(name(0), now), Standing::Within, "{each}");
    }
}

/// Ten that come at random, each with the same chance, for the same weight.
#[test]
fn callers_that_are_alike_by_chance_are_within_their_share_whatever_the_unit_of_weights_is() {
    for (weight, every) in [
        (1, 20),
        (10, 20),
        (100, 200),
        (1_000, 200),
        (100_000, 1_000),
    ] {
        let table = Callers::<1_024>::new(TickRate::MILLIS, 7);
        let random = Random::new(11);
        let (mut asked, mut beyond) = (0, 0);
        for now in (1..60_000).map(at) {
            for caller in (0..10).map(name) {
                if random.word() % every != 0 {
                    continue;
                }
                let standing = table.standing(caller, now);
                asked += 1;
                beyond += u32::from(standing != Standing::Within);
                table.count(caller, standing, weight, now);
            }
        }
        assert!(beyond * 100 < asked, "{weight}: {beyond} of {asked}");
    }
}

#[test]
fn a_caller_alone_and_callers_that_are_alike_are_within_their_share() {
    for count in [1, 2, 10, 60] {
        let table = table();
        let callers: Vec<_> = (0..count).map(|number| (name(number), 20)).collect();
        let now = at(used(&table, &callers, 1_000));
        let beyond = callers
            .iter()
            .filter(|(caller, _)| table.standing(*caller, now) != Standing::Within);
        assert_eq!(beyond.count(), 0, "of {count}");
    }
}

/// Also when there are as many callers as cells, or forty times as many: those that share their cells with a
/// heavy one, or with too many others, in all rows.
#[test]
fn of_callers_that_are_alike_at_most_one_in_a_hundred_is_taken_for_a_heavy_one() {
    for count in [100, 190, 256, 1_000, 10_000] {
        let table = table();
        let mut callers: Vec<_> = (0..count).map(|number| (name(number), 4)).collect();
        callers.push((name(count), 4 * count as u32));
        let now = at(used(&table, &callers, 1_000));
        let heavy = callers.pop().map(|(caller, _)| table.standing(caller, now));
        assert_eq!(heavy, Some(Standing::Beyond), "of {count}");
        let beyond = callers
            .iter()
            .filter(|(caller, _)| table.standing(*caller, now) != Standing::Within);
        let beyond = beyond.count() as u64;
        assert!(beyond * 100 <= count, "{beyond} of {count}");
    }
}

#[test]
fn what_a_caller_had_fades_and_rows_are_filled_anew_without_forgetting_who_is_heavy() {
    let table = table();
    let mut callers: Vec<_> = (0..9).map(|number| (name(number), 10)).collect();
    callers.push((name(9), 100));
    let mut now = 1_000;
    // Eleven turns of eight seconds.
    for _ in 0..22 {
        now = used(&table, &callers, now);
        assert_eq!(
            table.standing(name(9), at(now)),
            Standing::Beyond,
            "at {now}"
        );
        assert_eq!(
            table.standing(name(0), at(now)),
            Standing::Within,
            "at {now}"
        );
    }
    callers.pop();
    now = used(&table, &callers, now);
    assert_eq!(table.standing(name(9), at(now + 4_000)), Standing::Within);
}

#[test]
fn an_origin_that_gives_many_names_is_beyond_and_spoils_no_name() {
    let table = table();
    let honest = |number: u64| name(number).from(number + 1);
    let mut renamed = 100;
    let mut now = 0;
    while now < 8_000 {
        now += 100;
        for number in 0..9 {
            let standing = table.standing(honest(number), at(now));
            table.count(honest(number), standing, 10, at(now));
        }
        for _ in 0..100 {
            renamed += 1;
            let caller = name(renamed).from(77);
            table.count(caller, table.standing(caller, at(now)), 1, at(now));
        }
    }
    assert_eq!(
        table.standing(name(9_999).from(77), at(now)),
        Standing::OriginBeyond
    );
    for number in 0..9 {
        assert_eq!(table.standing(honest(number), at(now)), Standing::Within);
    }
}

#[test]
fn beyond_its_share_a_caller_leaves_a_fifth_of_the_limit_to_others_of_every_class() {
    let config = Config::new(Fixed, TickRate::MILLIS).initial(10).max(10);
    let limiter = Limiter::new(config);
    let table = table();
    let mut callers: Vec<_> = (0..9).map(|number| (name(number), 10)).collect();
    callers.push((name(9), 100));
    let now = at(used(&table, &callers, 1_000));
    let heavy = name(9);
    let critical = Request::new();
    let mut held: Vec<_> =
        core::iter::from_fn(|| table.admit(&limiter, critical, heavy, now).ok()).collect();
    assert_eq!(held.len(), 8);
    let refused = table.admit(&limiter, critical, heavy, now).unwrap_err();
    assert_eq!(refused.reason, RejectReason::OverShare);
    let interactive = critical.priority(Priority::Interactive);
    held.push(
        table
            .admit(&limiter, interactive, name(0), now)
            .expect("9 of 9"),
    );
    let refused = table
        .admit(&limiter, interactive, name(0), now)
        .unwrap_err();
    assert_eq!(refused.reason, RejectReason::ShareTaken);
    held.push(
        table
            .admit(&limiter, critical, name(0), now)
            .expect("10 of 10"),
    );
    for slot in held {
        let _ = limiter.release(slot);
    }
}

#[test]
fn all_rules_together_are_the_smallest_of_the_shares_on_the_own_slots_and_on_the_others() {
    let config = Config::new(Fixed, TickRate::MILLIS).initial(20).max(20);
    let store = Partitioned::new(config, [Guarantee::of(500)]);
    let table = table();
    let mut callers: Vec<_> = (0..9).map(|number| (name(number), 10)).collect();
    callers.push((name(9), 100));
    let now = at(used(&table, &callers, 1_000));
    let request = Request::new().partition(0).weight(2);
    for (caller, class, rooms) in [
        (name(9), Priority::Critical, 8),
        (name(9), Priority::BestEffort, 4),
        (name(0), Priority::Interactive, 8),
        (name(0), Priority::Critical, 10),
    ] {
        let request = request.priority(class);
        let held: Vec<_> =
            core::iter::from_fn(|| table.admit_to(&store, request, caller, now).ok()).collect();
        assert_eq!(held.len(), rooms, "{class:?}");
        for seat in held {
            let _ = store.release(seat);
        }
    }
}

#[test]
fn clocks_that_stand_still_step_back_or_wrap_are_borne() {
    let table = table();
    for ticks in [0, 0, u64::MAX, 5, u64::MAX / 2, 1 << 32, 1_000] {
        for number in 0..20 {
            let standing = table.standing(name(number), at(ticks));
            table.count(name(number), standing, u32::MAX, at(ticks));
        }
    }
}
