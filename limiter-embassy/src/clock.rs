//! `embassy_time` as the core sees time.

use core::time::Duration;
use embassy_time::{Instant, TICK_HZ};
use limiter_core::law::WALL_SECONDS;
use limiter_core::{TickRate, Ticks, Timestamp};

/// The tick of `embassy_time`, which the final binary chose.
pub const RATE: TickRate = {
    assert!(
        TICK_HZ <= u32::MAX as u64,
        "the tick rate of embassy-time is above 2^32 - 1 Hz"
    );
    match TickRate::hz(TICK_HZ as u32) {
        Ok(rate) => rate,
        Err(error) => error.fail(),
    }
};

pub(crate) fn now() -> Timestamp {
    Timestamp::from_ticks(Instant::now().as_ticks())
}

/// What to add to `now` for the time since the Unix epoch, modulo [`WALL_SECONDS`], when that clock's next
/// whole multiple comes after `to_next`. No division of 64 bits: that routine alone is a kilobyte.
pub(crate) fn wall_offset(now: Timestamp, to_next: embassy_time::Duration) -> Ticks {
    const { assert!(WALL_SECONDS.is_power_of_two()) };
    let next = RATE.duration(Ticks::new(now.ticks().saturating_add(to_next.as_ticks())));
    let into = Duration::new(
        next.as_secs() & u64::from(WALL_SECONDS - 1),
        next.subsec_nanos(),
    );
    let cycle = RATE.ticks(Duration::from_secs(WALL_SECONDS as u64));
    Ticks::new(cycle.get().saturating_sub(RATE.ticks(into).get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_offset_leads_to_a_whole_multiple_of_the_cycle_when_it_was_said_to_come() {
        let cycle = u64::from(WALL_SECONDS) * TICK_HZ;
        for now in [0, 1, TICK_HZ - 1, cycle, 17 * cycle + 12_345, u64::MAX / 2] {
            for to_next in [0, 1, TICK_HZ / 3, cycle - 1, cycle, 5 * cycle + 7] {
                let offset = wall_offset(
                    Timestamp::from_ticks(now),
                    embassy_time::Duration::from_ticks(to_next),
                );
                assert!(offset.get() <= cycle, "{now} {to_next}");
                let then = u128::from(now) + u128::from(to_next) + u128::from(offset.get());
                assert_eq!(then % u128::from(cycle), 0, "{now} {to_next}");
            }
        }
        let far = embassy_time::Duration::MAX;
        assert!(wall_offset(Timestamp::from_ticks(u64::MAX), far).get() <= cycle);
    }
}
