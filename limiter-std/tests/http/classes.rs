//! Which responses and errors are which outcome.

use http::{HeaderMap, Response, StatusCode, response};
use limiter_std::http::{
    Caller, ClassifyError, ClassifyResponse, GrpcStatus, Server, Verdict, error_outcome,
};
use limiter_std::tower::Error;
use limiter_std::{Outcome, RejectReason, Rejected};
use std::error::Error as StdError;
use std::io;

fn head(status: u16) -> response::Parts {
    Response::builder()
        .status(status)
        .body(())
        .unwrap()
        .into_parts()
        .0
}

fn known(verdict: Verdict) -> Outcome {
    match verdict {
        Verdict::Known(outcome) => outcome,
        Verdict::AtTrailers => panic!("not known at the head"),
    }
}

#[test]
fn a_servers_own_statuses() {
    for status in 100..1_000 {
        let expected = match status {
            100..400 => Outcome::Success,
            408 => Outcome::Overload,
            400..500 => Outcome::Ignored,
            _ => Outcome::Failure,
        };
        assert_eq!(known(Server.response(&head(status))), expected, "{status}");
    }
}

#[test]
fn a_dependencys_statuses() {
    for status in 100..1_000 {
        let expected = match status {
            100..400 => Outcome::Success,
            408 | 429 | 503 | 504 => Outcome::Overload,
            400..500 => Outcome::Ignored,
            _ => Outcome::Failure,
        };
        assert_eq!(
            known(Caller::new().response(&head(status))),
            expected,
            "{status}"
        );
    }
}

/// Code, at a server, at its caller.
const GRPC: [(u8, Outcome, Outcome); 17] = [
    (0, Outcome::Success, Outcome::Success),
    (1, Outcome::Cancelled, Outcome::Cancelled),
    (2, Outcome::Failure, Outcome::Failure),
    (3, Outcome::Ignored, Outcome::Ignored),
    (4, Outcome::Overload, Outcome::Overload),
    (5, Outcome::Ignored, Outcome::Ignored),
    (6, Outcome::Ignored, Outcome::Ignored),
    (7, Outcome::Ignored, Outcome::Ignored),
    (8, Outcome::Overload, Outcome::Overload),
    (9, Outcome::Ignored, Outcome::Ignored),
    (10, Outcome::Failure, Outcome::Failure),
    (11, Outcome::Ignored, Outcome::Ignored),
    (12, Outcome::Ignored, Outcome::Ignored),
    (13, Outcome::Failure, Outcome::Failure),
    (14, Outcome::Failure, Outcome::Overload),
    (15, Outcome::Failure, Outcome::Failure),
    (16, Outcome::Ignored, Outcome::Ignored),
];

fn status(code: &str) -> HeaderMap {
    HeaderMap::from_iter([(
        http::HeaderName::from_static("grpc-status"),
        code.parse().unwrap(),
    )])
}

#[test]
fn grpc_statuses_in_the_head_and_in_the_trailers() {
    for (code, server, caller) in GRPC {
        let trailers = status(&code.to_string());
        assert_eq!(GrpcStatus::of(&trailers).code(), code);
        assert_eq!(Server.trailers(Some(&trailers)), server, "{code}");
        assert_eq!(Caller::new().trailers(Some(&trailers)), caller, "{code}");

        let mut only = head(200);
        only.headers = trailers;
        assert_eq!(known(Server.response(&only)), server, "{code}");
        assert_eq!(known(Caller::new().response(&only)), caller, "{code}");
    }
    for odd in ["17", "-1", "OK", ""] {
        assert_eq!(
            Server.trailers(Some(&status(odd))),
            Outcome::Failure,
            "{odd}"
        );
    }
    for missing in [Some(&HeaderMap::new()), None] {
        assert_eq!(Server.trailers(missing), Outcome::Failure);
        assert_eq!(Caller::new().trailers(missing), Outcome::Failure);
    }
}

