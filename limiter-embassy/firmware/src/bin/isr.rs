//! Interrupts, nested three deep, take and give slots while tasks do, at any instruction.
//!
//! Only with `-icount`: without it QEMU delivers interrupts between translated blocks, and finds nothing.
//! Numbers on the command line: the periods of the three timers, and the slots that each task takes.

#![no_std]
#![no_main]

use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m::Peripherals;
use cortex_m_rt::exception;
use critical_section::Mutex;
use embassy_executor::Spawner;
use embassy_futures::yield_now;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use firmware::{clock, host, timers};
use limiter_embassy::law::Aimd;
use limiter_embassy::{Limiter, Outcome, Permit, config};

const TASKS: usize = 5;
const MOST: u32 = 4;
/// Short, so that many close while interrupts come and go.
const WINDOW: core::time::Duration = core::time::Duration::from_millis(2);
/// So many interrupts without a task getting anywhere, and somebody is stranded.
const PATIENCE: u32 = 200_000;

type Taken = Permit<'static, CriticalSectionRawMutex, Aimd, TASKS>;

static LIMITER: Limiter<CriticalSectionRawMutex, Aimd, TASKS> = Limiter::new(
    config(Aimd::new())
        .initial(3)
        .min(2)
        .max(MOST)
        .overload_tolerance(80)
        .windows(WINDOW, WINDOW),
);

/// A slot that an interrupt took and one of its next ones gives back.
static KEPT: [Mutex<Cell<Option<Taken>>>; timers::TIMERS] =
    [const { Mutex::new(Cell::new(None)) }; timers::TIMERS];

/// Slots held by each timer and by the tasks: each written by its own context only.
static HELD: [AtomicU32; timers::TIMERS + 1] = [const { AtomicU32::new(0) }; timers::TIMERS + 1];
const BY_TASKS: usize = timers::TIMERS;

static INTERRUPTS: [AtomicU32; timers::TIMERS] = [const { AtomicU32::new(0) }; timers::TIMERS];
static NESTED: AtomicU32 = AtomicU32::new(0);
static RUNNING: [AtomicU32; timers::TIMERS] = [const { AtomicU32::new(0) }; timers::TIMERS];
static ROUNDS: AtomicU32 = AtomicU32::new(0);

fn add(counter: &AtomicU32, by: u32) {
    // Load and store are enough: no other context writes it.
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(by),
        Ordering::Relaxed,
    );
}

fn took(context: usize) {
    add(&HELD[context], 1);
    // Of one instant: between two of the loads a slot could move from one context to the next.
    let held: u32 =
        critical_section::with(|_| HELD.iter().map(|held| held.load(Ordering::Relaxed)).sum());
    host::check(held <= MOST, "more slots are held than the limit allows");
}

fn gives(context: usize) {
    add(&HELD[context], u32::MAX);
}

#[exception]
unsafe fn DefaultHandler(irq: i16) {
    let Some(timer) = timers::acknowledge(irq) else {
        host::exit(Err("an interrupt that nobody asked for"));
    };
    RUNNING[timer].store(1, Ordering::Relaxed);
    add(&INTERRUPTS[timer], 1);
    if RUNNING
        .iter()
        .all(|running| running.load(Ordering::Relaxed) == 1)
    {
        add(&NESTED, 1);
    }
    match critical_section::with(|cs| KEPT[timer].borrow(cs).take()) {
        Some(permit) => {
            gives(timer);
            permit.finish_from_isr(Outcome::Success);
        }
        None => {
            if let Ok(permit) = LIMITER.try_acquire_from_isr() {
                took(timer);
                critical_section::with(|cs| KEPT[timer].borrow(cs).set(Some(permit)));
            }
        }
    }
    if timer == 0 {
        watch();
    }
    RUNNING[timer].store(0, Ordering::Relaxed);
}

/// Sees to it that the tasks get on.
fn watch() {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    static SINCE: AtomicU32 = AtomicU32::new(0);
    let (rounds, now) = (
        ROUNDS.load(Ordering::Relaxed),
        INTERRUPTS[0].load(Ordering::Relaxed),
    );
    if rounds != SEEN.load(Ordering::Relaxed) {
        SEEN.store(rounds, Ordering::Relaxed);
        SINCE.store(now, Ordering::Relaxed);
    } else if now - SINCE.load(Ordering::Relaxed) > PATIENCE {
        host::exit(Err("a waiter is stranded"));
    }
}

#[embassy_executor::task(pool_size = TASKS)]
async fn work(rounds: u32) {
    for round in 0..rounds {
        let Ok(permit) = LIMITER.acquire().await else {
            host::exit(Err("refused, with a place in line for everybody"));
        };
        took(BY_TASKS);
        if round % 3 != 0 {
            yield_now().await;
        }
        gives(BY_TASKS);
        match round % 16 {
            0 => drop(permit),
            1 => permit.forget(),
            2 => permit.finish(Outcome::Overload),
            _ => permit.finish(Outcome::Success),
        }
        add(&ROUNDS, 1);
    }
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let [first, second, third, rounds] = host::numbers();
    host::check(rounds > 0, "give three periods and a number of rounds");
    let Some(mut peripherals) = Peripherals::take() else {
        host::exit(Err("the peripherals are gone"));
    };
    clock::start(&mut peripherals);
    timers::start(&mut peripherals, [first, second, third]);
    for _ in 0..TASKS {
        match work(rounds) {
            Ok(task) => spawner.spawn(task),
            Err(_) => host::exit(Err("no room for a task")),
        }
    }
    while ROUNDS.load(Ordering::Relaxed) < rounds * TASKS as u32 {
        yield_now().await;
    }
    timers::stop();
    for (kept, held) in KEPT.iter().zip(&HELD) {
        if let Some(permit) = critical_section::with(|cs| kept.borrow(cs).take()) {
            add(held, u32::MAX);
            permit.forget();
        }
    }

    let seen = LIMITER.snapshot();
    let [low, middle, high] = INTERRUPTS
        .each_ref()
        .map(|count| count.load(Ordering::Relaxed));
    host::hprintln!(
        "note: {} slots by tasks, interrupts {} {} {}, {} of them three deep, limit {}",
        ROUNDS.load(Ordering::Relaxed),
        low,
        middle,
        high,
        NESTED.load(Ordering::Relaxed),
        seen.limit
    );
    host::check(seen.inflight == 0, "slots were lost");
    host::check(
        !seen.waiting && LIMITER.queued() == 0,
        "somebody is left in line",
    );
    host::check(
        (2..=MOST).contains(&seen.limit),
        "the limit left its bounds",
    );
    host::check(
        NESTED.load(Ordering::Relaxed) > 0,
        "the interrupts never nested",
    );
    host::hprintln!("nothing in flight, nobody in line");
    host::exit(Ok(()))
}
