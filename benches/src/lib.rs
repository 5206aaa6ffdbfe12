//! Everything that measures.

pub mod lab;
