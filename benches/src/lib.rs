//! Everything that measures.

pub mod cost;
pub mod fairness;
pub mod incidents;
pub mod lab;
pub mod program;
pub mod waiting;
pub mod watch;
