//! A retry budget: what was saved, in one word, beside what time has given.
//!
//! ```text
//! saved   what was deposited less what was withdrawn
//! brim    what `saved` is of a full budget, as of the last withdrawal
//! unit    the unit of time of that withdrawal; not in 32 bits, where memory counts for more
//! spare   the capacity less a token: what a budget may lack that a retry takes a token from
//! ratio   what a deposit adds
//! floor   see law/budget.rs; its spare bit is set while it changes
//! base    what `brim` would be had this floor been from the beginning of time, and time given nothing
//! ```
//!
//! All in milli-tokens, modulo 2³². The balance is `saved` and what time has given so far: up to now, or to the
//! last withdrawal where that is later. A full budget has `saved = capacity − given`; one that was full for some
//! time has more, and is brought there by whoever withdraws. That a deposit does not look at time changes
//! nothing: what comes in between two withdrawals is cut to the capacity at the second one, in whatever order it
//! came. `brim` only keeps deposits from adding for ever, and tells a full budget by two loads.
//!
//! Transitions: a deposit is one addition to `saved`, a withdrawal one compare-exchange of it; then `brim` and
//! `unit` follow, from the value that was seen. Whoever withdraws in the same unit finds `brim` as it would work it
//! out. A clock that was set back moves `brim` and `saved` by as much: whoever exchanges `brim` moves `saved`,
//! and until then others see less than there is. A change of the terms moves `base`, so that `brim` stays, and `saved`
//! to what the balance is beside it; who comes meanwhile lets time stand still.
//!
//! ```text
//! op                | success | failure | pairs with | why
//! saved: add,       | Relaxed | Relaxed | -          | tokens are only counted: the word's own modification order
//! exchange          |         |         |            | makes each spent once
//! saved, spare: load| Acquire | -       | set_terms  | who sees what it is of new terms sees no larger capacity
//! brim: exchange    | Relaxed | Relaxed | -          | a failure means that another was faster
//! unit: load        | Acquire | -       | unit: set  | who is in that unit sees the brim of it, and `saved` as it
//! unit: set         | Release | -       | unit: load | was cut to that
//! floor, base: load | Acquire | -       | set_terms  | who sees a new one sees that the terms are changing
//! set_terms         | Release | Relaxed | loads      | see above
//! restore           | Relaxed | -       | -          | before the first use
//! balance           | as the loads      | -          | a picture, stale at once
//! ```
//!
//! What remains: of two changes of the terms within one withdrawal, or two at once, it may take one's floor with
//! the other's base, and find the budget full. A floor that gives 2³¹ milli-tokens between two withdrawals looks
//! like a clock that was set back, and adds nothing for that time: 248 days at the default.

use super::sync::{AtomicU32, AtomicWord, Ordering, Word, const_unless_loom};
use super::word::{exchange, publish, update};
use crate::law::budget::{Floor, Posting, TOKEN, Terms, rescale};
use crate::time::Timestamp;

/// A bit that no floor has.
const CHANGING: u32 = Floor::SPARE;

/// How many units are kept: one, or none.
const UNITS: usize = (Word::BITS / 64) as usize;

/// A unit of time.
#[derive(Debug)]
struct Unit {
    /// Added to the time it is that since the unit began.
    since: AtomicWord,
    /// Ticks of a unit, less one.
    rest: Word,
}

impl Unit {
    const_unless_loom! {
        /// The first one there is.
        fn new(floor: Floor) -> Self {
            Self {
                since: AtomicWord::new(0),
                rest: floor.ticks(1).get() as Word - 1,
            }
        }
    }

    #[inline]
    fn has(&self, now: Timestamp) -> bool {
        // Acquire pairs with `set`.
        let since = self.since.load(Ordering::Acquire);
        since.wrapping_add(now.ticks() as Word) <= self.rest
    }

    #[inline]
    fn set(&self, now: Timestamp) {
        let now = now.ticks() as Word;
        let since = (now & self.rest).wrapping_sub(now);
        self.since.store(since, Ordering::Release);
    }
}

/// What is missing to a full budget.
#[inline]
const fn lack(saved: u32, brim: u32) -> u32 {
    let lack = brim.wrapping_sub(saved);
    if lack as i32 > 0 { lack } else { 0 }
}

