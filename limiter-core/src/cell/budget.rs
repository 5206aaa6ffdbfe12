//! A retry budget: what was spent, in one word, against what time has given.
//!
//! ```text
//! spent   what was withdrawn less what was deposited
//! brim    what `spent` is of a full budget, as of the last withdrawal
//! terms   31..12 capacity | 11..2 ratio | 1 turns with each change | 0 changing
//! floor   milli-tokens per 2³² units, see law/budget.rs
//! base    what time had given under earlier floors
//! ```
//!
//! All in milli-tokens, modulo 2³². The balance is what time has given so far, less `spent`: up to now, or to the
//! last withdrawal where that is later. A full budget has `spent = given − capacity`; one that was full for some
//! time has less, and is brought there by whoever withdraws. That a deposit does not look at time changes
//! nothing: what comes in between two withdrawals is cut to the capacity at the second one, in whatever order it
//! came. `brim` only keeps deposits from adding for ever, and tells a full budget by two loads.
//!
//! Transitions: a deposit is one subtraction from `spent`, a withdrawal one compare-exchange of it; then `brim`
//! follows, from the value that was seen. A clock that was set back moves both by as much: whoever exchanges `brim` moves `spent`,
//! and until then others see less than there is. A change of the floor moves `base`, so that what time has given
//! goes on from where it was; who comes meanwhile lets time stand still.
//!
//! ```text
//! op                | success | failure | pairs with | why
//! spent: subtract,  | Relaxed | Relaxed | -          | tokens are only counted: the word's own modification order
//! exchange          |         |         |            | makes each spent once
//! brim: exchange    | Relaxed | Relaxed | -          | a failure means that another was faster
//! terms: load       | Acquire | -       | terms      | who sees the new terms sees floor and base that belong to them
//! floor, base: load | Acquire | -       | set_terms  | who sees a new one sees that the terms are changing
//! set_terms         | Release | -       | loads      | see above
//! restore           | Relaxed | -       | -          | before the first use
//! balance           | as the loads      | -          | a picture, stale at once
//! ```
//!
//! What remains: of two changes of the terms within one withdrawal, or two at once, it may take one's floor with
//! the other's base, and find the budget full. A floor that gives 2³¹ milli-tokens between two withdrawals looks
//! like a clock that was set back, and adds nothing for that time: 248 days at the default.

use super::sync::{AtomicU32, Ordering, const_unless_loom};
use super::word::{exchange, update};
use crate::law::budget::{Floor, Posting, Terms, rescale};

const CHANGING: u32 = 1;
const TURN: u32 = 1 << 1;
const RATIO_SHIFT: u32 = 2;
const RATIO: u32 = (1 << 10) - 1;
const CAPACITY_SHIFT: u32 = 12;

/// The largest balance that the terms have room for.
pub(crate) const MAX_BALANCE: u32 = u32::MAX >> CAPACITY_SHIFT;

/// Far from where most clocks start, so that none seems to be a little behind.
const START: u32 = 1 << 31;

const fn word(terms: Terms) -> u32 {
    terms.capacity << CAPACITY_SHIFT | terms.ratio << RATIO_SHIFT
}

const fn capacity(word: u32) -> u32 {
    word >> CAPACITY_SHIFT
}

/// What was spent beyond `brim`: what is missing to a full budget.
#[inline]
const fn lack(spent: u32, brim: u32) -> u32 {
    let lack = spent.wrapping_sub(brim);
    if lack as i32 > 0 { lack } else { 0 }
}

/// What was spent, the terms, and what time had given before.
#[derive(Debug)]
pub(crate) struct Bucket {
    spent: AtomicU32,
    brim: AtomicU32,
    terms: AtomicU32,
    floor: AtomicU32,
    base: AtomicU32,
}

impl Bucket {
    const_unless_loom! {
        /// A full bucket.
        pub(crate) fn new(terms: Terms) -> Self {
            Self {
                spent: AtomicU32::new(START),
                brim: AtomicU32::new(START),
                terms: AtomicU32::new(word(terms)),
                floor: AtomicU32::new(terms.floor.0),
                base: AtomicU32::new(0),
            }
        }
    }

    pub(crate) fn capacity(&self) -> u32 {
        capacity(self.terms.load(Ordering::Relaxed))
    }

    pub(crate) fn floor(&self) -> Floor {
        Floor(self.floor.load(Ordering::Relaxed))
    }

    /// The balance at `now`. Stores nothing.
    pub(crate) fn balance(&self, now: u64) -> u32 {
        let terms = self.terms.load(Ordering::Acquire);
        let last = self.brim.load(Ordering::Relaxed);
        let brim = match self.brim(terms, last, now) {
            Ok(brim) => brim,
            // As of the last withdrawal, whichever clock it was by.
            Err(_) => last,
        };
        capacity(terms).saturating_sub(lack(self.spent.load(Ordering::Relaxed), brim))
    }

