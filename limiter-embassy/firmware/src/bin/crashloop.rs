//! A device that resets itself over and over, at every instruction of a save among others, and whose budget
//! no reset refills.
//!
//! What survives a reset is in `.uninit`: the two records, and this program's own book of what happened.

#![no_std]
#![no_main]

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use cortex_m::Peripherals;
use cortex_m::peripheral::SCB;
use cortex_m_rt::exception;
use embassy_executor::Spawner;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_time::Instant;
use firmware::{clock, host, timers};
use limiter_embassy::law::Fixed;
use limiter_embassy::{
    BreakerConfig, BudgetConfig, CallOptions, Dependency, Ending, Policy, RecordError, Retained,
    Tokens, config, policy,
};

const SECOND: Duration = Duration::from_secs(1);
const CAPACITY: u32 = 10;
/// One token in ten seconds.
const FLOOR_MS: u32 = 10_000;

static POLICY: Policy = Policy::new(
    policy()
        .budget(
            BudgetConfig::new()
                .capacity(Tokens::whole(CAPACITY))
                .floor(Tokens::ONE, Duration::from_secs(10)),
        )
        .breaker(
            BreakerConfig::new()
                .consecutive(Some(3))
                .failure_share(None)
                .open(Duration::from_secs(60), Duration::from_secs(60)),
        )
        .throttle(None),
);

// SAFETY: the section is not cleared and not loaded; every value of every word is allowed.
#[unsafe(link_section = ".uninit.kept")]
static KEPT: Retained = Retained::new();

static CLOUD: Dependency<CriticalSectionRawMutex, Fixed> =
    Dependency::new(config(Fixed), &POLICY, 0x5eed).keeping(&KEPT);

/// The book, in memory that survives as well.
struct Book {
    magic: AtomicU32,
    part: AtomicU32,
    lives: AtomicU32,
    attempts: AtomicU32,
    /// Milliseconds over all lives, sleep included.
    time: AtomicU32,
    /// Ticks of the timer after which the next reset comes, in the part that looks for the save.
    aim: AtomicU32,
    /// Attempts when it was set.
    before: AtomicU32,
    /// A reset after so many ticks comes before the attempt leaves; after so many, later.
    early_at: AtomicU32,
    late_at: AtomicU32,
    /// Attempts that left during the sweep.
    left: AtomicU32,
    /// Resets that came before the attempt left.
    early: AtomicU32,
}

const MAGIC: u32 = 0xb00c_0001;

// SAFETY: as above.
#[unsafe(link_section = ".uninit.book")]
static BOOK: Book = Book {
    magic: AtomicU32::new(0),
    part: AtomicU32::new(0),
    lives: AtomicU32::new(0),
    attempts: AtomicU32::new(0),
    time: AtomicU32::new(0),
    aim: AtomicU32::new(0),
    before: AtomicU32::new(0),
    early_at: AtomicU32::new(0),
    late_at: AtomicU32::new(0),
    left: AtomicU32::new(0),
    early: AtomicU32::new(0),
};

fn get(word: &AtomicU32) -> u32 {
    word.load(Ordering::Relaxed)
}

fn set(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Relaxed);
}

fn add(word: &AtomicU32, by: u32) {
    set(word, get(word).wrapping_add(by));
}

/// Ends a life: the book has its time, rounded up.
fn reset() -> ! {
    add(&BOOK.time, Instant::now().as_millis() as u32 + 1);
    add(&BOOK.lives, 1);
    SCB::sys_reset()
}

/// The timer of the parts that reset in the middle of something.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    add(&BOOK.early, 1);
    reset()
}

/// Polls a future until it has ended, or the time is over.
fn run_for<F: Future>(
    waker: &Waker,
    mut future: Pin<&mut F>,
    milliseconds: u64,
) -> Option<F::Output> {
    let end = Instant::now().as_ticks() + milliseconds;
    while Instant::now().as_ticks() < end {
        let mut context = Context::from_waker(waker);
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        cortex_m::asm::wfi();
    }
    None
}

/// Calls whose attempts all fail, until the life of so many milliseconds is over.
fn calls_that_fail(waker: &Waker, milliseconds: u64) {
    let end = Instant::now().as_ticks() + milliseconds;
    while Instant::now().as_ticks() < end {
        let call = CLOUD.call(
            CallOptions::new(),
            |_| Ending::failure(),
            async |_| {
                add(&BOOK.attempts, 1);
                Err::<(), ()>(())
            },
        );
        run_for(
            waker,
            pin!(call),
            end.saturating_sub(Instant::now().as_ticks()),
        );
        cortex_m::asm::wfi();
    }
}

/// A call whose attempt leaves, and takes the device with it.
fn call_that_kills(waker: &Waker, before_poll: impl Fn()) -> ! {
    let call = CLOUD.call(
        CallOptions::new(),
        |_| Ending::failure(),
        async |_| -> Result<(), ()> {
            add(&BOOK.attempts, 1);
            reset()
        },
    );
    let mut call = pin!(call);
    for _ in 0..3_000 {
        before_poll();
        let mut context = Context::from_waker(waker);
        if call.as_mut().poll(&mut context).is_ready() {
            // Nothing left: the budget does not cover it.
            reset();
        }
        timers::stop();
        cortex_m::asm::wfi();
    }
    host::exit(Err("a call takes for ever"))
}

fn restore(asleep: Duration) {
    let restored = CLOUD.restore(asleep);
    add(&BOOK.time, asleep.as_millis() as u32);
    host::check(restored.is_ok(), "a reset lost both records");
}

