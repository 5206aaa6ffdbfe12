//! What outlives a restart, and what a restart may not do.

#![cfg(not(limiter_loom))]

use core::time::Duration;
use limiter_core::law::Aimd;
use limiter_core::{
    BreakerConfig, BreakerState, BudgetConfig, CallOptions, Config, Dependency, DependencyConfig,
    Ending, GiveUp, Journal, Place, Record, RecordError, Step, TickRate, Ticks, Timestamp, Tokens,
};
use proptest::prelude::*;

const RATE: TickRate = TickRate::MILLIS;
const WORD: u32 = u32::MAX;
const AWAKE: Duration = Duration::ZERO;

fn at(millis: u64) -> Timestamp {
    Timestamp::from_ticks(millis)
}

fn config() -> DependencyConfig {
    DependencyConfig::new(RATE)
        .throttle(None)
        .breaker(BreakerConfig::new().consecutive(Some(1)).probes(1))
}

fn fresh() -> Dependency<Aimd> {
    with(config())
}

fn with(config: DependencyConfig) -> Dependency<Aimd> {
    Dependency::new(Config::new(Aimd::new(), RATE).initial(8), config)
}

fn balance(dependency: &Dependency<Aimd>, now: u64) -> u32 {
    dependency.budget().balance(at(now)).get()
}

/// Sends one attempt, after the wait that the first call of a life makes; leaves it unsettled.
fn send(dependency: &Dependency<Aimd>, mut now: u64) -> Result<u64, GiveUp> {
    let mut call = dependency.call(at(now), CallOptions::new());
    loop {
        match call.step(at(now), WORD) {
            Step::Attempt(_) => {
                core::mem::forget(call);
                return Ok(now);
            }
            Step::Wait(until) => now = until.ticks(),
            Step::GiveUp(why) => return Err(why),
            other => panic!("{other:?}"),
        }
    }
}

fn fail(dependency: &Dependency<Aimd>, now: u64) {
    let mut call = dependency.call(at(now), CallOptions::new());
    let Step::Attempt(first) = call.step(at(now), WORD) else {
        panic!("the breaker is closed");
    };
    call.finish(first.number, Ending::failure(), at(now), WORD);
}

#[test]
fn limit_budget_and_breaker_are_as_they_were() {
    let before = fresh();
    before.limiter().set_limit(33, at(0)).unwrap();
    before
        .budget()
        .withdraw(Tokens::milli(2_345), at(0))
        .unwrap();
    fail(&before, 0);
    let bytes = before.save(at(1_000)).to_bytes();
    assert!(bytes.len() <= 32);

    let after = fresh();
    // Another clock, that starts anew.
    after.restore(&bytes, AWAKE, at(7)).unwrap();
    assert_eq!(after.limiter().snapshot().limit, 33);
    assert_eq!(balance(&after, 7), balance(&before, 1_000));
    assert_eq!(
        after.breaker(at(7)),
        BreakerState::Open {
            left: Ticks::new(4_000)
        }
    );
}

#[test]
fn the_time_asleep_fills_the_floor_and_passes_for_the_breaker() {
    let before = fresh();
    before.budget().withdraw(Tokens::whole(10), at(0)).unwrap();
    fail(&before, 0);
    let bytes = before.save(at(0)).to_bytes();
    let (awake, slept) = (fresh(), fresh());
    awake.restore(&bytes, AWAKE, at(0)).unwrap();
    slept
        .restore(&bytes, Duration::from_secs(30), at(0))
        .unwrap();
    assert_eq!(balance(&awake, 0), 100);
    assert!((3_099..=3_100).contains(&balance(&slept, 0)));
    assert_eq!(slept.breaker(at(0)), BreakerState::HalfOpen);
    assert!(matches!(awake.breaker(at(0)), BreakerState::Open { .. }));
}

#[test]
fn values_of_another_configuration_are_clamped_to_this_one() {
    let before = fresh();
    before.limiter().set_limit(900, at(0)).unwrap();
    let bytes = before.save(at(0)).to_bytes();
    let small = BudgetConfig::new().capacity(Tokens::whole(2));
    let after: Dependency<Aimd> = Dependency::new(
        Config::new(Aimd::new(), RATE).max(50),
        config().budget(small),
    );
    after.restore(&bytes, AWAKE, at(0)).unwrap();
    assert_eq!(after.limiter().snapshot().limit, 50);
    assert_eq!(balance(&after, 0), 2_000);
}