    /// Adds the ratio, and returns the balance as of the last withdrawal: time is looked at by those only.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn deposit(&self) -> u32 {
        let brim = self.brim.load(Ordering::Relaxed);
        let terms = self.terms.load(Ordering::Relaxed);
        let mut spent = self.spent.load(Ordering::Relaxed);
        if lack(spent, brim) != 0 {
            // Beyond the brim by less than a ratio for each thread: what withdraws cuts it.
            let ratio = terms >> RATIO_SHIFT & RATIO;
            spent = self
                .spent
                .fetch_sub(ratio, Ordering::Relaxed)
                .wrapping_sub(ratio);
        }
        capacity(terms).saturating_sub(lack(spent, brim))
    }

    /// Takes what `posting` says at `now`, or leaves everything as it is when the balance does not allow it.
    /// Returns the balance that is left, or the one that was too small.
    #[cfg_attr(target_pointer_width = "64", inline)]
    pub(crate) fn withdraw(&self, posting: Posting, now: u64) -> Result<u32, u32> {
        // Once in its caller, where code is cheap.
        if cfg!(target_pointer_width = "64") {
            if let Some(result) = self.try_withdraw(posting, now) {
                return result;
            }
        }
        self.withdraw_at_last(posting, now)
    }

    #[cfg_attr(target_pointer_width = "64", cold)]
    #[cfg_attr(target_pointer_width = "64", inline(never))]
    fn withdraw_at_last(&self, posting: Posting, now: u64) -> Result<u32, u32> {
        loop {
            if let Some(result) = self.try_withdraw(posting, now) {
                return result;
            }
        }
    }

    /// `None` when another was faster, or the clock was set back: then again.
    #[inline]
    fn try_withdraw(&self, posting: Posting, now: u64) -> Option<Result<u32, u32>> {
        let terms = self.terms.load(Ordering::Acquire);
        let last = self.brim.load(Ordering::Relaxed);
        let brim = match self.brim(terms, last, now) {
            Ok(brim) => brim,
            Err(by) => {
                self.set_back(last, by);
                return None;
            }
        };
        let spent = self.spent.load(Ordering::Relaxed);
        let lack = lack(spent, brim);
        let capacity = capacity(terms);
        let Some(after) = posting.apply(lack, capacity) else {
            return Some(Err(capacity.saturating_sub(lack)));
        };
        if !exchange(&self.spent, spent, brim.wrapping_add(after)) {
            return None;
        }
        self.follow(last, brim);
        Some(Ok(capacity - after))
    }

    /// What `spent` is of a full budget at `now`; or, of a clock that was set back, by how much.
    #[cfg_attr(target_pointer_width = "64", inline)]
    fn brim(&self, terms: u32, last: u32, now: u64) -> Result<u32, u32> {
        // Acquire pairs with `set_terms`.
        let floor = Floor(self.floor.load(Ordering::Acquire));
        let base = self.base.load(Ordering::Acquire);
        if self.terms.load(Ordering::Relaxed) != terms & !CHANGING {
            return Ok(last);
        }
        let brim = base
            .wrapping_add(floor.given(now))
            .wrapping_sub(capacity(terms));
        let behind = last.wrapping_sub(brim);
        if behind as i32 <= 0 {
            Ok(brim)
        } else {
            stood_still(floor, last, behind)
        }
    }

    #[inline]
    fn follow(&self, last: u32, brim: u32) {
        if last != brim {
            // A failure means that someone was faster.
            exchange(&self.brim, last, brim);
        }
    }

    /// Goes on from a time whose brim is lower by so much.
    #[cold]
    fn set_back(&self, last: u32, by: u32) {
        if exchange(&self.brim, last, last.wrapping_sub(by)) {
            update(&self.spent, |spent| spent.wrapping_sub(by));
        }
    }

    /// Sets the balance that it had `asleep` units before `now`; before anything else uses it.
    pub(crate) fn restore(&self, balance: u32, now: u64, asleep: u32) {
        let terms = self.terms.load(Ordering::Relaxed);
        let slept = self.floor().gain(now as u32, asleep);
        let balance = balance.saturating_add(slept).min(capacity(terms));
        let brim = self
            .floor()
            .given(now)
            .wrapping_add(self.base.load(Ordering::Relaxed))
            .wrapping_sub(capacity(terms));
        let lack = capacity(terms) - balance;
        self.brim.store(brim, Ordering::Relaxed);
        self.spent.store(brim.wrapping_add(lack), Ordering::Relaxed);
    }

    /// Changes the terms; the balance stays equally full.
    pub(crate) fn set_terms(&self, terms: Terms, now: u64) {
        // What came in so far came in under the old terms.
        let _ = self.withdraw(Posting::Withdraw(0), now);
        let before = self.terms.load(Ordering::Relaxed) & !CHANGING;
        self.terms.store(before | CHANGING, Ordering::Relaxed);
        let last = self.brim.load(Ordering::Relaxed);
        let given = last.wrapping_add(capacity(before));
        // Release pairs with `brim`.
        let base = given.wrapping_sub(terms.floor.given(now));
        self.base.store(base, Ordering::Release);
        self.floor.store(terms.floor.0, Ordering::Release);
        let brim = given.wrapping_sub(terms.capacity);
        self.brim.store(brim, Ordering::Relaxed);
        update(&self.spent, |spent| {
            let balance = capacity(before).saturating_sub(lack(spent, last));
            let balance = rescale(balance, capacity(before), terms.capacity);
            brim.wrapping_add(terms.capacity - balance)
        });
        let turn = before & TURN ^ TURN;
        self.terms.store(word(terms) | turn, Ordering::Release);
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
