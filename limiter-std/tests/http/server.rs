//! axum on a real server on the loopback interface.

use axum::body::{Body, Bytes};
use axum::routing::get;
use axum::{Extension, Router};
use http_body::Frame;
use limiter_std::http::{LimiterLayer, ReleaseAt};
use limiter_std::law::Fixed;
use limiter_std::{Config, Hold, Limiter, MonotonicClock};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};

type Fixture = Limiter<Fixed>;

fn limiter(limit: u32) -> Fixture {
    Limiter::try_new(Config::new(Fixed).initial(limit)).unwrap()
}

/// Serves until the runtime ends.
async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    address
}

/// A connection with one request under way.
async fn request(server: SocketAddr, path: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    BufReader::new(stream)
}

/// Status line and headers, in lower case.
async fn head(stream: &mut BufReader<TcpStream>) -> Vec<String> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end() {
            "" => return lines,
            line => lines.push(line.to_lowercase()),
        }
    }
}

async fn status(server: SocketAddr, path: &str) -> String {
    head(&mut request(server, path).await).await.remove(0)
}

const OK: &str = "http/1.1 200 ok";
const REFUSED: &str = "http/1.1 503 service unavailable";

/// Waits for what must come.
async fn until(what: &str, so: impl Fn() -> bool) {
    let wait = async {
        while !so() {
            tokio::task::yield_now().await;
        }
    };
    let done = tokio::time::timeout(Duration::from_secs(30), wait).await;
    assert!(done.is_ok(), "never: {what}");
}

/// The next of what is said, which must come.
async fn next<T>(said: &mut mpsc::UnboundedReceiver<T>) -> T {
    let next = tokio::time::timeout(Duration::from_secs(30), said.recv()).await;
    next.expect("nothing was said")
        .expect("nobody is left to say it")
}

async fn slots_taken(limiter: &Fixture, slots: u32) {
    until(&format!("{slots} slots taken"), || {
        limiter.snapshot().inflight == slots
    })
    .await;
}

#[tokio::test]
async fn a_refusal_is_a_response_and_the_handler_is_not_called() {
    let limiter = limiter(1);
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let app = Router::new()
        .route(
            "/",
            get(async move || counted.fetch_add(1, Ordering::Relaxed).to_string()),
        )
        .layer(LimiterLayer::new(limiter.clone()));
    let server = serve(app).await;

    let taken = limiter.try_acquire().unwrap();
    let mut refused = request(server, "/").await;
    let lines = head(&mut refused).await;
    assert_eq!(lines[0], REFUSED);
    assert!(lines.contains(&"retry-after: 1".to_owned()), "{lines:?}");
    assert!(lines.contains(&"content-length: 0".to_owned()), "{lines:?}");
    assert_eq!(calls.load(Ordering::Relaxed), 0);

    // The connection goes on.
    drop(taken);
    let again = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
    refused.get_mut().write_all(again).await.unwrap();
    assert_eq!(head(&mut refused).await[0], OK);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(limiter.snapshot().inflight, 0);
}

#[tokio::test]
async fn connections_share_one_limit_and_clients_that_disconnect_free_it() {
    let limiter = limiter(4);
    let hang = get(async || std::future::pending::<()>().await);
    let app = Router::new()
        .route("/hang", hang)
        .route("/", get(async || ()))
        .layer(LimiterLayer::new(limiter.clone()));
    let server = serve(app).await;

    let mut hanging = Vec::new();
    for slots in 1..=4 {
        hanging.push(request(server, "/hang").await);
        slots_taken(&limiter, slots).await;
    }
    assert_eq!(status(server, "/").await, REFUSED);
    drop(hanging);
    slots_taken(&limiter, 0).await;
    assert_eq!(status(server, "/").await, OK);
}

