//! A sensor node: it sends a reading five times a second to a server behind its serial port, keeps to its
//! budget while the server refuses, is silent or is gone, sends less meanwhile, and recovers.
//!
//! The server is `cargo run -p limiter-embassy --example node_server`; `cargo xtask test firmware` brings
//! both together over QEMU's serial port.

#![no_std]
#![no_main]

use core::cell::Cell;
use core::time::Duration;

use cortex_m::Peripherals;
use embassy_executor::Spawner;
use embassy_sync::blocking_mutex::raw::ThreadModeRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Instant, Ticker, Timer};
use firmware::frame::{ENOUGH, Frame, READING, REFUSED, Reader, TAKEN};
use firmware::{clock, host, uart};
use limiter_embassy::law::Aimd;
use limiter_embassy::{
    Attempt, Backoff, BreakerConfig, BudgetConfig, CallOptions, Dependency, Ending, Jitter, Policy,
    RATE, Tokens, config, policy,
};

const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// What the server holds the node to: `limiter-embassy/examples/node_server.rs`.
static POLICY: Policy = Policy::new(
    policy()
        .budget(
            BudgetConfig::new()
                .capacity(Tokens::whole(5))
                .ratio(100)
                .floor(Tokens::ONE, Duration::from_secs(4)),
        )
        .breaker(
            BreakerConfig::new()
                .consecutive(Some(4))
                .open(SECOND, Duration::from_secs(4)),
        )
        .throttle(None)
        .backoff(Backoff::new(
            Jitter::Decorrelated,
            Duration::from_millis(300),
            Duration::from_secs(2),
            RATE,
        ))
        .attempts(3)
        .timeout(SECOND)
        .total(Duration::from_secs(4)),
);

// One executor in thread mode, and no interrupt handler that uses it: nothing needs to be masked.
static SERVER: Dependency<ThreadModeRawMutex, Aimd> =
    Dependency::new(config(Aimd::new()), &POLICY, 0x5eed);

static ANSWER: Signal<ThreadModeRawMutex, Frame> = Signal::new();

enum Failed {
    Refused,
}

#[embassy_executor::task]
async fn receive() {
    let mut reader = Reader::default();
    loop {
        while let Some(byte) = uart::receive() {
            match reader.push(byte) {
                Some(frame) if frame.kind == ENOUGH => {
                    host::hprintln!("the server has enough");
                    host::exit(Ok(()));
                }
                Some(frame) => ANSWER.signal(frame),
                None => {}
            }
        }
        Timer::after_millis(1).await;
    }
}

/// One attempt to send one reading: out, and back within the time that the call gives it.
async fn send(reading: u32, attempt: Attempt) -> Result<(), Failed> {
    let frame = Frame {
        kind: READING,
        attempt: attempt.number.min(255) as u8,
        reading,
        stamp: Instant::now().as_millis() as u32,
    };
    for byte in frame.to_bytes() {
        uart::send(byte);
    }
    loop {
        let answer = ANSWER.wait().await;
        // An answer to an older attempt comes too late.
        if (answer.reading, answer.attempt) == (reading, frame.attempt) {
            match answer.kind {
                TAKEN => return Ok(()),
                REFUSED => return Err(Failed::Refused),
                _ => {}
            }
        }
    }
}

/// How often a reading is sent: less while the server is in trouble, which is what this node can do cheaper.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Full,
    Degraded,
}

fn change(mode: &Cell<Mode>, to: Mode) {
    if mode.replace(to) != to {
        match to {
            Mode::Full => host::hprintln!("note: every reading"),
            Mode::Degraded => host::hprintln!("note: one reading in five"),
        }
    }
}

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let Some(mut peripherals) = Peripherals::take() else {
        host::exit(Err("the peripherals are gone"));
    };
    clock::start(&mut peripherals);
    uart::start();
    match receive() {
        Ok(task) => spawner.spawn(task),
        Err(_) => host::exit(Err("no room for a task")),
    }
    let mode = Cell::new(Mode::Full);
    let mut ticker = Ticker::every(embassy_time::Duration::from_ticks(
        RATE.ticks(200 * MILLI).get(),
    ));
    for reading in 0_u32.. {
        ticker.next().await;
        if mode.get() == Mode::Degraded && reading % 5 != 0 {
            continue;
        }
        let sent = SERVER
            .call(
                CallOptions::new(),
                |Failed::Refused| Ending::overload(),
                async |attempt| send(reading, attempt).await,
            )
            .await;
        match sent {
            Ok(()) => change(&mode, Mode::Full),
            Err(_) => change(&mode, Mode::Degraded),
        }
    }
}