#[test]
fn what_is_no_record_is_an_error_and_leaves_the_floor_only() {
    let good = fresh().save(at(0)).to_bytes();
    let mut damaged = good;
    damaged[9] ^= 4;
    let mut torn = good;
    torn[12..].fill(0xff);
    let mut future = good;
    future[1] = 9;
    let body = future.len() - 4;
    // With the checksum that the future's release would write.
    let sum = crc(&future[..body]);
    future[body..].copy_from_slice(&sum.to_le_bytes());
    for (bytes, error) in [
        (&[0; 24][..], RecordError::Blank),
        (&[0xff; 24], RecordError::Blank),
        (&damaged, RecordError::Damaged),
        (&torn, RecordError::Damaged),
        (&future, RecordError::Version(9)),
        (&good[..23], RecordError::Short),
        (&[], RecordError::Short),
    ] {
        let dependency = fresh();
        assert_eq!(
            dependency.restore(bytes, Duration::from_secs(3_600), at(0)),
            Err(error)
        );
        assert_eq!(balance(&dependency, 0), 0);
        assert!(
            (999..=1_000).contains(&balance(&dependency, 10_000)),
            "the floor"
        );
        assert_eq!(dependency.limiter().snapshot().limit, 8);
        assert_eq!(dependency.breaker(at(0)), BreakerState::Closed);
    }
}

