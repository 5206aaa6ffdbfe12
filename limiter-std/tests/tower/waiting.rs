//! Calls that wait for their slot.

use crate::spy::{Lab, ms};
use limiter_std::law::Fixed;
use limiter_std::tower::{Error, LimiterLayer};
use limiter_std::{Config, Limiter, RejectReason};
use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::sync::oneshot;
use tower::limit::ConcurrencyLimit;
use tower::{Layer, Service, ServiceExt, service_fn};

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

fn reason<T, E>(answer: Poll<Result<T, Error<E>>>) -> Option<RejectReason> {
    match answer {
        Poll::Ready(Err(Error::Rejected(rejected))) => Some(rejected.reason),
        _ => None,
    }
}

#[test]
fn calls_are_served_in_the_order_in_which_they_came() {
    let lab = Lab::new(1);
    let served = Mutex::new(Vec::new());
    let inner = service_fn(|name: char| {
        served.lock().unwrap().push(name);
        ready(Ok::<_, ()>(name))
    });
    let mut service = LimiterLayer::new(lab.limiter.clone()).wait().layer(inner);
    let taken = lab.limiter.try_acquire().unwrap();
    let mut calls: Vec<_> = ['a', 'b', 'c']
        .map(|name| Box::pin(service.call(name)))
        .into();
    for call in &mut calls {
        assert!(call.as_mut().poll(&mut context()).is_pending());
    }
    taken.forget();

    // One that was not granted yet does not pass the head, whoever is polled first.
    assert!(calls[2].as_mut().poll(&mut context()).is_pending());
    for (call, name) in calls.iter_mut().zip(['a', 'b', 'c']) {
        assert_eq!(call.as_mut().poll(&mut context()), Poll::Ready(Ok(name)));
    }
    assert_eq!(*served.lock().unwrap(), ['a', 'b', 'c']);
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn the_wait_is_no_part_of_the_rtt() {
    let lab = Lab::new(1);
    let (answer, answered) = oneshot::channel::<()>();
    let answered = Arc::new(Mutex::new(Some(answered)));
    let inner = service_fn(|()| answered.lock().unwrap().take().unwrap());
    let mut service = LimiterLayer::new(lab.limiter.clone()).wait().layer(inner);
    let taken = lab.limiter.try_acquire().unwrap();
    let mut call = pin!(service.call(()));
    assert!(call.as_mut().poll(&mut context()).is_pending());
    lab.clock.advance(ms(5_000));
    taken.forget();
    assert!(call.as_mut().poll(&mut context()).is_pending());
    lab.clock.advance(ms(20));
    answer.send(()).unwrap();
    assert!(call.as_mut().poll(&mut context()).is_ready());
    assert_eq!(lab.windows()[0].rtt_mean.get(), 20_000_000);
}

#[test]
fn a_call_that_is_dropped_at_any_step_strands_nobody() {
    // Queued; granted and not polled; called and not answered.
    for steps in 0..3 {
        let lab = Lab::new(1);
        let inner = service_fn(|()| pending::<Result<(), ()>>());
        let mut service = LimiterLayer::new(lab.limiter.clone()).wait().layer(inner);
        let taken = lab.limiter.try_acquire().unwrap();
        let mut first = Box::pin(service.call(()));
        assert!(first.as_mut().poll(&mut context()).is_pending());
        let mut second = pin!(service.call(()));
        assert!(second.as_mut().poll(&mut context()).is_pending());
        assert_eq!(lab.limiter.queued(), 2);
        if steps > 0 {
            taken.forget();
        } else {
            drop(first);
            assert_eq!(lab.limiter.queued(), 1, "it left the queue");
            taken.forget();
            first = Box::pin(service.call(()));
        }
        if steps > 1 {
            assert!(first.as_mut().poll(&mut context()).is_pending());
        }
        drop(first);
        assert!(second.as_mut().poll(&mut context()).is_pending());
        let seen = lab.limiter.snapshot();
        assert_eq!(
            (seen.inflight, seen.waiting),
            (1, false),
            "after {steps} steps"
        );
    }
}

#[test]
fn a_wait_ends_with_its_timer_with_a_full_queue_and_with_the_limiter() {
    let lab = Lab::with(|config| config.initial(1).queue_length(1));
    let hang = || service_fn(|()| ready(Ok::<_, ()>(())));
    let (ring, rings) = oneshot::channel::<()>();
    let rings = Mutex::new(Some(rings));
    let alarm = || {
        let alarm = rings.lock().unwrap().take();
        async move {
            match alarm {
                Some(alarm) => drop(alarm.await),
                None => pending().await,
            }
        }
    };
    let layer = LimiterLayer::new(lab.limiter.clone());
    let mut timed = layer.clone().wait_until(alarm).layer(hang());
    let mut waiting = layer.wait().layer(hang());
    let _taken = lab.limiter.try_acquire().unwrap();

    let mut call = pin!(timed.call(()));
    assert!(call.as_mut().poll(&mut context()).is_pending());
    let over = pin!(waiting.call(())).poll(&mut context());
    assert_eq!(reason(over), Some(RejectReason::QueueFull));
    ring.send(()).unwrap();
    assert_eq!(
        reason(call.poll(&mut context())),
        Some(RejectReason::TimedOut)
    );

    let mut call = pin!(waiting.call(()));
    assert!(call.as_mut().poll(&mut context()).is_pending());
    lab.limiter.close();
    assert_eq!(
        reason(call.poll(&mut context())),
        Some(RejectReason::Closed)
    );
    assert_eq!(lab.limiter.queued(), 0);
}

#[test]
fn the_inner_service_may_lose_its_readiness_during_the_wait() {
    let lab = Lab::new(1);
    let (mut mock, mut handle) = tower_test::mock::spawn::<(), ()>();
    handle.allow(1);
    assert!(mock.poll_ready().is_ready());
    let mut service = LimiterLayer::new(lab.limiter.clone())
        .wait()
        .layer(mock.into_inner());
    assert!(service.poll_ready(&mut context()).is_ready());
    let taken = lab.limiter.try_acquire().unwrap();
    let mut call = pin!(service.call(()));
    assert!(call.as_mut().poll(&mut context()).is_pending());
    handle.send_error("gone");
    taken.forget();
    let answer = call.poll(&mut context());
    let Poll::Ready(Err(Error::Inner(error))) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(error.to_string(), "gone");
    assert_eq!(lab.inflight(), 0);
}

#[test]
fn what_the_inner_services_readiness_reserved_waits_with_the_call_that_will_use_it() {
    let lab = Lab::new(1);
    let inner = ConcurrencyLimit::new(service_fn(|()| ready(Ok::<_, ()>(()))), 1);
    let mut service = LimiterLayer::new(lab.limiter.clone()).wait().layer(inner);
    let taken = lab.limiter.try_acquire().unwrap();
    assert!(service.poll_ready(&mut context()).is_ready());
    let mut call = pin!(service.call(()));
    assert!(call.as_mut().poll(&mut context()).is_pending());
    taken.forget();
    assert_eq!(call.poll(&mut context()), Poll::Ready(Ok(())));
}

/// How far the calls of a crowd have come.
#[derive(Debug, Default)]
struct Crowd {
    running: AtomicUsize,
    peak: AtomicUsize,
    called: AtomicUsize,
    /// The most calls that were let in between the arrival of one and its turn.
    longest_wait: AtomicUsize,
}

/// 512 tasks, each with a service of its own, call again and again under a limit of 64.
async fn crowd(calls: usize) -> Arc<Crowd> {
    // In the order of arrival also on a machine so busy that a delay stands.
    let config = Config::new(Fixed)
        .initial(64)
        .queue_length(512)
        .standing_delay(Duration::MAX, Duration::MAX);
    let limiter = Limiter::try_new(config).unwrap();
    let crowd = Arc::new(Crowd::default());
    let inner = {
        let crowd = Arc::clone(&crowd);
        service_fn(move |arrived: usize| {
            let now = crowd.called.fetch_add(1, Ordering::Relaxed);
            crowd
                .longest_wait
                .fetch_max(now.saturating_sub(arrived), Ordering::Relaxed);
            let running = crowd.running.fetch_add(1, Ordering::Relaxed) + 1;
            crowd.peak.fetch_max(running, Ordering::Relaxed);
            let crowd = Arc::clone(&crowd);
            async move {
                tokio::task::yield_now().await;
                crowd.running.fetch_sub(1, Ordering::Relaxed);
                Ok::<_, Infallible>(())
            }
        })
    };
    // Its readiness reserves a slot of a semaphore, of which calls that wait here hold some too.
    let inner = ConcurrencyLimit::new(inner, 128);
    let service = LimiterLayer::new(limiter.clone()).wait().layer(inner);
    let tasks: Vec<_> = (0..512)
        .map(|_| {
            let (mut service, crowd) = (service.clone(), Arc::clone(&crowd));
            tokio::spawn(async move {
                for _ in 0..calls {
                    let ready = service.ready().await.unwrap();
                    let arrived = crowd.called.load(Ordering::Relaxed);
                    ready.call(arrived).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let seen = limiter.snapshot();
    assert_eq!((seen.inflight, seen.waiting), (0, false));
    assert_eq!(crowd.called.load(Ordering::Relaxed), 512 * calls);
    crowd
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_on_several_threads_gets_through_and_stays_below_the_limit() {
    let crowd = crowd(1_000).await;
    assert_eq!(crowd.peak.load(Ordering::Relaxed), 64);
}

#[tokio::test(flavor = "current_thread")]
async fn nobody_in_a_crowd_waits_for_more_than_those_who_came_before() {
    let crowd = crowd(100).await;
    // 128 have a reservation of the inner service: 64 of them run, 64 wait.
    let longest = crowd.longest_wait.load(Ordering::Relaxed);
    assert!((64..128).contains(&longest), "{longest}");
}
