//! Limits that are asked directly.

use crate::cost::case::{Subject, each, subject};
use crate::cost::service::wait;
use congestion_limiter::limiter::{DefaultLimiter, Limiter, Outcome};
use congestion_limiter::limits::Aimd;
use core::num::NonZeroU32;
use core::ops::Range;
use governor::{DefaultDirectRateLimiter, Quota};
use throttle_net::{AdaptiveLimiterBuilder, Bulkhead, Vegas};
use tokio::sync::Semaphore;

const SLOTS: u32 = 10;

/// A semaphore's permit; nothing adapts.
pub(crate) fn tokio() -> Box<dyn Subject> {
    let semaphore = Semaphore::new(SLOTS as usize);
    subject(semaphore, |semaphore, operations: Range<u64>| {
        each(operations, |_| semaphore.try_acquire().is_ok())
    })
}

pub(crate) fn tokio_refuse() -> Box<dyn Subject> {
    subject(Semaphore::new(0), |semaphore, operations: Range<u64>| {
        each(operations, |_| semaphore.try_acquire().is_err())
    })
}

/// A token of an adaptive limiter, which reads its own clock.
pub(crate) fn congestion_limiter() -> Box<dyn Subject> {
    let law = Aimd::new_with_initial_limit(SLOTS as usize);
    subject(
        DefaultLimiter::new(law),
        |limiter, operations: Range<u64>| {
            each(operations, |_| {
                let token = wait(limiter.try_acquire());
                token.is_some_and(|token| wait(limiter.release(token, Some(Outcome::Success))) != 0)
            })
        },
    )
}

pub(crate) fn congestion_limiter_refuse() -> Box<dyn Subject> {
    let limiter = DefaultLimiter::new(Aimd::new_with_initial_limit(1));
    core::mem::forget(wait(limiter.try_acquire()));
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| wait(limiter.try_acquire()).is_none())
    })
}

/// A permit of an adaptive limiter, which reads its own clock.
pub(crate) fn throttle_net() -> Box<dyn Subject> {
    let limiter = AdaptiveLimiterBuilder::new()
        .initial(SLOTS)
        .build(Vegas::new(2, 4));
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| {
            let permit = limiter.try_acquire();
            permit.map(|permit| permit.success()).is_some()
        })
    })
}

pub(crate) fn throttle_net_refuse() -> Box<dyn Subject> {
    let limiter = AdaptiveLimiterBuilder::new()
        .floor(1)
        .initial(1)
        .build(Vegas::new(2, 4));
    core::mem::forget(limiter.try_acquire());
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| limiter.try_acquire().is_none())
    })
}

/// A permit of a fixed number; nothing adapts.
pub(crate) fn throttle_net_bulkhead() -> Box<dyn Subject> {
    subject(Bulkhead::new(SLOTS), |bulkhead, operations: Range<u64>| {
        each(operations, |_| bulkhead.try_acquire().is_some())
    })
}

/// A rate, not a concurrency: one check, which reads a clock, and nothing to give back.
pub(crate) fn governor() -> Box<dyn Subject> {
    let limiter = DefaultDirectRateLimiter::direct(Quota::per_second(NonZeroU32::MAX));
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| limiter.check().is_ok())
    })
}

pub(crate) fn governor_refuse() -> Box<dyn Subject> {
    let quota = Quota::per_hour(NonZeroU32::MIN);
    let limiter = DefaultDirectRateLimiter::direct(quota);
    let _ = limiter.check();
    subject(limiter, |limiter, operations: Range<u64>| {
        each(operations, |_| limiter.check().is_err())
    })
}
