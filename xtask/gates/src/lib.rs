//! Functions whose machine code is read: the library's hot paths as a caller compiles them, and faults that each
//! gate has to find.

#![no_std]

extern crate alloc;

pub mod seeded;

use limiter_core::law::Knee;
use limiter_core::{
    Breaker, Limiter, Outcome, Partitioned, Permit, Request, RetryBudget, Seat, Slot, Timestamp,
    Tokens,
};

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
pub fn admit_class(limiter: &Limiter<Knee>, request: &Request, now: Timestamp) -> Option<Slot> {
    limiter.admit_for(request, now).ok()
}

#[inline(never)]
pub fn admit_partition(
    partitioned: &Partitioned<4, Knee>,
    request: &Request,
    now: Timestamp,
) -> Option<Seat> {
    partitioned.admit(request, now).ok()
}

#[inline(never)]
pub fn settle_partition(partitioned: &Partitioned<4, Knee>, seat: Seat, now: Timestamp) -> bool {
    partitioned.settle(seat, Outcome::Success, now).wake()
}

#[inline(never)]
pub fn pass(breaker: &Breaker, now: Timestamp) -> bool {
    let pass = breaker.try_pass(now);
    pass.is_ok_and(|pass| pass.finish(Outcome::Success, now, 0).is_none())
}

#[inline(never)]
pub fn withdraw(budget: &RetryBudget, now: Timestamp) -> bool {
    budget.withdraw(Tokens::ONE, now).is_ok()
}

#[inline(never)]
pub fn deposit(budget: &RetryBudget) -> u32 {
    budget.deposit().get()
}
