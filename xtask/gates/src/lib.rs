//! Functions whose machine code is read: the library's hot paths as a caller compiles them, and faults that each
//! gate has to find.

#![no_std]

extern crate alloc;

pub mod seeded;

use limiter_core::law::Knee;
use limiter_core::{Limiter, Outcome, Permit, RetryBudget, Timestamp, Tokens};

#[inline(never)]
pub fn acquire(limiter: &Limiter<Knee>, now: Timestamp) -> Option<Permit<&Limiter<Knee>>> {
    limiter.try_acquire(now).ok()
}

#[inline(never)]
pub fn refuse(limiter: &Limiter<Knee>, now: Timestamp) -> bool {
    limiter.try_acquire(now).is_err()
}

#[inline(never)]
pub fn release(permit: Permit<&Limiter<Knee>>) {
    permit.forget();
}

#[inline(never)]
pub fn finish(permit: Permit<&Limiter<Knee>>, now: Timestamp) -> bool {
    permit.finish(Outcome::Success, now).wake()
}

#[inline(never)]
pub fn withdraw(budget: &RetryBudget, now: Timestamp) -> bool {
    budget.withdraw(Tokens::ONE, now).is_ok()
}

#[inline(never)]
pub fn deposit(budget: &RetryBudget, now: Timestamp) -> u32 {
    budget.deposit().get()
}
