//! What became of a permit.

/// How the work that a permit stood for ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Outcome {
    /// The work was done. The only outcome whose time feeds the RTT.
    Success,
    /// The dependency is full: a timeout, 429, 503, `RESOURCE_EXHAUSTED`, `UNAVAILABLE`.
    Overload,
    /// The dependency is wrong but not full. Says nothing about the limit.
    Failure,
    /// The caller was wrong or went away. Teaches nothing when younger than the usual RTT; when older it
    /// is evidence of slowness, or callers with a deadline would hide a collapse.
    Ignored,
}
