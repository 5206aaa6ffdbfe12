//! Overloads: the share that cuts, and the share that no cut lowers.

use super::super::math::{quotient, scale_per_mille};
use super::super::{Reason, Window};
use super::Knee;
use super::state::State;

/// A share of overloads above this, per mille, is never taken for stray errors.
const STRAY_MOST: u32 = 100;
/// Above this nobody knows how much is left: the way back is a search.
const MOST_LOST: u32 = 300;

impl State {
    /// Whether the window's overloads are beyond the tolerated share, and what came of it.
    ///
    /// Errors that come at the same rate whatever the limit is (a bug, a bad replica, a dependency's
    /// dependency) must not shrink it. So a cut is a trial: the window after it shows a smaller share, or
    /// the share is not of our making, is tolerated from then on, and the cut is taken back.
    pub(super) fn overloads(&mut self, law: &Knee, window: &Window) -> Option<Reason> {
        let share = window.overload_share();
        if !window.overloads_above(window.tolerance.max(self.stray + self.stray / 4)) {
            self.cut = 0;
            if window.successes >= super::LEAST_PHASE {
                self.stray -= self.stray.saturating_sub(share).saturating_add(7) >> 3;
            }
            return None;
        }
        if self.cut != 0 && share <= STRAY_MOST && share * 4 >= self.cut * 3 {
            // It was not the limit.
            let kept = 1_000 - off(self.cut);
            self.middle = scale_per_mille(self.middle, quotient(1_000_000, kept));
            self.stray = share;
            self.cut = 0;
            return None;
        }
        self.cut = share.max(1);
        self.middle = scale_per_mille(self.middle, 1_000 - off(share));
        if share > MOST_LOST {
            self.start_search(true);
        } else if share > STRAY_MOST {
            self.track(law.target_q8);
        }
        Some(Reason::CutOverload)
    }
}

/// What a share of overloads takes off the middle: half of it, at most 30 %; per mille.
fn off(share: u32) -> u32 {
    share.min(600) / 2
}
