//! The operations of others, as their authors ship them, with their defaults where they have any.

pub(crate) mod breakers;
pub(crate) mod budgets;
pub(crate) mod limits;
pub(crate) mod services;
