//! Saved records: any bytes give an error or what was saved, and a dependency that works.

use crate::input::Input;
use core::time::Duration;
use limiter_core::law::Aimd;
use limiter_core::{
    CallOptions, Config, Dependency, DependencyConfig, Journal, Record, Step, TickRate, Timestamp,
    Tokens,
};

const RATE: TickRate = TickRate::MILLIS;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let now = Timestamp::from_ticks(input.odd());
    let asleep = Duration::from_millis(input.odd());
    let dependency: Dependency<Aimd> = Dependency::new(
        Config::new(Aimd::new(), RATE).max(50),
        DependencyConfig::new(RATE),
    );
    let (changed, at) = (input.upto(40) as usize, input.upto(255) as u8);
    let mut bytes = dependency.save(now).to_bytes().to_vec();
    if input.any() {
        // One that is nearly right.
        if let Some(byte) = bytes.get_mut(changed) {
            *byte ^= at;
        }
        let length = input.upto(40) as usize;
        bytes.truncate(length);
    } else {
        bytes = input.rest().to_vec();
    }
    let read = Record::from_bytes(&bytes);
    if let Ok(record) = &read {
        assert_eq!(record.to_bytes().as_slice(), bytes.as_slice());
    }
    let restored = dependency.restore(&bytes, asleep, now);
    assert_eq!(restored.is_ok(), read.is_ok());
    let limit = dependency.limiter().snapshot().limit;
    assert!((1..=50).contains(&limit), "{limit}");
    let balance = dependency.budget().balance(now);
    assert!(balance <= Tokens::whole(10), "{balance:?}");
    if restored.is_err() {
        assert!(balance <= Tokens::ONE, "damage left {balance:?}");
    }
    let mut call = dependency.call(now, CallOptions::new());
    assert_ne!(call.step(now, 0), Step::Done);

    let half = bytes.len() / 2;
    let (mut journal, found) = Journal::open(&bytes[..half], &bytes[half..]);
    let _ = found;
    let (_, written) = journal.write(dependency.save(now));
    assert!(Record::from_bytes(&written).is_ok());
}
