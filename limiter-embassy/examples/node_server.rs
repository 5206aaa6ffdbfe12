//! The server that the firmware's sensor node talks to, over its serial port on a socket.
//!
//! It serves, refuses, is silent, is gone, and serves again; then it checks the number and the spacing of
//! what arrived. `cargo xtask test firmware` starts it together with QEMU. By hand:
//!
//! ```text
//! cargo run -p limiter-embassy --example node_server
//! qemu-system-arm -M lm3s6965evb -display none -monitor none -semihosting-config enable=on,target=native \
//!     -chardev socket,id=wire,host=127.0.0.1,port=PORT,reconnect=1,nodelay=on -serial chardev:wire -kernel node
//! ```

#[path = "../firmware/src/frame.rs"]
#[allow(dead_code, unreachable_pub, reason = "the node uses the rest")]
mod frame;

use frame::{ENOUGH, Frame, READING, REFUSED, Reader, TAKEN};
use limiter_std::law::Fixed;
use limiter_std::{Config, Limiter, Outcome, Permit};
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Serving,
    Refusing,
    Silent,
    Gone,
    Back,
}

const PHASES: [(Phase, u64); 5] = [
    (Phase::Serving, 5),
    (Phase::Refusing, 6),
    (Phase::Silent, 6),
    (Phase::Gone, 4),
    (Phase::Back, 16),
];

/// What the node was told of its budget: `firmware/src/bin/node.rs`.
const CAPACITY: f64 = 5.0;
const RATIO: f64 = 0.1;
const FLOOR_PER_SECOND: f64 = 0.25;
/// The shortest back-off, in milliseconds of the node.
const BACKOFF: u32 = 300;
/// Milliseconds of the node between two readings, when all is well.
const PERIOD: u32 = 200;

/// A frame, and in which phase it came.
struct Arrival {
    phase: Phase,
    frame: Frame,
}

