//! The limiter of the crate congestion-limiter, run as it is.
//!
//! It is asynchronous and reads tokio's clock, which can be paused and moved, so it runs in virtual time
//! like everything else here: the futures of its operations are ready at once, and the tasks that it
//! spawns to take permits away run when its runtime is turned. Its `Gradient` subtracts durations that
//! may be negative and panics then; the panic ends that one release, the permit comes back, and the
//! limiter goes on, as it would in a server that catches the panics of its handlers.

use crate::lab::gate::Gate;
use congestion_limiter::aggregation::Average;
use congestion_limiter::limiter::{DefaultLimiter, Limiter, Outcome as Theirs, Token};
use congestion_limiter::limits::{Aimd, Gradient, LimitAlgorithm, Vegas, Windowed};
use limiter_core::Outcome;
use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Once;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

const INITIAL: usize = 20;

thread_local! {
    /// A panic of theirs is expected, and nothing to print a backtrace of.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Keeps quiet about their panics.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
}

/// One of its limiters, in a runtime whose clock only this moves.
pub struct Congestion<T> {
    limiter: DefaultLimiter<T>,
    runtime: Runtime,
    now: u64,
    inflight: u32,
    limit: usize,
}

impl<T> fmt::Debug for Congestion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Congestion")
            .field("now", &self.now)
            .field("inflight", &self.inflight)
            .finish_non_exhaustive()
    }
}

/// Its AIMD.
pub fn aimd() -> Congestion<Aimd> {
    Congestion::new(|| Aimd::new_with_initial_limit(INITIAL))
}

/// Its Vegas, in the windows that its documentation advises.
pub fn vegas() -> Congestion<Windowed<Vegas, Average>> {
    Congestion::new(|| Windowed::new(Vegas::new_with_initial_limit(INITIAL), Average::default()))
}

/// Its Gradient, in the windows that its documentation advises.
pub fn gradient() -> Congestion<Windowed<Gradient, Average>> {
    Congestion::new(|| {
        Windowed::new(
            Gradient::new_with_initial_limit(INITIAL),
            Average::default(),
        )
    })
}

impl<T> Congestion<T>
where
    T: LimitAlgorithm + Sync + fmt::Debug,
{
    fn new(algorithm: impl FnOnce() -> T) -> Self {
        hush();
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build();
        let runtime =
            runtime.expect("a runtime without input and output asks the system for nothing");
        let limiter = {
            let _clock = runtime.enter();
            DefaultLimiter::new(algorithm())
        };
        Self {
            limiter,
            runtime,
            now: 0,
            inflight: 0,
            limit: INITIAL,
        }
    }

    fn advance(&mut self, now: u64) {
        let by = now - self.now;
        self.now = now;
        if by > 0 {
            // The clock moves when this is first polled; what it waits for after that is not needed.
            let _ = poll_once(tokio::time::advance(Duration::from_nanos(by)));
        }
    }
}

fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

impl<T> Gate for Congestion<T>
where
    T: LimitAlgorithm + Sync + fmt::Debug,
{
    type Token = Token;

    fn admit(&mut self, now: u64) -> Option<Token> {
        // A refusal asks for no time.
        if self.limiter.state().available() == 0 {
            return None;
        }
        let handle = self.runtime.handle().clone();
        let _clock = handle.enter();
        self.advance(now);
        let token = poll_once(self.limiter.try_acquire()).flatten();
        self.inflight += u32::from(token.is_some());
        token
    }

    fn settle(&mut self, token: Token, outcome: Outcome, now: u64) {
        self.inflight -= 1;
        let outcome = match outcome {
            Outcome::Success => Some(Theirs::Success),
            Outcome::Overload => Some(Theirs::Overload),
            _ => None,
        };
        let handle = self.runtime.handle().clone();
        let clock = handle.enter();
        self.advance(now);
        let release =
            AssertUnwindSafe(|| poll_once(self.limiter.release(token, outcome)).is_some());
        QUIET.set(true);
        // After a panic the permit has come back while unwinding.
        drop(catch_unwind(release));
        QUIET.set(false);
        drop(clock);
        let limit = self.limiter.state().limit();
        if limit < self.limit {
            self.runtime.block_on(tokio::task::yield_now());
        }
        self.limit = limit;
    }

    fn limit(&self) -> u32 {
        self.limiter.state().limit() as u32
    }

    fn inflight(&self) -> u32 {
        self.inflight
    }
}
