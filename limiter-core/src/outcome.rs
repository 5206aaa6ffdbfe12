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
    /// An answer that says nothing about load: the caller was wrong, a 404 or 400. Teaches nothing, however long
    /// it took.
    Ignored,
    /// No answer, for nobody waited any more: the caller went away. Teaches nothing when younger than the usual
    /// RTT; when older it is evidence of slowness, or callers with a deadline would hide a collapse.
    Cancelled,
}
