//! A call as a future.

use super::options::{Attempt, CallOptions, GaveUp, Judge};
use super::shared::{Guard, Next, Shared};
use super::sleep::Sleep;
use crate::clock::{Clock, RATE};
use crate::wait::Line;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use limiter_core::law::Law;
use limiter_core::{GiveUp, Refusal, Seat, Timestamp};
use pin_project_lite::pin_project;
use std::sync::Arc;

/// Starts attempts. Sealed: it cannot be named from outside.
pub(crate) trait Start {
    type Running: Future;

    fn start(&mut self, attempt: Attempt) -> Self::Running;
}

impl<A: FnMut(Attempt) -> F, F: Future> Start for A {
    type Running = F;

    fn start(&mut self, attempt: Attempt) -> F {
        self(attempt)
    }
}

pin_project! {
    // Fields are dropped in order: what attempts hold comes after the attempts.
    pub(crate) struct Calling<T, E, A, J, Z, L, C>
    where
        A: Start,
        Z: Sleep,
        L: Law,
        C: Clock,
    {
        #[pin]
        one: Option<A::Running>,
        #[pin]
        other: Option<A::Running>,
        #[pin]
        timer: Option<Z::Sleeping>,
        numbers: [u32; 2],
        // When the timer is due.
        due: Option<Timestamp>,
        stage: Stage<L, C>,
        start: A,
        judge: J,
        sleep: Z,
        last: Option<Result<T, E>>,
        guard: Guard<L, C>,
    }
}

/// What the call is at.
enum Stage<L: Law, C: Clock> {
    Step(Option<Seat>),
    /// Until an attempt ends, or until this time. In back-off there is no attempt.
    Waiting(Timestamp),
    Queued(Line<Shared<L, C>>, Timestamp),
    Over,
}

impl<T, E, A, J, Z, L, C> Calling<T, E, A, J, Z, L, C>
where
    A: Start<Running: Future<Output = Result<T, E>>>,
    J: Judge<T, E>,
    Z: Sleep,
    L: Law,
    C: Clock,
{
    pub(crate) fn new(
        shared: &Arc<Shared<L, C>>,
        options: CallOptions,
        sleep: Z,
        judge: J,
        start: A,
    ) -> Self {
        Self {
            one: None,
            other: None,
            timer: None,
            numbers: [0; 2],
            due: None,
            stage: Stage::Step(None),
            start,
            judge,
            sleep,
            last: None,
            guard: Guard::new(shared, options),
        }
    }
}

