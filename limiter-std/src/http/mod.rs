//! Layers and classifications for HTTP and gRPC.
//!
//! | to | take |
//! | --- | --- |
//! | protect a server | [`LimiterLayer`]: a refusal is a response |
//! | protect a dependency from its caller | [`CallerLayer`]: a refusal is an error |
//! | call a dependency with retries and hedges that cannot make it worse | [`tower::DependencyLayer`](crate::tower::DependencyLayer) with [`Answers`] and [`Marks`] |
//! | say what a request is: its priority, its partition, its caller | [`LimiterLayer::describe`] |
//! | refuse work for which nobody waits, and retries first | [`LimiterLayer::reading`], [`LimiterLayer::shed_retries`] |
//! | say what a response means | [`Server`], [`Caller`], [`ClassifyResponse`] |
//! | say what a refused request is answered | [`Refusal`], [`Refuse`] |
//!
//! ```
//! use axum::{Extension, Router, routing::get};
//! use limiter_std::http::LimiterLayer;
//! use limiter_std::{Hold, Limiter};
//!
//! // A query that runs on when its client is gone keeps its slot: it has a share of it.
//! async fn report(Extension(hold): Extension<Hold>) -> String {
//!     let query = move || {
//!         let report = String::from("rows");
//!         drop(hold);
//!         report
//!     };
//!     tokio::task::spawn_blocking(query).await.unwrap_or_default()
//! }
//!
//! let limiter = Limiter::default();
//! let app: Router = Router::new()
//!     .route("/report", get(report))
//!     .layer(LimiterLayer::new(limiter.clone()));
//! # let _ = app;
//! ```
//!
//! A caller, whose attempts say which they are and how long they are waited for:
//!
//! ```
//! use http_body_util::Empty;
//! use hyper_util::client::legacy::Client;
//! use hyper_util::rt::TokioExecutor;
//! use limiter_std::Dependency;
//! use limiter_std::http::{Answers, Marks};
//! use limiter_std::tower::DependencyLayer;
//! use tower::ServiceBuilder;
//!
//! let client = Client::builder(TokioExecutor::new()).build_http::<Empty<&[u8]>>();
//! let store = ServiceBuilder::new()
//!     .layer(
//!         DependencyLayer::new(Dependency::default(), tokio::time::sleep)
//!             .judge(Answers::new())
//!             .prepare(Marks::new()),
//!     )
//!     .service(client);
//! # let _ = store;
//! ```
//!
//! # When the slot is free, and what is learned
//!
//! The RTT ends with the response's head. A slot is free at the head too, or when the body ends, by
//! [`release_at`](LimiterLayer::release_at); later, when a share of the [`Hold`](crate::Hold) that is in
//! the request's extensions lives on.
//!
//! A gRPC response tells its status in the trailers, behind the body. Unless its head has the status
//! already, the outcome is recorded when the trailers come, with the RTT of the head; the slot is free at
//! the head or at the end all the same.
//!
//! A connection that is upgraded (a WebSocket) outlives its response, whose body is empty: the slot is free at
//! the head either way, unless the task that serves the connection keeps the hold.
//!
//! # Cancellation
//!
//! When a client goes away before the head, the server drops the response future: the slot is free as soon
//! as no share of the hold is left, and counts as [`Outcome::Cancelled`](crate::Outcome::Cancelled) with its
//! age at that moment. A body that is dropped half-read frees the slot as if it had ended; a gRPC response
//! that loses its trailers so is `Ignored`, for its head was an answer. A panic of the service frees the slot and
//! teaches nothing.

mod answer;
mod answers;
mod body;
mod caller;
mod classify;
mod grpc;
mod head;
mod hints;
mod invitations;
mod layer;
mod marks;
mod reading;
mod refuse;

pub use answer::ReleaseAt;
pub use answers::Answers;
pub use body::ResponseBody;
pub use caller::CallerLayer;
pub use classify::{
    ByKind, Caller, ClassifyError, ClassifyResponse, Overruled, Server, Verdict, error_outcome,
};
pub use grpc::GrpcStatus;
pub use head::Head;
pub use hints::{Hint, hint};
pub use layer::LimiterLayer;
pub use marks::Marks;
pub use refuse::{Refusal, Refuse, Refused};