/// Attempts of all lives so far are no more than what was there, and one for each period of the floor.
fn within_budget(what: &str, there: u32) {
    let (attempts, time) = (get(&BOOK.attempts), get(&BOOK.time));
    let most = there + time / FLOOR_MS + 1;
    host::hprintln!(
        "note: {}: {} attempts in {} lives and {} s, at most {}; {} resets before one left",
        what,
        attempts,
        get(&BOOK.lives),
        time / 1_000,
        most,
        get(&BOOK.early)
    );
    host::check(attempts > 0, "no attempt ever left");
    host::check(attempts <= most, "a reset refilled the budget");
    host::hprintln!("{}: within the budget", what);
}

fn next_part() -> ! {
    add(&BOOK.part, 1);
    for word in [&BOOK.attempts, &BOOK.time, &BOOK.aim, &BOOK.early] {
        set(word, 0);
    }
    // After the reset, which counts a life.
    set(&BOOK.lives, u32::MAX);
    reset()
}

/// Powers on into memory full of garbage.
fn power_on() -> ! {
    let kept: *const Retained = &KEPT;
    for index in 0..size_of::<Retained>() / 4 {
        // SAFETY: within the static, whose words may all be written through a shared reference.
        unsafe {
            ptr::write_volatile(
                kept.cast::<u32>().cast_mut().add(index),
                0x9e37_79b9 ^ index as u32,
            )
        };
    }
    let restored = CLOUD.restore(Duration::ZERO);
    host::check(
        restored == Err(RecordError::Damaged),
        "garbage was taken for a record",
    );
    host::check(
        CLOUD.snapshot().balance < Tokens::ONE,
        "garbage filled the budget",
    );
    host::hprintln!("garbage: an empty budget");
    set(&BOOK.magic, MAGIC);
    set(&BOOK.part, 0);
    next_part()
}

/// Dies with the first attempt of each life, fifty times.
fn dies_at_once(waker: &Waker) -> ! {
    if get(&BOOK.lives) >= 50 {
        within_budget("fifty lives", 1);
        next_part();
    }
    restore(Duration::ZERO);
    call_that_kills(waker, || {})
}

/// Sleeps two seconds between lives, fifty times.
fn dies_and_sleeps(waker: &Waker) -> ! {
    if get(&BOOK.lives) >= 50 {
        within_budget("fifty lives and two seconds of sleep between", 1);
        next_part();
    }
    restore(2 * SECOND);
    call_that_kills(waker, || {})
}

/// Resets at every instruction of the save that comes before an attempt leaves: the instant of leaving is
/// found by halving, and the sweep goes over the ticks before it that the command line says.
fn dies_in_a_save(waker: &Waker) -> ! {
    const MOST: u32 = 0xffff;
    let [save] = host::numbers();
    let aim = match get(&BOOK.aim) {
        // First a life whose attempt leaves: those after it owe for one, and all take the same path.
        0 => {
            set(&BOOK.early_at, 0);
            set(&BOOK.late_at, u32::MAX);
            set(&BOOK.left, 0);
            MOST
        }
        aim => {
            let left = get(&BOOK.attempts) != get(&BOOK.before);
            let (early_at, late_at) = (get(&BOOK.early_at), get(&BOOK.late_at));
            if late_at - early_at > 1 {
                set(if left { &BOOK.late_at } else { &BOOK.early_at }, aim);
                let middle = (get(&BOOK.early_at) + get(&BOOK.late_at)) / 2;
                if get(&BOOK.late_at) - get(&BOOK.early_at) > 1 {
                    middle
                } else {
                    get(&BOOK.late_at).saturating_sub(save).max(1)
                }
            } else {
                add(&BOOK.left, u32::from(left));
                aim + 1
            }
        }
    };
    host::check(aim <= MOST, "the attempt never leaves");
    // Paths differ a little from one life to the next: past the instant for good, and not by chance.
    if get(&BOOK.left) >= 20 {
        within_budget("a reset at every instruction of a save", 1);
        next_part();
    }
    set(&BOOK.aim, aim);
    // Enough for the floor to cover what the attempt before owes.
    restore(15 * SECOND);
    set(&BOOK.before, get(&BOOK.attempts));
    // The polls before are shorter than what comes before the save in the last one.
    call_that_kills(waker, || timers::once(aim))
}

/// Lives too short for the open time of a breaker.
fn short_lives(waker: &Waker) -> ! {
    let lives = get(&BOOK.lives);
    restore(Duration::ZERO);
    let before = get(&BOOK.attempts);
    calls_that_fail(waker, 2_000);
    let opened = get(&BOOK.early);
    if opened == 0
        && !matches!(
            CLOUD.snapshot().breaker,
            limiter_embassy::BreakerState::Closed
        )
    {
        // The life in which it opened.
        set(&BOOK.early, lives + 1);
    } else if opened != 0 && get(&BOOK.attempts) > before {
        host::hprintln!(
            "note: open after {} lives, tried again in life {}",
            opened,
            lives
        );
        host::check(
            lives - opened < 12,
            "a device with short lives waits too long",
        );
        host::hprintln!("short lives: tried again in the end");
        host::exit(Ok(()));
    }
    host::check(lives < 100, "a device with short lives never gets to try");
    reset()
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let Some(mut peripherals) = Peripherals::take() else {
        host::exit(Err("the peripherals are gone"));
    };
    clock::start(&mut peripherals);
    // Some boards' timers run on over a reset, in QEMU.
    timers::stop();
    if get(&BOOK.magic) != MAGIC {
        power_on();
    }
    // Timers take wakers of the executor only. What is polled here is polled by hand.
    let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
    match get(&BOOK.part) {
        1 => dies_at_once(&waker),
        2 => dies_and_sleeps(&waker),
        3 => dies_in_a_save(&waker),
        _ => short_lives(&waker),
    }
}
