//! The limit that does not move by itself.

use super::{Decision, Law, Reason, Window};

/// Keeps the limit it was given; it changes only by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed;

impl Law for Fixed {
    type State = [u32; 0];

    fn on_window(&self, _: &mut [u32; 0], window: &Window) -> Decision {
        Decision::new(window.limit, Reason::HeldSteady)
    }

    fn adapts(&self) -> bool {
        false
    }
}
