//! A law that can be changed while it runs.

use crate::sync::{Mutex, MutexGuard};
use limiter_core::law::{Decision, Law, Window};
use limiter_core::{ConfigError, Limiter, Words};
use std::sync::{Arc, PoisonError};

/// A limiter of the core whose law can be changed.
pub(crate) type TunedLimiter<L> = Limiter<Tuned<L>>;

/// The law in force. What it learned is in the limiter, and stays when another takes its place.
///
/// The lock is taken once for each window, by the one who closes it, and never while a law runs: a law may take
/// its time, panic, or change itself.
#[derive(Debug)]
pub(crate) struct Tuned<L>(Mutex<InForce<L>>);

#[derive(Debug)]
struct InForce<L> {
    law: Arc<L>,
    /// What was learned is of another kind of law.
    forgets: bool,
}

impl<L: Law> Tuned<L> {
    pub(crate) fn new(law: L) -> Self {
        let law = Arc::new(law);
        Self(Mutex::new(InForce {
            law,
            forgets: false,
        }))
    }

    /// Goes by another law from the next decision on, that of the window that is open.
    pub(crate) fn set(&self, law: L) -> Result<(), ConfigError> {
        law.check()?;
        let law = Arc::new(law);
        loop {
            let before = self.in_force();
            // Without the lock, for the law is the user's.
            let forgets = !law.goes_on_from(&before);
            let mut now = self.lock();
            // Otherwise another took its place meanwhile.
            if Arc::ptr_eq(&now.law, &before) {
                now.forgets |= forgets;
                now.law = law;
                drop(now);
                drop(before);
                return Ok(());
            }
        }
    }

    /// Asks the law in force, which begins anew where it cannot go on from what was learned.
    fn ask<T>(&self, state: &mut L::State, ask: impl FnOnce(&L, &mut L::State) -> T) -> T {
        let now = self.lock();
        let (law, forgets) = (Arc::clone(&now.law), now.forgets);
        drop(now);
        if forgets {
            *state = L::State::ZERO;
        }
        let answer = ask(&law, state);
        if forgets {
            // Only now: of a law that panics the state is not stored.
            let mut now = self.lock();
            // One that came since then begins anew too.
            now.forgets = !Arc::ptr_eq(&now.law, &law);
        }
        answer
    }

    fn lock(&self) -> MutexGuard<'_, InForce<L>> {
        // Nothing under it panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_force(&self) -> Arc<L> {
        Arc::clone(&self.lock().law)
    }
}

impl<L: Law> Law for Tuned<L> {
    type State = L::State;

    fn on_window(&self, state: &mut L::State, window: &Window) -> Decision {
        self.ask(state, |law, state| law.on_window(state, window))
    }

    fn on_set(&self, state: &mut L::State, limit: u32) {
        self.ask(state, |law, state| law.on_set(state, limit));
    }

    fn adapts(&self) -> bool {
        self.in_force().adapts()
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.in_force().check()
    }
}
