//! Callers that take more than their share are refused first, at the door and in the queue.

mod common;

use common::{Fixture, Taken, Task, with};
use limiter_std::law::Fixed;
use limiter_std::{Caller, Config, ManualClock, Priority, RejectReason, Request};
use std::collections::VecDeque;
use std::task::Poll;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
/// How long a request holds its slot, in milliseconds; twenty slots do two a millisecond.
const HOLDS: u64 = 10;

fn of(name: &str) -> Request {
    Request::new().caller(Caller::new(name))
}

/// Takes and frees a slot as `name` until it has had more than its share, among others that ask for little.
fn make_greedy(limiter: &Fixture, clock: &ManualClock, name: &str) {
    for turn in 0..2_000 {
        drop(limiter.try_acquire_for(of(name)));
        if turn % 20 == 0 {
            let other = format!("other {}", turn / 20 % 10);
            drop(limiter.try_acquire_for(of(&other)));
        }
        if turn % 10 == 0 {
            clock.advance(10 * MS);
        }
    }
}

struct Kept {
    asked: u64,
    had: u64,
}

impl Kept {
    fn share(&self) -> f64 {
        self.had as f64 / self.asked as f64
    }
}

/// Ten callers ask for half of what there is, one for five times all of it, for ten seconds.
fn what_the_innocent_keep(request: impl Fn(usize, u64) -> Request) -> Kept {
    let (limiter, clock) = with(Config::new(Fixed).initial(20).queue_length(100));
    let mut held: VecDeque<(u64, Taken)> = VecDeque::new();
    let mut waiting: Vec<(Task, bool, u64)> = Vec::new();
    let mut kept = Kept { asked: 0, had: 0 };
    for now in 0..10_000 {
        while held.front().is_some_and(|(until, _)| *until <= now) {
            drop(held.pop_front());
        }
        for (mut task, innocent, since) in std::mem::take(&mut waiting) {
            match task.poll() {
                Poll::Ready(Ok(permit)) => {
                    kept.had += u64::from(innocent);
                    held.push_back((now + HOLDS, permit));
                }
                Poll::Ready(Err(_)) => {}
                // Nobody waits for longer than fifty milliseconds.
                Poll::Pending if now - since < 50 => waiting.push((task, innocent, since)),
                Poll::Pending => {}
            }
        }
        let innocent = [(now % 10) as usize];
        for who in innocent.into_iter().chain([10; 10]) {
            kept.asked += u64::from(who < 10);
            let task = Task::of(limiter.acquire_async_for(request(who, now)));
            waiting.push((task, who < 10, now));
        }
        for (mut task, innocent, since) in std::mem::take(&mut waiting) {
            match task.poll() {
                Poll::Ready(Ok(permit)) => {
                    kept.had += u64::from(innocent);
                    held.push_back((now + HOLDS, permit));
                }
                Poll::Ready(Err(_)) => {}
                Poll::Pending => waiting.push((task, innocent, since)),
            }
        }
        clock.advance(MS);
    }
    kept
}

#[test]
fn callers_within_their_share_keep_nine_tenths_beside_one_that_asks_for_five_times_everything() {
    let fair = what_the_innocent_keep(|who, _| of(&who.to_string()));
    assert!(fair.share() >= 0.9, "kept {}", fair.share());
    let alike = what_the_innocent_keep(|_, _| Request::new());
    assert!(alike.share() < 0.5, "kept {} without", alike.share());
}

#[test]
fn a_caller_that_changes_its_name_is_known_by_where_it_comes_from() {
    let kept = what_the_innocent_keep(|who, now| {
        let name = if who == 10 { now } else { who as u64 };
        Request::new().caller(Caller::new(&name).from(&who))
    });
    assert!(kept.share() >= 0.9, "kept {}", kept.share());
}

#[test]
fn a_caller_beyond_its_share_does_not_wait_and_is_told_why() {
    let (limiter, clock) = with(Config::new(Fixed).initial(10));
    make_greedy(&limiter, &clock, "greedy");
    let held: Vec<_> = std::iter::from_fn(|| limiter.try_acquire_for(of("greedy")).ok()).collect();
    assert_eq!(held.len(), 8, "four fifths");
    let mut greedy = Task::of(limiter.acquire_async_for(of("greedy")));
    let Poll::Ready(Err(refused)) = greedy.poll() else {
        panic!("it waits");
    };
    assert_eq!(refused.reason, RejectReason::OverShare);
    let _others = [0, 1].map(|_| limiter.try_acquire_for(of("other 1")).expect("kept free"));
    drop(Task::queued_for(&limiter, of("other 2")));
}

#[test]
fn one_who_waits_and_has_had_more_than_its_share_by_then_makes_way() {
    let (limiter, clock) = with(Config::new(Fixed).initial(10));
    let mut held: Vec<_> = (0..9).map(|_| limiter.try_acquire().unwrap()).collect();
    let of_second_class = |name| of(name).priority(Priority::Interactive);
    let mut greedy = Task::queued_for(&limiter, of_second_class("greedy"));
    let mut innocent = Task::queued_for(&limiter, of_second_class("innocent"));
    // The highest class passes: it has had much by the time it is its turn.
    make_greedy(&limiter, &clock, "greedy");
    drop(held.pop());
    assert_eq!((greedy.woken(), innocent.woken()), (1, 1));
    let Poll::Ready(Err(refused)) = greedy.poll() else {
        panic!("it has a slot");
    };
    assert_eq!(refused.reason, RejectReason::OverShare);
    drop(innocent.permit());
}

#[test]
fn what_callers_beyond_their_share_may_use_is_set_while_running() {
    let config = Config::new(Fixed).initial(10);
    let (limiter, clock) = with(config);
    make_greedy(&limiter, &clock, "greedy");
    let most = || {
        let held = std::iter::from_fn(|| limiter.try_acquire_for(of("greedy")).ok());
        held.collect::<Vec<_>>().len()
    };
    assert_eq!(most(), 8);
    limiter.reconfigure(&config.beyond_may_use(300)).unwrap();
    assert_eq!(most(), 3);
    for wrong in [0, 1_001] {
        let error = limiter.reconfigure(&config.beyond_may_use(wrong));
        let said = format!("beyond_may_use = {wrong}: allowed are 1 to 1000");
        assert_eq!(error.unwrap_err().to_string(), said);
    }
    assert_eq!(most(), 3);
}

#[test]
fn the_same_name_is_the_same_caller_whatever_its_type_of_string() {
    assert_eq!(Caller::new("acme"), Caller::new(&String::from("acme")));
    assert_ne!(Caller::new("acme"), Caller::new("other"));
}
