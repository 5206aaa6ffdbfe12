//! Counts the instructions of every operation, and fails when there are more than there were.
//!
//! Under `-icount shift=10` an instruction takes 1,024 ns of the board's time, so SysTick counts them.

#![no_std]
#![no_main]

mod bounds;

use core::future::Future;
use core::hint::black_box;
use core::pin::Pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use bounds::{BOUNDS, Bound};
use cortex_m::Peripherals;
use cortex_m::peripheral::SYST;
use cortex_m_rt::entry;
use embassy_sync::blocking_mutex::raw::RawMutex;
use embassy_time::Instant;
use firmware::{clock, host};
use limiter_core::law::{Aimd, Knee};
use limiter_core::{
    CallOptions, Config, Dependency, DependencyConfig, Ending, Limiter, Outcome, Permit, Policy,
    Step, TickRate, Timestamp, Tokens,
};

/// Ticks of SysTick in a thousand instructions.
const TICKS_PER_1000: u64 = 1_024 * clock::CORE_HZ as u64 / 1_000_000;

static LIMITER: Limiter<Aimd> = Limiter::new(Config::new(Aimd::new(), TickRate::MILLIS));
static FULL: Limiter<Aimd> = Limiter::new(Config::new(Aimd::new(), TickRate::MILLIS).initial(1));
static POLICY: Policy = Policy::new(DependencyConfig::new(TickRate::MILLIS));
static DEPENDENCY: Dependency<Aimd, (), &'static Policy> =
    Dependency::sharing(Config::new(Aimd::new(), TickRate::MILLIS), &POLICY);
static KNEE: Limiter<Knee> = Limiter::new(Config::new(Knee::new(), TickRate::MILLIS));

fn ticks() -> u32 {
    SYST::get_current()
}

fn between(start: u32, end: u32) -> u32 {
    // It counts down, in 24 bits.
    start.wrapping_sub(end) & 0x00ff_ffff
}

fn instructions(ticks: u32) -> u32 {
    ((u64::from(ticks) * 1_000 + TICKS_PER_1000 / 2) / TICKS_PER_1000) as u32
}

/// Instructions of `work`, without those of counting.
#[inline(never)]
fn count(work: impl FnOnce()) -> u32 {
    let start = ticks();
    work();
    let end = ticks();
    let start_of_nothing = ticks();
    let end_of_nothing = ticks();
    let nothing = between(start_of_nothing, end_of_nothing);
    instructions(between(start, end).saturating_sub(nothing))
}

struct Table {
    exceeded: bool,
}

impl Table {
    fn row(&mut self, what: &str, counted: u32, bound: &Bound) {
        let verdict = match bound.target {
            _ if counted > bound.most => "  MORE THAN BEFORE",
            Some(target) if counted > target => "  above the target",
            _ => "",
        };
        self.exceeded |= counted > bound.most;
        match bound.target {
            None => host::hprintln!("note: {:>5}        {}{}", counted, what, verdict),
            Some(target) => {
                host::hprintln!("note: {:>5} of {:>3} {}{}", counted, target, what, verdict);
            }
        }
    }
}

fn at(ticks: u64) -> Timestamp {
    Timestamp::from_ticks(black_box(ticks))
}

#[inline(never)]
fn pair(limiter: &Limiter<Aimd>, start: Timestamp, end: Timestamp) {
    if let Ok(permit) = limiter.try_acquire(start) {
        permit.finish(Outcome::Success, end);
    }
}

#[inline(never)]
fn acquire(limiter: &Limiter<Aimd>, now: Timestamp) -> Option<Permit<&Limiter<Aimd>>> {
    limiter.try_acquire(now).ok()
}

#[inline(never)]
fn finish(permit: Permit<&Limiter<Aimd>>, outcome: Outcome, now: Timestamp) {
    permit.finish(outcome, now);
}

fn core_operations(table: &mut Table) {
    let limiter = black_box(&LIMITER);
    pair(limiter, at(1), at(2));
    let (start, end) = (at(3), at(5));
    let counted = count(|| pair(limiter, start, end));
    table.row("acquire and finish", counted, &BOUNDS.pair);

    if let Some(permit) = acquire(limiter, at(5)) {
        let now = at(6);
        let counted = count(|| finish(permit, Outcome::Overload, now));
        table.row("finish with overload", counted, &BOUNDS.overload);
    }

    let full = black_box(&FULL);
    let held = acquire(full, at(1));
    let now = at(2);
    let counted = count(|| {
        black_box(acquire(full, now));
    });
    table.row("refusal", counted, &BOUNDS.refusal);
    drop(held);
}

fn windows(table: &mut Table) {
    let limiter = black_box(&LIMITER);
    for round in 0..20 {
        pair(limiter, at(20 + round), at(21 + round));
    }
    let (start, end) = (at(2_000), at(2_001));
    let counted = count(|| pair(limiter, start, end));
    table.row(
        "acquire and finish that closes a window, Aimd",
        counted,
        &BOUNDS.aimd,
    );

    let limiter = black_box(&KNEE);
    let mut most = 0;
    for round in 0..600_u64 {
        let (start, end) = (at(10 * round), at(10 * round + 7));
        let counted = count(|| {
            if let Ok(permit) = limiter.try_acquire(start) {
                permit.finish(Outcome::Success, end);
            }
        });
        most = most.max(counted);
    }
    table.row("the same, Knee, the worst of 600", most, &BOUNDS.knee);
}