#[test]
fn a_grpc_response_is_judged_at_its_trailers_unless_it_never_reached_grpc() {
    let with = |status, kind: &str| {
        let mut head = head(status);
        head.headers
            .insert(http::header::CONTENT_TYPE, kind.parse().unwrap());
        head
    };
    let grpc = with(200, "application/grpc+proto");
    assert_eq!(Server.response(&grpc), Verdict::AtTrailers);
    assert_eq!(Caller::new().response(&grpc), Verdict::AtTrailers);
    // A proxy's answer, and a browser's variant, whose trailers are in the body.
    let proxy = with(503, "application/grpc");
    assert_eq!(known(Caller::new().response(&proxy)), Outcome::Overload);
    let web = with(200, "application/grpc-web");
    assert_eq!(known(Caller::new().response(&web)), Outcome::Success);
}

#[test]
fn a_handler_overrules_and_so_does_a_function_of_the_users() {
    let mut overruled = head(503);
    overruled.extensions.insert(Outcome::Overload);
    assert_eq!(known(Server.response(&overruled)), Outcome::Overload);
    // What another process put there is not there.
    assert_eq!(known(Caller::new().response(&head(404))), Outcome::Ignored);

    let teapot = |head: &response::Parts| {
        (head.status == StatusCode::IM_A_TEAPOT).then_some(Outcome::Success)
    };
    let server = Server.overruled(teapot);
    assert_eq!(known(server.response(&head(418))), Outcome::Success);
    assert_eq!(known(server.response(&head(408))), Outcome::Overload);
    assert_eq!(server.trailers(Some(&status("8"))), Outcome::Overload);
    assert_eq!(server.error(&()), Outcome::Failure);
    let caller = Caller::errors(|(): &()| Outcome::Overload).overruled(teapot);
    assert_eq!(caller.error(&()), Outcome::Overload);
}

/// An error with a cause.
#[derive(Debug)]
struct Because(Box<dyn StdError + Send + Sync>);

impl std::fmt::Display for Because {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the request failed")
    }
}

impl StdError for Because {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.0)
    }
}

#[tokio::test]
async fn timeouts_are_overloads_whoever_measured_them() {
    use std::future::pending;
    use std::time::Duration;
    use tower::{ServiceBuilder, ServiceExt, service_fn};

    let tokio: tokio::time::error::Elapsed = tokio::time::timeout(Duration::ZERO, pending::<()>())
        .await
        .unwrap_err();
    let tower: Box<dyn StdError + Send + Sync> = ServiceBuilder::new()
        .timeout(Duration::ZERO)
        .service(service_fn(|()| pending::<Result<(), io::Error>>()))
        .oneshot(())
        .await
        .unwrap_err();
    let system = io::Error::from(io::ErrorKind::TimedOut);
    let inside = io::Error::other(Because(Box::new(system)));
    let mine = Because(tower);

    for error in [&tokio as &(dyn StdError + 'static), &inside, &mine] {
        assert_eq!(error_outcome(error), Outcome::Overload, "{error:?}");
    }
    assert_eq!(Caller::new().error(&mine), Outcome::Overload);
    assert_eq!(Server.error(&mine), Outcome::Failure);
}

#[test]
fn broken_connections_are_failures() {
    for kind in [
        io::ErrorKind::ConnectionRefused,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::BrokenPipe,
        io::ErrorKind::UnexpectedEof,
    ] {
        let error = Because(Box::new(io::Error::from(kind)));
        assert_eq!(error_outcome(&error), Outcome::Failure, "{kind}");
    }
}

#[test]
fn a_refusal_of_this_process_is_not_the_dependencys_overload() {
    for reason in [
        RejectReason::AtLimit,
        RejectReason::TimedOut,
        RejectReason::Closed,
    ] {
        let refused = Error::<io::Error>::Rejected(Rejected::new(reason, 1, 1));
        assert_eq!(error_outcome(&refused), Outcome::Ignored);
        assert_eq!(error_outcome(&Because(Box::new(refused))), Outcome::Ignored);
    }
}
