//! Readings over TCP with `embassy-net`: one dependency for the server, whatever the network does.
//!
//! `report` is what a task of the firmware calls; the program itself has no network and ends at once.

// The firmware's own time driver is here on a device.
use mock_clock as _;

use embassy_net::tcp::{ConnectError, Error, TcpSocket};
use embassy_net::{Ipv4Address, Stack};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use limiter_embassy::law::Aimd;
use limiter_embassy::{Attempt, CallOptions, Dependency, Ending, GaveUp, Policy, config, policy};

static POLICY: Policy = Policy::new(policy().attempts(3));

/// At most two connections at once, to begin with; the law finds out whether the server can take more.
static CLOUD: Dependency<CriticalSectionRawMutex> =
    Dependency::new(config(Aimd::new()).initial(2).max(4), &POLICY, 0x5eed);

#[derive(Debug)]
#[allow(dead_code, reason = "for whoever prints them")]
enum Failed {
    /// Nobody there, or not in time.
    Connect(ConnectError),
    /// The connection broke.
    Broken(Error),
    /// The server answered with this status.
    Status(u16),
}

fn ending(error: &Failed) -> Ending {
    match error {
        Failed::Status(429 | 503) => Ending::overload(),
        Failed::Status(400..500) => Ending::permanent(),
        Failed::Connect(_) | Failed::Broken(_) | Failed::Status(_) => Ending::failure(),
    }
}

async fn post(stack: Stack<'_>, reading: u8, attempt: Attempt) -> Result<(), Failed> {
    let (mut incoming, mut outgoing) = ([0; 256], [0; 256]);
    let mut socket = TcpSocket::new(stack, &mut incoming, &mut outgoing);
    let server = (Ipv4Address::new(192, 0, 2, 1), 80);
    socket.connect(server).await.map_err(Failed::Connect)?;
    // The server sheds second attempts first.
    let retry = if attempt.number > 1 { b'1' } else { b'0' };
    let parts: [&[u8]; 5] = [
        b"POST /reading HTTP/1.0\r\nContent-Length: 1\r\nRetry: ",
        &[retry],
        b"\r\n\r\n",
        &[reading],
        b"\r\n",
    ];
    for mut part in parts {
        while !part.is_empty() {
            let written = socket.write(part).await.map_err(Failed::Broken)?;
            part = part.get(written..).unwrap_or_default();
        }
    }
    let mut answer = [0; 12];
    let mut filled = 0;
    while let Some(rest) = answer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match socket.read(rest).await.map_err(Failed::Broken)? {
            0 => break,
            length => filled += length,
        }
    }
    // "HTTP/1.0 200"
    let digits = answer.iter().skip(9).take(3);
    let status = digits.fold(0, |status, digit| {
        status * 10 + u16::from(digit.wrapping_sub(b'0'))
    });
    match status {
        200..300 => Ok(()),
        status => Err(Failed::Status(status)),
    }
}

/// Sends a reading, as often as the budget allows; the task goes on with the next one either way.
async fn report(stack: Stack<'_>, reading: u8) -> Result<(), GaveUp<Failed>> {
    CLOUD
        .call(CallOptions::new(), ending, async |attempt| {
            post(stack, reading, attempt).await
        })
        .await
}

fn main() {
    // Named, so that it is compiled.
    let _ = report;
}