fn dependency(table: &mut Table) {
    let dependency = black_box(&DEPENDENCY);
    let budget = dependency.budget();
    let now = at(1_000);
    budget.deposit();
    let counted = count(|| {
        black_box(budget.withdraw(Tokens::milli(1), now).is_ok());
    });
    table.row("withdraw from the budget", counted, &BOUNDS.withdraw);

    let mut call = dependency.call(now, CallOptions::new());
    let mut first = None;
    let start = count(|| first = Some(call.step(now, 7)));
    host::check(
        matches!(first, Some(Step::Attempt(_))),
        "the first attempt was refused",
    );
    let later = at(1_020);
    let end = count(|| call.finish(1, Ending::overload(), later, 7));
    let wait = count(|| {
        black_box(&call.step(later, 7));
    });
    let worst = start.max(end).max(wait);
    table.row("step of a call, the worst of three", worst, &BOUNDS.call);
    host::hprintln!(
        "note:              first attempt {}, its end {}, the wait {}",
        start,
        end,
        wait
    );
    let later = at(1_030);
    let counted = count(|| {
        black_box(&dependency.save(later).to_bytes());
    });
    table.row("save, checksum included", counted, &BOUNDS.save);
}

/// Counts the instructions under the lock, and how often it is taken.
struct Counting;

static LOCKED: AtomicU32 = AtomicU32::new(0);
static LONGEST: AtomicU32 = AtomicU32::new(0);

// SAFETY: the only context of this binary that locks is its main function.
unsafe impl RawMutex for Counting {
    const INIT: Self = Self;

    fn lock<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = ticks();
        let result = work();
        let end = ticks();
        let start_of_nothing = ticks();
        let end_of_nothing = ticks();
        let nothing = between(start_of_nothing, end_of_nothing);
        let counted = instructions(between(start, end).saturating_sub(nothing));
        LONGEST.store(
            LONGEST.load(Ordering::Relaxed).max(counted),
            Ordering::Relaxed,
        );
        LOCKED.store(LOCKED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        result
    }
}

fn locked(work: impl FnOnce()) -> (u32, u32) {
    LOCKED.store(0, Ordering::Relaxed);
    LONGEST.store(0, Ordering::Relaxed);
    work();
    (
        LOCKED.load(Ordering::Relaxed),
        LONGEST.load(Ordering::Relaxed),
    )
}

fn noop_waker() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(core::ptr::null(), &VTABLE),
        |_| {},
        |_| {},
        |_| {},
    );
    // SAFETY: the functions do nothing with the pointer.
    unsafe { Waker::new(core::ptr::null(), &VTABLE) }
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(&noop_waker()))
}

fn line_of_waiters(table: &mut Table) {
    let limiter: limiter_embassy::Limiter<Counting, Aimd, 4> =
        limiter_embassy::Limiter::new(limiter_embassy::config(Aimd::new()).initial(1));
    let limiter = black_box(&limiter);
    let mut held = None;
    let (locks, _) = locked(|| held = limiter.try_acquire().ok());
    host::check(locks == 0 && held.is_some(), "taking a free slot locks");
    let (locks, _) = locked(|| drop(held.take()));
    host::check(locks == 0, "a release without waiters locks");

    let mut held = limiter.try_acquire().ok();
    let mut waiting = [(); 3].map(|()| limiter.acquire());
    let mut row = |what, bound: &Bound, (locks, longest): (u32, u32)| {
        host::check(locks == 1, "locked more than once, or not at all");
        table.row(what, longest, bound);
    };
    let joining = waiting
        .each_mut()
        .map(|future| locked(|| host::check(poll(future).is_pending(), "there was a slot")));
    row("locked: join the line", &BOUNDS.join, joining[2]);
    row(
        "locked: look again",
        &BOUNDS.again,
        locked(|| host::check(poll(&mut waiting[1]).is_pending(), "there was a slot")),
    );
    row(
        "locked: release to a waiter",
        &BOUNDS.release,
        locked(|| {
            if let Some(permit) = held.take() {
                permit.finish(Outcome::Success);
            }
        }),
    );
    row(
        "locked: take what was granted",
        &BOUNDS.take,
        locked(|| {
            if let Poll::Ready(Ok(permit)) = poll(&mut waiting[0]) {
                held = Some(permit);
            }
        }),
    );
    host::check(held.is_some(), "woken and not granted");
    let [_, second, third] = waiting;
    row(
        "locked: leave from the middle",
        &BOUNDS.leave,
        locked(|| drop(second)),
    );
    drop((held, third));
    host::check(limiter.snapshot().inflight == 0, "slots were lost");

    // Room for several is a step for each of them, and no step has a loop.
    let held = limiter.try_acquire().ok();
    let mut waiting = [(); 3].map(|()| limiter.acquire());
    for future in &mut waiting {
        host::check(poll(future).is_pending(), "there was a slot");
    }
    let (locks, _) = locked(|| host::check(limiter.set_limit(4).is_ok(), "within the bounds"));
    host::check(locks == 3, "three waiters are not three steps");
    drop((held, waiting));
    host::check(limiter.snapshot().inflight == 0, "slots were lost");
}

#[entry]
fn main() -> ! {
    let Some(mut peripherals) = Peripherals::take() else {
        host::exit(Err("the peripherals are gone"));
    };
    clock::count(&mut peripherals.SYST);
    let mut table = Table { exceeded: false };
    core_operations(&mut table);
    windows(&mut table);
    dependency(&mut table);
    line_of_waiters(&mut table);
    let counted = count(|| {
        black_box(Instant::now());
    });
    table.row(
        "reading the clock, in none of the above",
        counted,
        &BOUNDS.clock,
    );
    let end = if table.exceeded {
        Err("more instructions than before")
    } else {
        Ok(())
    };
    host::exit(end)
}
