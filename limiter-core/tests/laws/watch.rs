//! A law whose windows and decisions are kept for the test to look at.

use limiter_core::law::{Decision, Law, Window};
use std::cell::RefCell;

/// The law, and what it saw and said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a, L>(
    pub(crate) L,
    pub(crate) &'a RefCell<Vec<(Window, Decision)>>,
);

impl<L: Law> Law for Watch<'_, L> {
    type State = L::State;

    fn on_window(&self, state: &mut L::State, window: &Window) -> Decision {
        let decision = self.0.on_window(state, window);
        self.1.borrow_mut().push((*window, decision));
        decision
    }

    fn on_set(&self, state: &mut L::State, limit: u32) {
        self.0.on_set(state, limit);
    }
}
