//! A million random operations on eight threads: waits of all classes, partitions and callers, cancelled, timed
//! out, released; the limit raised and lowered, shares and quotas changed, limiters that only watch for a while,
//! limiters closed.

mod common;

use common::{Count, poll};
use limiter_std::law::Fixed;
use limiter_std::{
    Acquire, Caller, Config, Guarantee, Limiter, Partition, Partitions, Permit, Priority,
    RejectReason, Request, Shares,
};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::Poll;
use std::thread;
use std::time::Duration;

const THREADS: u64 = 8;
const OPERATIONS: usize = 1_000_000;
/// As many on each limiter, which is closed then: with whoever waits.
const ROUND: usize = 5_000;

type Limited = Limiter<Fixed>;

const NAMES: [&str; 3] = ["reads", "writes", "reports"];

fn guarantees(shares: [u16; 3]) -> Partitions {
    let lent = Duration::from_millis(1);
    let of = |index: usize| Guarantee::of(shares[index]);
    Partitions::new()
        .partition(NAMES[0], of(0))
        .partition(NAMES[1], of(1).lend_after(lent))
        .partition(NAMES[2], of(2))
}

/// In the order of arrival whatever happens: a delay that stands has tests of its own.
fn limiter(parted: bool) -> Limited {
    let config = Config::new(Fixed)
        .initial(4)
        .max(16)
        .queue_length(64)
        .standing_delay(Duration::MAX, Duration::MAX);
    let limiter = if parted {
        Limiter::partitioned(config, &guarantees([0, 400, 200]))
    } else {
        Limiter::try_new(config)
    };
    limiter.expect("a configuration that works")
}

/// Those of one class and partition are served in order.
type List = (Priority, Option<Partition>);

struct Waiting {
    list: List,
    future: Acquire<Fixed>,
    waker: std::task::Waker,
}

/// What one thread has.
struct Hands {
    limiter: Limited,
    random: fastrand::Rng,
    permits: Vec<Permit<Fixed>>,
    waiting: VecDeque<Waiting>,
}

impl Hands {
    fn request(&mut self) -> (List, Request) {
        let class = Priority::ALL[self.random.usize(..4)];
        // Mostly light. All fit into half of the limit, so none of them is too heavy.
        let weight = if self.random.u8(..8) == 0 { 2 } else { 1 };
        let mut request = Request::new().priority(class).weight(weight);
        let name = self.random.usize(..4);
        let partition = NAMES.get(name).map(|name| self.limiter.partition(name));
        let partition = partition.and_then(Result::ok);
        if let Some(partition) = partition {
            request = request.partition(partition);
            // One of them asks for half of everything.
            let caller = self.random.u8(..16).saturating_sub(7);
            request = request.caller(Caller::new(&caller));
        }
        ((class, partition), request)
    }

    fn set_guarantees(&mut self) {
        if !self.limiter.partitions().is_empty() {
            let shares = [0; 3].map(|_| self.random.u16(..=300));
            let set = self.limiter.set_partitions(&guarantees(shares));
            set.expect("nine tenths at most");
        }
    }

    fn step(&mut self) {
        match self.random.u8(..22) {
            0..6 => self.join(),
            6..10 => self.look(),
            10..12 => self.cancel(),
            12..17 => self.release(),
            17 => {
                let limit = self.random.u32(1..=16);
                // Closed meanwhile or not, bounds are bounds.
                self.limiter.set_limit(limit).expect("within the bounds");
            }
            18 => {
                let low = self.random.u16(500..=1_000);
                let shares = Shares::new().interactive(1_000).batch(1_000);
                self.limiter
                    .set_shares(shares.best_effort(low))
                    .expect("in order");
            }
            19 => self.set_guarantees(),
            20 => {
                let watching = self.random.u8(..4) == 0;
                self.limiter.set_watch_only(watching);
            }
            _ => {
                let (_, request) = self.request();
                let time = Duration::from_micros(self.random.u64(..20));
                self.permits
                    .extend(self.limiter.acquire_timeout_for(request, time));
            }
        }
    }

