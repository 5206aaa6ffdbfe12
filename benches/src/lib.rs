//! Everything that measures.