impl<T, E, A, J, Z, L, C> Future for Calling<T, E, A, J, Z, L, C>
where
    A: Start<Running: Future<Output = Result<T, E>>>,
    J: Judge<T, E>,
    Z: Sleep,
    L: Law,
    C: Clock,
{
    type Output = Result<T, GaveUp<T, E>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let mut slept = false;
        let why = loop {
            // A slot in here is handed on at once; a panic in between would be one of this crate's.
            match core::mem::replace(this.stage, Stage::Over) {
                Stage::Step(slot) => match this.guard.step(slot) {
                    Next::Attempt(attempt) => {
                        *this.stage = Stage::Step(None);
                        let running = this.start.start(attempt);
                        let [one, other] = this.numbers;
                        if this.one.is_none() {
                            *one = attempt.number;
                            this.one.set(Some(running));
                        } else {
                            *other = attempt.number;
                            this.other.set(Some(running));
                        }
                    }
                    Next::Cancel(number) => {
                        *this.stage = Stage::Step(None);
                        let [one, other] = *this.numbers;
                        if number == one {
                            this.one.set(None);
                        }
                        if number == other {
                            this.other.set(None);
                        }
                    }
                    Next::Running(until) | Next::Wait(until) => {
                        *this.stage = Stage::Waiting(until);
                    }
                    Next::Queue(line, until) => *this.stage = Stage::Queued(line, until),
                    Next::Done => break None,
                    Next::GiveUp(why) => break Some(why),
                },
                Stage::Waiting(until) => {
                    *this.stage = Stage::Waiting(until);
                    let [one, other] = *this.numbers;
                    let ended = match poll_one(this.one.as_mut(), context) {
                        Some(result) => Some((one, result)),
                        None => {
                            poll_one(this.other.as_mut(), context).map(|result| (other, result))
                        }
                    };
                    if let Some((number, result)) = ended {
                        let ending = this.judge.judge(result.as_ref());
                        *this.last = Some(result);
                        this.guard.finish(number, ending);
                        *this.stage = Stage::Step(None);
                        continue;
                    }
                    let (timer, due) = (this.timer.as_mut(), &mut *this.due);
                    ready!(sleep_until(
                        until,
                        timer,
                        due,
                        this.sleep,
                        this.guard.clock(),
                        context
                    ));
                    *this.stage = Stage::Step(None);
                    if core::mem::replace(&mut slept, true) {
                        // A sleep that is over at once, and a clock that stands still: not for ever in here.
                        context.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
                Stage::Queued(mut line, until) => {
                    let granted = match line.poll(context.waker()) {
                        Poll::Ready(ended) => ended,
                        Poll::Pending => {
                            // The queue may have a longest wait of its own.
                            let until = line.deadline().unwrap_or(until);
                            let (timer, due) = (this.timer.as_mut(), &mut *this.due);
                            let clock = this.guard.clock();
                            if sleep_until(until, timer, due, this.sleep, clock, context)
                                .is_pending()
                            {
                                *this.stage = Stage::Queued(line, until);
                                return Poll::Pending;
                            }
                            if this.guard.clock().now() < until {
                                // Early: another sleep.
                                *this.stage = Stage::Queued(line, until);
                                if core::mem::replace(&mut slept, true) {
                                    context.waker().wake_by_ref();
                                    return Poll::Pending;
                                }
                                continue;
                            }
                            line.give_up()
                        }
                    };
                    match granted {
                        Ok((_, slot)) => *this.stage = Stage::Step(slot),
                        Err(refused) => break Some(GiveUp::Refused(Refusal::Limiter(refused))),
                    }
                }
                // Pending for ever once it was ready.
                Stage::Over => return Poll::Pending,
            }
        };
        this.one.set(None);
        this.other.set(None);
        this.timer.set(None);
        Poll::Ready(match (why, this.last.take()) {
            (None, Some(Ok(answer))) => Ok(answer),
            // An error that was judged a success is an answer all the same.
            (None, last) => Err(this.guard.give_up(GiveUp::Permanent, last)),
            (Some(why), last) => Err(this.guard.give_up(why, last)),
        })
    }
}

/// Polls an attempt, and drops it when it is done.
fn poll_one<F: Future>(
    mut running: Pin<&mut Option<F>>,
    context: &mut Context<'_>,
) -> Option<F::Output> {
    let Poll::Ready(result) = running.as_mut().as_pin_mut()?.poll(context) else {
        return None;
    };
    running.set(None);
    Some(result)
}

/// Polls the timer, after it was made one that is due at `until`; done, it is dropped.
fn sleep_until<Z: Sleep, C: Clock>(
    until: Timestamp,
    mut timer: Pin<&mut Option<Z::Sleeping>>,
    due: &mut Option<Timestamp>,
    sleep: &Z,
    clock: &C,
    context: &mut Context<'_>,
) -> Poll<()> {
    if *due != Some(until) || timer.is_none() {
        let left = until.since(clock.now()).unwrap_or_default();
        timer.set(Some(sleep.sleep(RATE.duration(left))));
        *due = Some(until);
    }
    if let Some(sleeping) = timer.as_mut().as_pin_mut() {
        ready!(sleeping.poll(context));
    }
    timer.set(None);
    *due = None;
    Poll::Ready(())
}