/// What was saved, the terms, and what time had given before.
#[derive(Debug)]
pub(crate) struct Bucket {
    saved: AtomicU32,
    brim: AtomicU32,
    unit: [Unit; UNITS],
    spare: AtomicU32,
    ratio: AtomicU32,
    floor: AtomicU32,
    base: AtomicU32,
}

impl Bucket {
    const_unless_loom! {
        /// A full bucket.
        pub(crate) fn new(terms: Terms) -> Self {
            Self {
                saved: AtomicU32::new(terms.capacity),
                // That of the first unit: nothing was given by then.
                brim: AtomicU32::new(terms.capacity),
                unit: [Unit::new(terms.floor); UNITS],
                spare: AtomicU32::new(terms.spare()),
                ratio: AtomicU32::new(terms.ratio),
                floor: AtomicU32::new(terms.floor.0),
                base: AtomicU32::new(terms.capacity),
            }
        }
    }

    #[inline]
    pub(crate) fn capacity(&self) -> u32 {
        // Acquire pairs with `set_terms`.
        self.spare.load(Ordering::Acquire) + TOKEN
    }

    pub(crate) fn floor(&self) -> Floor {
        Floor(self.floor.load(Ordering::Relaxed) & !CHANGING)
    }

    /// The balance at `now`. Stores nothing.
    pub(crate) fn balance(&self, now: Timestamp) -> u32 {
        let saved = self.saved();
        let last = self.brim.load(Ordering::Relaxed);
        // Of a clock that was set back as of the last withdrawal, whichever clock it was by.
        let brim = self.brim(last, now).unwrap_or(last);
        self.capacity().saturating_sub(lack(saved, brim))
    }