    fn join(&mut self) {
        let (list, request) = self.request();
        let (_, waker) = Count::new();
        let mut future = self.limiter.acquire_async_for(request);
        if self.random.bool() {
            future = future.within(Duration::from_micros(self.random.u64(..2_000)));
        }
        match poll(&mut future, &waker) {
            Poll::Ready(ended) => self.permits.extend(ended),
            Poll::Pending => self.waiting.push_back(Waiting {
                list,
                future,
                waker,
            }),
        }
    }

    /// Looks at one who waits. If it was served, those of its list that this thread queued before must have
    /// been as well.
    fn look(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let at = self.random.usize(..self.waiting.len());
        let mut one = self.waiting.remove(at).expect("there are so many");
        match poll(&mut one.future, &one.waker) {
            Poll::Pending => self.waiting.insert(at, one),
            Poll::Ready(Err(_)) => {}
            Poll::Ready(Ok(permit)) => {
                self.permits.push(permit);
                self.those_before(at, one.list);
            }
        }
    }

    /// Takes what the first `count` of `list` were given, who came before one that was served.
    fn those_before(&mut self, count: usize, list: List) {
        let later = self.waiting.split_off(count);
        for mut before in std::mem::replace(&mut self.waiting, later)
            .into_iter()
            .rev()
        {
            if before.list != list {
                self.waiting.push_front(before);
                continue;
            }
            match poll(&mut before.future, &before.waker) {
                Poll::Ready(ended) => self.permits.extend(ended),
                Poll::Pending => panic!("passed by one of its own list"),
            }
        }
    }

    fn cancel(&mut self) {
        if !self.waiting.is_empty() {
            let at = self.random.usize(..self.waiting.len());
            drop(self.waiting.remove(at));
        }
    }

    fn release(&mut self) {
        if !self.permits.is_empty() {
            let at = self.random.usize(..self.permits.len());
            self.permits.swap_remove(at).forget();
        }
    }
}

/// What is left after a round: half of the limiters are drained by releases, half are closed.
fn end(limiter: &Limited, hands: &mut [Hands], close: bool) {
    if close {
        limiter.close();
    }
    for hands in hands.iter_mut() {
        hands.permits.clear();
    }
    // Without anybody in flight whoever waits was given a slot or told why not.
    let mut left: Vec<_> = hands
        .iter_mut()
        .flat_map(|hands| hands.waiting.drain(..))
        .collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain_mut(|one| match poll(&mut one.future, &one.waker) {
            Poll::Ready(Ok(permit)) => {
                permit.forget();
                false
            }
            Poll::Ready(Err(refused)) => {
                assert!(close || refused.reason != RejectReason::Closed, "{refused}");
                false
            }
            Poll::Pending => true,
        });
        assert!(left.len() < before, "{before} are stranded");
    }
    let seen = limiter.snapshot();
    assert_eq!(
        (seen.inflight, seen.waiting, limiter.queued()),
        (0, false, 0)
    );
}

#[test]
fn a_million_operations_strand_nobody_leak_nothing_and_keep_the_order_of_each_class() {
    let mut random = fastrand::Rng::with_seed(6);
    for round in 0..OPERATIONS / ROUND {
        let limiter = limiter(round % 4 < 2);
        let done = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                let mut hands = Hands {
                    limiter: limiter.clone(),
                    random: random.fork(),
                    permits: Vec::new(),
                    waiting: VecDeque::new(),
                };
                let done = &done;
                scope.spawn(move || {
                    for _ in 0..ROUND / THREADS as usize {
                        hands.step();
                    }
                    done.lock().expect("nobody panicked").push(hands);
                });
            }
        });
        let mut hands = done.into_inner().expect("nobody panicked");
        end(&limiter, &mut hands, round % 2 == 0);
    }
}