#[tokio::test]
async fn blocking_work_whose_client_disconnected_keeps_its_slot() {
    /// Tells when the handler is dropped.
    struct Gone(mpsc::UnboundedSender<&'static str>);

    impl Drop for Gone {
        fn drop(&mut self) {
            let _ = self.0.send("the handler is gone");
        }
    }

    let limiter = limiter(1);
    let (say, mut said) = mpsc::unbounded_channel();
    let (end, ends) = std::sync::mpsc::channel::<()>();
    let ends = Arc::new(std::sync::Mutex::new(ends));
    type Share = Extension<Hold<Fixed, MonotonicClock>>;
    let handler = async move |Extension(hold): Share| {
        let _gone = Gone(say.clone());
        let work = move || {
            say.send("the query runs").unwrap();
            ends.lock().unwrap().recv().unwrap();
            drop(hold);
            say.send("the query is done").unwrap();
        };
        tokio::task::spawn_blocking(work).await.unwrap();
    };
    let app = Router::new()
        .route("/report", get(handler))
        .layer(LimiterLayer::new(limiter.clone()));
    let server = serve(app).await;

    let client = request(server, "/report").await;
    assert_eq!(next(&mut said).await, "the query runs");
    drop(client);
    assert_eq!(next(&mut said).await, "the handler is gone");
    // Whoever comes now is refused, for the query goes on.
    for _ in 0..10 {
        assert_eq!(status(server, "/report").await, REFUSED);
    }
    assert_eq!(limiter.snapshot().inflight, 1);
    end.send(()).unwrap();
    assert_eq!(next(&mut said).await, "the query is done");
    slots_taken(&limiter, 0).await;
}

#[tokio::test]
async fn clients_that_leave_half_read_bodies_give_their_slots_back() {
    let limiter = limiter(10);
    let endless = get(async || {
        let chunk = || Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[0; 1024])));
        Body::new(http_body_util::StreamBody::new(Endless(chunk)))
    });
    let app = Router::new()
        .route("/", endless)
        .layer(LimiterLayer::new(limiter.clone()).release_at(ReleaseAt::Body));
    let server = serve(app).await;

    let mut readers = Vec::new();
    for _ in 0..10 {
        let mut reader = request(server, "/").await;
        assert_eq!(head(&mut reader).await[0], OK);
        reader.read_exact(&mut [0; 5_000]).await.unwrap();
        readers.push(reader);
    }
    assert_eq!(limiter.snapshot().inflight, 10);
    assert_eq!(status(server, "/").await, REFUSED);
    drop(readers);
    slots_taken(&limiter, 0).await;
    assert_eq!(status(server, "/").await, OK);
}

/// A stream that never ends and is always ready.
struct Endless<F>(F);

impl<F: FnMut() -> T + Unpin, T> futures_core::Stream for Endless<F> {
    type Item = T;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<T>> {
        std::task::Poll::Ready(Some((self.0)()))
    }
}

#[tokio::test]
async fn a_request_that_waits_is_served_when_a_slot_is_free() {
    let limiter = limiter(1);
    let (enter, mut entered) = mpsc::unbounded_channel();
    let door = Arc::new(Semaphore::new(0));
    let opened = Arc::clone(&door);
    let handler = async move || {
        enter.send(()).unwrap();
        opened.acquire().await.unwrap().forget();
    };
    let app = Router::new()
        .route("/", get(handler))
        .layer(LimiterLayer::new(limiter.clone()).wait());
    let server = serve(app).await;

    let mut first = request(server, "/").await;
    next(&mut entered).await;
    let mut second = request(server, "/").await;
    until("a second that waits", || limiter.queued() == 1).await;
    // A third that gives up leaves the queue.
    let third = request(server, "/").await;
    until("a third that waits", || limiter.queued() == 2).await;
    drop(third);
    until("the third to leave", || limiter.queued() == 1).await;

    door.add_permits(1);
    assert_eq!(head(&mut first).await[0], OK);
    next(&mut entered).await;
    door.add_permits(1);
    assert_eq!(head(&mut second).await[0], OK);
    slots_taken(&limiter, 0).await;
}
