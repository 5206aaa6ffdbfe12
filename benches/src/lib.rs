//! Everything that measures.

pub mod cost;
pub mod fairness;
pub mod lab;
pub mod waiting;