fn main() -> ExitCode {
    match serve() {
        Ok(arrivals) => {
            let faults = faults(&arrivals);
            for fault in &faults {
                println!("FAILED: {fault}");
            }
            if faults.is_empty() {
                println!("number and spacing are as they should be");
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            println!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}

fn phase(since: Duration) -> Option<Phase> {
    let mut end = 0;
    PHASES.iter().find_map(|(phase, seconds)| {
        end += seconds;
        (since < Duration::from_secs(end)).then_some(*phase)
    })
}

fn serve() -> Result<Vec<Arrival>, Box<dyn Error>> {
    let limiter = Limiter::try_new(Config::new(Fixed).initial(1))?;
    let mut listener = Some(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
    let port = listener.as_ref().map(TcpListener::local_addr).transpose()?;
    let port = port.map_or(0, |address| address.port());
    println!("port {port}");
    let mut wire = listener.as_ref().map(accept).transpose()?;

    let (mut arrivals, mut reader) = (Vec::new(), Reader::default());
    let mut start: Option<Instant> = None;
    // While it refuses, all that the server can do at once is taken.
    let mut taken: Option<Permit<Fixed>> = None;
    loop {
        let since = start.map(|start| start.elapsed()).unwrap_or_default();
        let Some(phase) = phase(since) else { break };
        if phase == Phase::Refusing && taken.is_none() {
            taken = Some(limiter.try_acquire()?);
        } else if phase != Phase::Refusing {
            if let Some(permit) = taken.take() {
                permit.forget();
            }
        }
        if phase == Phase::Gone {
            (wire, listener) = (None, None);
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        if listener.is_none() {
            listener = Some(TcpListener::bind((Ipv4Addr::LOCALHOST, port))?);
            reader = Reader::default();
        }
        let stream = match (&mut wire, &listener) {
            (Some(stream), _) => stream,
            (None, Some(listener)) => wire.insert(accept(listener)?),
            (None, None) => continue,
        };
        for byte in receive(stream)? {
            let Some(frame) = reader.push(byte) else {
                continue;
            };
            if frame.kind != READING {
                continue;
            }
            start.get_or_insert_with(Instant::now);
            arrivals.push(Arrival { phase, frame });
            if phase != Phase::Silent {
                let kind = match limiter.try_acquire() {
                    Ok(permit) => {
                        permit.finish(Outcome::Success);
                        TAKEN
                    }
                    Err(_) => REFUSED,
                };
                stream.write_all(&Frame { kind, ..frame }.to_bytes())?;
            }
        }
    }
    if let Some(stream) = &mut wire {
        let enough = Frame {
            kind: ENOUGH,
            attempt: 0,
            reading: 0,
            stamp: 0,
        };
        stream.write_all(&enough.to_bytes())?;
        // The node ends, and with it the connection.
        while !receive(stream).unwrap_or_default().is_empty() {}
    }
    Ok(arrivals)
}

fn accept(listener: &TcpListener) -> Result<TcpStream, std::io::Error> {
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    Ok(stream)
}

fn receive(stream: &mut TcpStream) -> Result<Vec<u8>, std::io::Error> {
    let mut bytes = [0; 256];
    match stream.read(&mut bytes) {
        Ok(length) => Ok(bytes[..length].to_vec()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Everything that is wrong with what arrived.
fn faults(arrivals: &[Arrival]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |right: bool, what: String| {
        if !right {
            faults.push(what);
        }
    };
    // By the node's own clock: an emulator on a busy machine is slow, and so are all its clocks.
    for (phase, what) in [
        (Phase::Serving, "while it served"),
        (Phase::Back, "in the end"),
    ] {
        let stamps: Vec<_> = arrivals
            .iter()
            .filter(|a| a.phase == phase)
            .map(|a| a.frame.stamp)
            .collect();
        let last = &stamps[stamps.len().saturating_sub(10)..];
        let gap = match last {
            [first, .., end] => end.wrapping_sub(*first) / (last.len() as u32 - 1),
            _ => u32::MAX,
        };
        println!("note: a reading each {gap} ms {what}");
        check(
            last.len() == 10 && (PERIOD - 20..=PERIOD + 60).contains(&gap),
            format!("{} readings, one each {gap} ms {what}", stamps.len()),
        );
    }

    for phase in [Phase::Refusing, Phase::Silent] {
        let stamps = |wanted: Phase| {
            let of_phase = arrivals.iter().filter(move |a| a.phase == wanted);
            of_phase.map(|a| a.frame.stamp)
        };
        let frames = stamps(phase).count() as u32;
        let before = match phase {
            Phase::Refusing => stamps(Phase::Serving).next_back(),
            _ => stamps(Phase::Refusing).next_back(),
        };
        let gap = match (before, stamps(phase).next_back()) {
            (Some(before), Some(last)) => last.wrapping_sub(before) / frames,
            _ => 0,
        };
        println!("note: {phase:?}: {frames} frames, one each {gap} ms");
        check(
            gap >= 2 * PERIOD,
            format!("{frames} frames, one each {gap} ms, while it was {phase:?}"),
        );
    }

    let first = arrivals.iter().filter(|a| a.frame.attempt == 1).count() as f64;
    let more = arrivals.iter().filter(|a| a.frame.attempt > 1).count() as f64;
    let seconds = match arrivals {
        [start, .., end] => f64::from(end.frame.stamp.wrapping_sub(start.frame.stamp)) / 1_000.0,
        _ => 0.0,
    };
    let budget = CAPACITY + RATIO * first + FLOOR_PER_SECOND * seconds;
    println!(
        "note: {more} retries after {first} first attempts in {seconds:.1} s, the budget is {budget:.1}"
    );
    check(more >= 2.0, "it never tried again".to_owned());
    check(
        more <= budget,
        format!("{more} retries, and a budget of {budget:.1}"),
    );

    for pair in arrivals.windows(2) {
        let (before, after) = (&pair[0].frame, &pair[1].frame);
        let gap = after.stamp.wrapping_sub(before.stamp);
        check(
            before.reading != after.reading || gap >= BACKOFF,
            format!(
                "attempt {} of reading {} came {gap} ms after the one before",
                after.attempt, after.reading
            ),
        );
    }

    faults
}
