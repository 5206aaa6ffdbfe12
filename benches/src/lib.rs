//! Everything that measures.

pub mod cost;
pub mod lab;
pub mod waiting;
