//! A tonic client within a `Dependency`, and a tonic server that pushes back. Both are written by hand, for
//! generated ones would need `protoc`; with generated ones the calls look the same.
//!
//! ```text
//! cargo run -p limiter-std --example tonic
//! ```

use axum::http::{self, uri::PathAndQuery};
use bytes::{Buf, BufMut};
use limiter_std::http::{Answers, LimiterLayer, Marks};
use limiter_std::{
    Attempt, CallOptions, Dependency, DependencyConfig, Ending, Jitter, Limiter, Tokio,
};
use std::convert::Infallible;
use std::future::Future;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{NamedService, UnaryService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Server};
use tonic::{Request, Response, Status};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let incoming = TcpIncoming::bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let address = incoming.local_addr()?;
    let limited = LimiterLayer::new(Limiter::default())
        .reading(Marks::new())
        .shed_retries(800);
    let serving = Server::builder()
        .layer(limited)
        .add_service(Greeter)
        .serve_with_incoming(incoming);
    let server = tokio::spawn(serving);

    let channel = Channel::from_shared(format!("http://{address}"))?
        .connect()
        .await?;
    let greeter = Dependency::try_new(DependencyConfig::default().backoff(
        Jitter::Full,
        Duration::from_millis(5),
        Duration::from_millis(50),
    ))?;
    let answer = greet(&greeter, &channel, "patience").await?;
    assert_eq!(answer.into_inner(), "hello patience, at attempt 2");
    let counts = greeter.counts();
    assert_eq!((counts.attempts, counts.retries), (2, 1));

    // A negative push-back is final.
    let status = greet(&greeter, &channel, "stop").await.unwrap_err();
    println!("stop: {}; {:?}", status.message(), greeter.counts());
    assert_eq!(greeter.counts().attempts, 3);
    server.abort();
    Ok(())
}

/// One logical call. A generated client would be cloned here, as the channel is.
async fn greet(
    greeter: &Dependency,
    channel: &Channel,
    name: &'static str,
) -> Result<Response<String>, Status> {
    let answer = greeter.call_async(Tokio, CallOptions::new(), judge, |attempt| {
        send(channel.clone(), attempt, name)
    });
    answer.await.map_err(|gave_up| {
        let why = gave_up.why;
        gave_up
            .error()
            .unwrap_or_else(|| Status::unavailable(why.describe()))
    })
}

async fn send(
    channel: Channel,
    attempt: Attempt,
    name: &'static str,
) -> Result<Response<String>, Status> {
    let mut request = Request::new(name.to_owned());
    request
        .metadata_mut()
        .insert("x-attempt", attempt.number.into());
    request.set_timeout(attempt.timeout);
    let mut client = tonic::client::Grpc::new(channel);
    client
        .ready()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    let path = PathAndQuery::from_static("/text.Greeter/Greet");
    client.unary(request, path, Text).await
}

fn judge(result: Result<&Response<String>, &Status>) -> Ending {
    match result {
        Ok(_) => Ending::success(),
        Err(status) => {
            let metadata = status.metadata().clone().into_headers();
            Answers::new().grpc(status.code().into(), &metadata)
        }
    }
}

/// The server: what a `.proto` file would generate, for messages that are texts.
#[derive(Clone)]
struct Greeter;

impl NamedService for Greeter {
    const NAME: &'static str = "text.Greeter";
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl tower::Service<http::Request<Body>> for Greeter {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Boxed<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async { Ok(tonic::server::Grpc::new(Text).unary(Greeter, request).await) })
    }
}

impl UnaryService<String> for Greeter {
    type Response = String;
    type Future = Boxed<Result<Response<String>, Status>>;

    fn call(&mut self, request: Request<String>) -> Self::Future {
        Box::pin(async move {
            let headers = request.metadata().clone().into_headers();
            let (number, name) = (Marks::new().number(&headers), request.into_inner());
            let pushback = match (name.as_str(), number) {
                ("stop", _) => "-1",
                (_, 1) => "10",
                _ => return Ok(Response::new(format!("hello {name}, at attempt {number}"))),
            };
            let mut status = Status::resource_exhausted("full");
            let told = pushback
                .parse()
                .map_err(|_| Status::internal("not ASCII"))?;
            status.metadata_mut().insert("grpc-retry-pushback-ms", told);
            Err(status)
        })
    }
}

/// Messages that are texts.
#[derive(Clone, Copy, Default)]
struct Text;

impl Codec for Text {
    type Encode = String;
    type Decode = String;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Text {
    type Item = String;
    type Error = Status;

    fn encode(&mut self, text: String, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put(text.as_bytes());
        Ok(())
    }
}

impl Decoder for Text {
    type Item = String;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<String>, Status> {
        let bytes = from.copy_to_bytes(from.remaining());
        let text = String::from_utf8(bytes.into());
        text.map(Some).map_err(|_| Status::internal("not a text"))
    }
}

#[test]
fn push_back_is_obeyed_and_a_negative_one_is_final() {
    main().expect("runs");
}