/// CRC-32 from its definition.
fn crc(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

#[test]
fn an_attempt_on_its_way_at_the_reset_makes_the_next_first_attempt_a_withdrawal() {
    let before = fresh();
    send(&before, 0).unwrap();
    let record = before.save(at(0));
    assert!(record.unsettled());
    let after = fresh();
    after.restore(&record.to_bytes(), AWAKE, at(0)).unwrap();
    let sent = send(&after, 0).unwrap();
    assert!(sent > 0, "it waits for a random part of the base first");
    assert!((8_999..=9_200).contains(&balance(&after, sent)));
    // Once.
    send(&after, sent).unwrap();
    assert!(balance(&after, sent) >= 9_000);
}

#[test]
fn a_debt_that_a_life_did_not_pay_is_the_next_ones() {
    let before = fresh();
    send(&before, 0).unwrap();
    let mut bytes = before.save(at(0)).to_bytes();
    for _ in 0..5 {
        // Lives that end before their first attempt.
        let record = fresh().restore(&bytes, AWAKE, at(0)).unwrap();
        assert!(record.unsettled());
        bytes = record.to_bytes();
    }
}

#[test]
fn a_loop_of_crashes_is_held_to_the_floor() {
    let mut kept = [[0xff; Record::SIZE]; 2];
    let (mut attempts, mut time) = (0, 0);
    for _ in 0..2_000 {
        // Each life lasts until its first attempt, or a second when none is allowed.
        let (mut journal, found) = Journal::open(&kept[0], &kept[1]);
        let dependency = fresh();
        let _ = dependency.revive(found, AWAKE, at(0));
        let lived = match send(&dependency, 0) {
            Ok(now) => {
                attempts += 1;
                now
            }
            Err(GiveUp::Exhausted(_)) => 1_000,
            Err(other) => panic!("{other:?}"),
        };
        let (place, bytes) = journal.write(dependency.save(at(lived)));
        kept[usize::from(place == Place::B)] = bytes;
        time += lived;
    }
    // The first life found no record and no budget; after it there is a token in 10 s.
    let most = 1 + time / 10_000 + 1;
    assert!(attempts <= most, "{attempts} attempts in {time} ms");
    assert!(attempts >= most - 3);
}

#[test]
fn a_breaker_restored_open_again_and_again_gets_a_lease_in_the_end() {
    // Lives of 100 ms, an open time of an hour, no idea how long it slept.
    let hour = Duration::from_secs(3_600);
    let breaker = BreakerConfig::new().consecutive(Some(1)).open(hour, hour);
    let before = with(config().breaker(breaker));
    fail(&before, 0);
    let mut bytes = before.save(at(0)).to_bytes();
    for life in 0.. {
        assert!(life < 30, "locked out");
        let dependency = with(config().breaker(breaker));
        // Only what `restore` gave back is saved: nothing else happens in such a life.
        bytes = dependency.restore(&bytes, AWAKE, at(0)).unwrap().to_bytes();
        if send(&dependency, 100).is_ok() {
            break;
        }
    }
}

#[test]
fn a_half_open_breaker_comes_back_half_open_without_the_leases_that_are_lost() {
    let before = fresh();
    fail(&before, 0);
    send(&before, 6_000).unwrap();
    let after = fresh();
    after
        .restore(&before.save(at(6_000)).to_bytes(), AWAKE, at(0))
        .unwrap();
    assert_eq!(after.breaker(at(0)), BreakerState::HalfOpen);
    assert!(send(&after, 0).is_ok());
}

#[test]
fn a_save_that_a_reset_tears_loses_only_itself() {
    let dependency = fresh();
    let mut kept = [[0xff; Record::SIZE]; 2];
    let (mut journal, _) = Journal::open(&kept[0], &kept[1]);
    for round in 0..20u32 {
        dependency.limiter().set_limit(10 + round, at(0)).unwrap();
        let (place, bytes) = journal.write(dependency.save(at(0)));
        let index = usize::from(place == Place::B);
        // At every byte.
        for torn in 0..bytes.len() {
            let mut cut = kept;
            cut[index][..torn].copy_from_slice(&bytes[..torn]);
            let (mut next, found) = Journal::open(&cut[0], &cut[1]);
            if let Ok(found) = found {
                assert!(found.sequence() >= round);
                // Whatever it found is not what it writes over.
                let (place, _) = next.write(found);
                let other = cut[usize::from(place == Place::A)];
                assert_eq!(Record::from_bytes(&other), Ok(found));
            } else {
                assert_eq!(round, 0);
            }
        }
        kept[index] = bytes;
        let (reopened, found) = Journal::open(&kept[0], &kept[1]);
        assert_eq!((reopened, found.unwrap().sequence()), (journal, round + 1));
    }
}

#[test]
fn a_record_of_another_version_in_either_place_is_an_error() {
    let (mut journal, _) = Journal::open(&[], &[]);
    let (_, good) = journal.write(fresh().save(at(0)));
    let mut future = good;
    future[1] = 2;
    let body = future.len() - 4;
    let sum = crc(&future[..body]);
    future[body..].copy_from_slice(&sum.to_le_bytes());
    for (a, b) in [(good, future), (future, good), (future, future)] {
        let (_, found) = Journal::open(&a, &b);
        assert_eq!(found, Err(RecordError::Version(2)));
    }
    let (_, found) = Journal::open(&[0; 24], &[7; 24]);
    assert_eq!(found, Err(RecordError::Damaged));
}

proptest! {
    #[test]
    fn any_bytes_are_a_record_or_an_error_and_leave_it_usable(
        bytes in prop::collection::vec(any::<u8>(), 0..64),
        asleep in any::<u64>(),
        now in any::<u64>(),
    ) {
        let dependency = fresh();
        let found = dependency.restore(&bytes, Duration::from_secs(asleep), at(now));
        prop_assert_eq!(found.is_ok(), Record::from_bytes(&bytes).is_ok());
        prop_assert!(dependency.limiter().admit(at(now)).is_ok());
    }

    #[test]
    fn any_record_with_a_right_checksum_is_clamped_to_what_works(
        head in any::<[u8; 2]>(),
        words in any::<[u32; 4]>(),
        asleep in any::<u64>(),
        now in any::<u64>(),
    ) {
        let mut bytes = vec![0x6c, 1, head[0], head[1]];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(crc(&bytes).to_le_bytes());
        let dependency = fresh();
        dependency.restore(&bytes, Duration::from_millis(asleep), at(now)).unwrap();
        let seen = dependency.snapshot(at(now));
        prop_assert!((1..=1_000).contains(&seen.limiter.limit));
        prop_assert!(seen.balance <= seen.capacity);
        if let BreakerState::Open { left } = seen.breaker {
            prop_assert!(left <= Ticks::new(60_000));
        }
    }

    #[test]
    fn one_flipped_bit_is_always_seen(byte in 0usize..24, bit in 0u32..8) {
        let mut bytes = fresh().save(at(0)).to_bytes();
        bytes[byte] ^= 1 << bit;
        prop_assert!(Record::from_bytes(&bytes).is_err());
    }
}
