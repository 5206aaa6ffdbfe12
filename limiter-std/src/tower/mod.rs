//! A layer for any [tower](tower_service) service.
//!
//! [`LimiterLayer`] owns the limiter's handle, so that however often it is applied, cloned, or cloned with
//! its service for each connection, there is one limit. For HTTP and gRPC take the layers of
#![cfg_attr(feature = "http", doc = "[`http`](crate::http),")]
#![cfg_attr(not(feature = "http"), doc = "the feature `http`,")]
//! which know what a response means.
//!
//! ```
//! use limiter_std::Limiter;
//! use limiter_std::tower::{Error, LimiterLayer};
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let limiter = Limiter::default();
//! let service = ServiceBuilder::new()
//!     .layer(LimiterLayer::new(limiter.clone()))
//!     .service_fn(async |name: &str| name.parse::<u32>());
//!
//! match service.oneshot("42").await {
//!     Ok(number) => assert_eq!(number, 42),
//!     Err(Error::Rejected(refused)) => println!("busy: {refused}"),
//!     Err(Error::Inner(error)) => println!("wrong: {error}"),
//! }
//! assert_eq!(limiter.snapshot().inflight, 0);
//! # });
//! ```
//!
//! | to | take |
//! | --- | --- |
//! | limit a service | [`LimiterLayer`] |
//! | say what each call is: its priority, its caller | [`LimiterLayer::describe`] |
//! | call a dependency with retries and hedges that cannot make it worse | [`DependencyLayer`] |
//! | put a breaker around a service, alone | [`BreakerLayer`] |
#![cfg_attr(
    feature = "retry",
    doc = "| bound the retries of `tower::retry` | [`RetryPolicy`] |"
)]
//!
//! # Readiness
//!
//! `poll_ready` asks the inner service alone and takes no slot: a service that is ready and then idle holds
//! nothing. `call` takes the slot, or answers with [`Error::Rejected`] and leaves the inner service alone.
//! A slot is only ever taken for a call, so `call` without readiness does what the inner service makes
//! of it, and leaks nothing. When the limiter is closed, `poll_ready` and `call` both fail with
//! [`RejectReason::Closed`](crate::RejectReason::Closed), for ever.
//!
//! # Cancellation
//!
//! Dropping the response future frees the slot and counts as [`Outcome::Cancelled`](crate::Outcome::Cancelled)
//! with its age. A panic of the inner service frees the slot and teaches nothing.

mod breaker;
mod classify;
mod dependency;
mod describe;
mod error;
mod errors;
mod future;
mod layer;
mod mode;
#[cfg(feature = "retry")]
mod retry;
#[cfg_attr(not(feature = "http"), allow(unused))]
pub(crate) mod role;
mod sending;
mod service;

pub use crate::errors::error_outcome;
pub use breaker::{BreakerError, BreakerFuture, BreakerLayer, BreakerService};
pub use classify::{Classify, OkOrErr};
pub use dependency::{
    Cloned, DependencyError, DependencyFuture, DependencyLayer, DependencyService, Once, Prepare,
};
pub(crate) use describe::Asked;
pub use describe::{Alike, Describe};
pub use error::Error;
pub use errors::Errors;
pub use future::ResponseFuture;
pub use layer::LimiterLayer;
#[cfg(feature = "http")]
pub(crate) use mode::Mode;
pub use mode::{Refuse, Wait, WaitUntil};
#[cfg(feature = "retry")]
pub use retry::RetryPolicy;
pub use service::LimiterService;
