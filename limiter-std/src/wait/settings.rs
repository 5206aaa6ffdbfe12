//! What a queue goes by. It can be changed while running.

use super::standing::Allowed;
use limiter_core::Ticks;

/// How long the queue may be, how long one may wait in it, and which delay may stand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// 0 where nobody may wait.
    pub(crate) length: u32,
    /// `None` for ever.
    pub(crate) longest: Option<Ticks>,
    pub(crate) allowed: Allowed,
}
