//! The layers and classifications for HTTP and gRPC.

mod bodies;
mod caller;
mod classes;
mod describe;
mod grpc;
mod holds;
mod marks;
mod reading;
mod refusals;
mod server;
#[path = "../tower/spy.rs"]
mod spy;
mod support;
