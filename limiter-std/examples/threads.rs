//! A client of threads: a dependency in front of a TCP server that is full now and then.
//!
//! ```text
//! cargo run -p limiter-std --example threads
//! ```

use limiter_std::{Attempt, CallOptions, Dependency, DependencyConfig, Ending, Jitter};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

const THREADS: usize = 4;
const CALLS: usize = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = serve()?;
    let store = Dependency::try_new(DependencyConfig::default().backoff(
        Jitter::Full,
        Duration::from_millis(5),
        Duration::from_millis(50),
    ))?;
    let good = thread::scope(|scope| {
        let callers: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| (0..CALLS).filter(|_| read(&store, address).is_ok()).count()))
            .collect();
        callers
            .into_iter()
            .filter_map(|caller| caller.join().ok())
            .sum::<usize>()
    });
    let counts = store.counts();
    println!(
        "{good} of {} calls were answered; {counts:?}",
        THREADS * CALLS
    );
    assert_eq!(counts.calls, THREADS * CALLS);
    assert!(
        counts.retries > 0 && good >= 95,
        "a twentieth is full at first"
    );
    assert_eq!(store.snapshot().limiter.inflight, 0);
    Ok(())
}

/// One logical call.
fn read(store: &Dependency, address: SocketAddr) -> Result<String, String> {
    let answer = store.call(CallOptions::new(), judge, |attempt| send(address, attempt));
    answer.map_err(|gave_up| format!("{gave_up} {:?}", gave_up.last))
}

fn send(address: SocketAddr, attempt: Attempt) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, attempt.timeout)?;
    stream.set_read_timeout(Some(attempt.timeout))?;
    writeln!(stream, "attempt {}", attempt.number)?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    match line.trim() {
        "full" => Err(ErrorKind::ResourceBusy.into()),
        rows => Ok(rows.to_owned()),
    }
}

fn judge(result: Result<&String, &io::Error>) -> Ending {
    match result.map_err(io::Error::kind) {
        Ok(_) => Ending::success(),
        Err(ErrorKind::ResourceBusy) => Ending::overload(),
        // What a socket says whose time is over.
        Err(ErrorKind::TimedOut | ErrorKind::WouldBlock) => Ending::timeout(),
        Err(_) => Ending::failure(),
    }
}

/// A server that is full for each twentieth first attempt; it ends with the process.
fn serve() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            thread::spawn(move || answer(number, stream));
        }
    });
    Ok(address)
}

fn answer(number: usize, mut stream: TcpStream) -> io::Result<()> {
    let mut line = String::new();
    BufReader::new(stream.try_clone()?).read_line(&mut line)?;
    let full = line.trim() == "attempt 1" && number % 20 == 0;
    writeln!(stream, "{}", if full { "full" } else { "42 rows" })
}

#[test]
fn every_call_is_answered() {
    main().expect("runs");
}
