//! Any runtime will do: more tasks than slots, on three of them.

use limiter_std::law::Fixed;
use limiter_std::{Config, Limiter, Outcome, RejectReason};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SLOTS: u32 = 4;
const TASKS: usize = 64;

static AT_ONCE: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

fn limiter() -> Limiter<Fixed> {
    Limiter::try_new(Config::new(Fixed).initial(SLOTS)).unwrap()
}

/// Takes a slot, lets others run, and gives it back.
async fn work(limiter: Limiter<Fixed>, at_once: &AtomicUsize) {
    let permit = limiter.acquire_async().await.unwrap();
    let now = at_once.fetch_add(1, Ordering::Relaxed) + 1;
    assert!(now <= SLOTS as usize);
    yield_once().await;
    at_once.fetch_sub(1, Ordering::Relaxed);
    permit.finish(Outcome::Success);
}

async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

fn assert_done(limiter: &Limiter<Fixed>) {
    let seen = limiter.snapshot();
    assert_eq!(
        (seen.inflight, seen.waiting, limiter.queued()),
        (0, false, 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn on_tokio() {
    let limiter = limiter();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| tokio::spawn(work(limiter.clone(), &AT_ONCE[0])))
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_done(&limiter);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_of_tokio_ends_the_wait_and_leaves_the_queue() {
    let limiter = limiter();
    let held: Vec<_> = (0..SLOTS).map(|_| limiter.try_acquire().unwrap()).collect();
    let timer = || tokio::time::sleep(Duration::from_millis(50));
    let refused = limiter.acquire_until(timer()).await.unwrap_err();
    assert_eq!(refused.reason, RejectReason::TimedOut);
    let dropped = tokio::time::timeout(Duration::from_millis(50), limiter.acquire_async()).await;
    assert!(dropped.is_err());
    assert_eq!(limiter.queued(), 0);
    drop(held);
    assert!(limiter.acquire_until(timer()).await.is_ok());
    assert_done(&limiter);
}

#[test]
fn on_smols_executor() {
    let limiter = limiter();
    let executor = async_executor::Executor::new();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| executor.spawn(work(limiter.clone(), &AT_ONCE[1])))
        .collect();
    pollster::block_on(executor.run(async {
        for task in tasks {
            task.await;
        }
    }));
    assert_done(&limiter);
}

#[test]
fn on_no_runtime_but_a_thread_each() {
    let limiter = limiter();
    std::thread::scope(|scope| {
        for _ in 0..TASKS {
            scope.spawn(|| pollster::block_on(work(limiter.clone(), &AT_ONCE[2])));
        }
    });
    assert_done(&limiter);
}