    /// Adds the ratio, and returns the balance as of the last withdrawal: time is looked at by those only.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn deposit(&self) -> u32 {
        let brim = self.brim.load(Ordering::Relaxed);
        let saved = self.saved.load(Ordering::Relaxed);
        let capacity = self.spare.load(Ordering::Relaxed) + TOKEN;
        // By the sign alone, which the difference has anyway.
        if (saved.wrapping_sub(brim) as i32) >= 0 {
            return capacity;
        }
        // Beyond the brim by less than a ratio for each thread: what withdraws cuts it.
        let ratio = self.ratio.load(Ordering::Relaxed);
        let before = self.saved.fetch_add(ratio, Ordering::Relaxed);
        capacity.saturating_sub(lack(before.wrapping_add(ratio), brim))
    }

    /// Takes what `posting` says at `now`, or leaves everything as it is when the balance does not allow it.
    /// Returns the balance that is left, or the one that was too small.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn withdraw(&self, posting: Posting, now: Timestamp) -> Result<u32, u32> {
        match self.withdraw_again(posting, now) {
            Some(left) => Ok(left),
            None => self.withdraw_at_length(posting, now),
        }
    }

    /// Takes up to a token in the unit of the last withdrawal, since which time has given nothing; `None` when there
    /// is more to look at.
    #[inline]
    fn withdraw_again(&self, posting: Posting, now: Timestamp) -> Option<u32> {
        let Posting::Withdraw(cost @ ..=TOKEN) = posting else {
            return None;
        };
        if !self.unit.first()?.has(now) {
            return None;
        }
        let saved = self.saved();
        let lack = self.brim.load(Ordering::Relaxed).wrapping_sub(saved);
        // Beyond the brim it is to be cut: then this is negative, which is more than any.
        let most = self.spare.load(Ordering::Acquire) + (TOKEN - cost);
        if lack > most {
            return None;
        }
        exchange(&self.saved, saved, saved.wrapping_sub(cost)).then(|| most - lack)
    }

    #[cfg_attr(target_pointer_width = "64", cold, inline(never))]
    fn withdraw_at_length(&self, posting: Posting, now: Timestamp) -> Result<u32, u32> {
        loop {
            // First of all: the exchange confirms that it is still of what is loaded after it.
            let saved = self.saved();
            let last = self.brim.load(Ordering::Relaxed);
            let brim = match self.brim(last, now) {
                Ok(brim) => brim,
                Err(by) => {
                    self.set_back(last, by);
                    continue;
                }
            };
            let capacity = self.capacity();
            let balance = capacity.saturating_sub(lack(saved, brim));
            let Some(left) = posting.apply(balance, capacity) else {
                return Err(balance);
            };
            let after = brim.wrapping_sub(capacity - left);
            if exchange(&self.saved, saved, after) {
                self.follow(last, brim, now);
                return Ok(left);
            }
        }
    }

    #[inline]
    fn saved(&self) -> u32 {
        // Acquire pairs with `set_terms`.
        self.saved.load(Ordering::Acquire)
    }

    /// What `saved` is of a full budget at `now`; or, of a clock that was set back, by how much.
    #[cfg_attr(target_pointer_width = "64", inline)]
    fn brim(&self, last: u32, now: Timestamp) -> Result<u32, u32> {
        // Acquire pairs with `set_terms`.
        let floor = self.floor.load(Ordering::Acquire);
        let base = self.base.load(Ordering::Acquire);
        if self.floor.load(Ordering::Relaxed) != floor & !CHANGING {
            return Ok(last);
        }
        let floor = Floor(floor);
        let brim = base.wrapping_sub(floor.given(floor.units(now)));
        let behind = brim.wrapping_sub(last);
        if behind as i32 <= 0 {
            Ok(brim)
        } else {
            stood_still(floor, last, behind)
        }
    }

    #[inline]
    fn follow(&self, last: u32, brim: u32, now: Timestamp) {
        // A failure means that someone was faster.
        if last == brim || exchange(&self.brim, last, brim) {
            if let Some(unit) = self.unit.first() {
                unit.set(now);
            }
        }
    }

    /// Goes on from a time whose brim is higher by so much.
    #[cold]
    fn set_back(&self, last: u32, by: u32) {
        if exchange(&self.brim, last, last.wrapping_add(by)) {
            update(&self.saved, |saved| saved.wrapping_add(by));
        }
    }

    /// Sets the balance that it had `asleep` units before `now`; before anything else uses it.
    pub(crate) fn restore(&self, balance: u32, now: Timestamp, asleep: u32) {
        let (floor, capacity) = (self.floor(), self.capacity());
        let units = floor.units(now);
        let slept = floor.gain(units as u32, asleep);
        let balance = balance.saturating_add(slept).min(capacity);
        let base = self.base.load(Ordering::Relaxed);
        let brim = base.wrapping_sub(floor.given(units));
        let lack = capacity - balance;
        self.brim.store(brim, Ordering::Relaxed);
        self.saved.store(brim.wrapping_sub(lack), Ordering::Relaxed);
    }

    /// Changes the terms; the balance stays equally full.
    pub(crate) fn set_terms(&self, terms: Terms, now: Timestamp) {
        // What came in so far came in under the old terms.
        let _ = self.withdraw(Posting::Withdraw(0), now);
        let before = self.capacity();
        self.floor
            .store(self.floor().0 | CHANGING, Ordering::Relaxed);
        let brim = self.brim.load(Ordering::Relaxed);
        // Release pairs with `brim` and `saved`: what is saved is never seen beside a larger capacity than its own.
        let units = terms.floor.units(now);
        let base = brim.wrapping_add(terms.floor.given(units));
        self.base.store(base, Ordering::Release);
        self.ratio.store(terms.ratio, Ordering::Relaxed);
        if terms.capacity < before {
            self.spare.store(terms.spare(), Ordering::Release);
        }
        loop {
            let saved = self.saved.load(Ordering::Relaxed);
            let balance = before.saturating_sub(lack(saved, brim));
            let balance = rescale(balance, before, terms.capacity);
            let lack = terms.capacity - balance;
            if publish(&self.saved, saved, brim.wrapping_sub(lack)) {
                break;
            }
        }
        self.spare.store(terms.spare(), Ordering::Release);
        self.floor.store(terms.floor.0, Ordering::Release);
    }
}

/// A clock that is this much behind: of a thread that was stopped after it read it, for which time stands still;
/// or, from half a minute on, set back.
#[cold]
fn stood_still(floor: Floor, last: u32, behind: u32) -> Result<u32, u32> {
    if behind <= floor.gain(0, BEHIND).min(MOST_BEHIND).saturating_add(1) {
        Ok(last)
    } else {
        Err(behind)
    }
}

/// Units that a clock may be behind another before it has been set back. 30 to 65 s.
const BEHIND: u32 = 1 << 16;

/// What a floor may give meanwhile, so that a fast one does not stand still at every other time.
const MOST_BEHIND: u32 = 1 << 26;
