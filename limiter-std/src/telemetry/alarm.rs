//! How a limiter calls whoever looks at it, before its next look is due.
//!
//! ```text
//! armed   what calls: PRESSURE | REFUSAL, 0 where nobody looks; shifted by CALLED what has called since
//! ```
//!
//! What has called once does not call again before it is armed anew, so a limiter that refuses all day costs one
//! load for each refusal. No code of the user's runs here: a thread is unparked.

// Not loom's: nothing depends on who sees it first.
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::Thread;

/// The limit is nearly reached, or somebody waits.
pub(crate) const PRESSURE: u8 = 1;
/// Somebody was refused.
pub(crate) const REFUSAL: u8 = 2;

/// What has called is kept here until the next look.
const CALLED: u32 = 4;

#[derive(Debug, Default)]
pub(crate) struct Alarm {
    armed: AtomicU8,
    bell: Mutex<Weak<Bell>>,
}

impl Alarm {
    /// Whether this is to call.
    #[inline]
    pub(crate) fn is_armed(&self, what: u8) -> bool {
        self.armed.load(Ordering::Relaxed) & what != 0
    }

    #[inline]
    pub(crate) fn call(&self, what: u8) {
        if self.is_armed(what) {
            self.ring(what);
        }
    }

    #[cold]
    fn ring(&self, what: u8) {
        // One of those who find it armed rings.
        let called = |armed| Some(armed & !what | what << CALLED);
        let armed = self
            .armed
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, called);
        if armed.is_ok_and(|armed| armed & what != 0) {
            let bell = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
            let bell = bell.upgrade();
            if let Some(bell) = bell {
                bell.ring();
            }
        }
    }

    /// Whether `what` has called since it was armed.
    pub(crate) fn has_called(&self, what: u8) -> bool {
        self.armed.load(Ordering::Relaxed) >> CALLED & what != 0
    }

    /// Lets `what` call, and nothing else.
    pub(crate) fn arm(&self, what: u8) {
        self.armed.store(what, Ordering::Relaxed);
    }

    /// Calls by this bell from now on; the last one given counts.
    pub(crate) fn connect(&self, bell: &Arc<Bell>) {
        let mut connected = self.bell.lock().unwrap_or_else(PoisonError::into_inner);
        *connected = Arc::downgrade(bell);
    }
}

/// Wakes a thread that looks.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    looker: Mutex<Option<Thread>>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        let looker = self.looker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(looker) = &*looker {
            looker.unpark();
        }
    }

    /// This thread is woken from now on.
    pub(crate) fn answer(&self) {
        let mut looker = self.looker.lock().unwrap_or_else(PoisonError::into_inner);
        *looker = Some(std::thread::current());
    }

    pub(crate) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    /// Whether it was rung since the last time.
    pub(crate) fn take(&self) -> bool {
        self.rung.swap(false, Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_armed_calls_once_and_what_is_not_never() {
        let (alarm, bell) = (Alarm::default(), Arc::new(Bell::default()));
        alarm.connect(&bell);
        alarm.call(PRESSURE);
        assert!(!bell.take(), "nobody armed it");
        alarm.arm(PRESSURE);
        alarm.call(REFUSAL);
        assert!(!bell.take(), "something else is armed");
        alarm.call(PRESSURE);
        assert!(bell.take());
        alarm.call(PRESSURE);
        assert!(!bell.take(), "it called already");
    }

    #[test]
    fn a_bell_that_is_gone_is_not_rung() {
        let alarm = Alarm::default();
        alarm.connect(&Arc::new(Bell::default()));
        alarm.arm(REFUSAL);
        alarm.call(REFUSAL);
        assert!(!alarm.is_armed(REFUSAL));
    }
}
