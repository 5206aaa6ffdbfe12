//! The real work: an aggregate over a range of rows of an SQLite file, read through a fixed pool
//! of connections.

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::{Duration, Instant};

/// Rows of the table; a query reads a few per cent of them.
const ROWS: u32 = 600_000;
/// How long one query is to take alone on the server's core.
const QUERY: Duration = Duration::from_millis(12);
/// Connections of the server, as a small database would allow it.
pub(crate) const CONNECTIONS: usize = 8;

/// How many rows a query reads on this machine, and how long that takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibrated {
    pub(crate) rows: u32,
    pub(crate) query: Duration,
}

/// Builds the table in a new file and finds the number of rows that takes [`QUERY`].
pub(crate) fn prepare(path: &Path) -> Result<Calibrated> {
    let built = Connection::open(path).and_then(|mut db| {
        db.pragma_update(None, "journal_mode", "WAL")?;
        let write = db.transaction()?;
        write.execute_batch(
            "CREATE TABLE sales (id INTEGER PRIMARY KEY, shop INTEGER, cents INTEGER, note TEXT)",
        )?;
        write.execute(
            "INSERT INTO sales \
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1) \
             SELECT i, (i * 2654435761) % 97, (i * 40503) % 10007, 'sale number ' || i FROM n",
            [ROWS],
        )?;
        write.commit()
    });
    built.with_context(|| format!("cannot build the database {}", path.display()))?;
    calibrate(&open(path)?).context("cannot time the query")
}

fn calibrate(db: &Connection) -> Result<Calibrated> {
    let mut rows = 5_000;
    let mut query = Duration::MAX;
    // Each round corrects the last one's error; three are enough, the time is nearly linear.
    for round in 0..4 {
        // The shortest of some: what else runs on the machine only ever adds.
        query = Duration::MAX;
        for from in 0..15 {
            let began = Instant::now();
            report(db, from * 104_729, rows)?;
            query = query.min(began.elapsed());
        }
        if round < 3 {
            let scaled = f64::from(rows) * QUERY.as_secs_f64() / query.as_secs_f64().max(1e-6);
            rows = (scaled as u32).clamp(100, ROWS / 4);
        }
    }
    Ok(Calibrated { rows, query })
}

fn open(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .with_context(|| format!("cannot open the database {}", path.display()))
}

/// The query: sales per shop over `rows` rows from `from` on, the best shop's total.
fn report(db: &Connection, from: u32, rows: u32) -> Result<i64> {
    let from = from % (ROWS - rows + 1);
    let mut query = db.prepare_cached(
        "SELECT shop, sum(cents) AS total, max(length(note)) FROM sales \
         WHERE id >= ?1 AND id < ?2 GROUP BY shop ORDER BY total DESC LIMIT 1",
    )?;
    Ok(query.query_row([from, from + rows], |row| row.get(1))?)
}

/// A fixed number of connections. Who finds none waits, on a thread.
#[derive(Debug)]
pub(crate) struct Pool {
    give_back: Sender<Connection>,
    take: Receiver<Connection>,
}

impl Pool {
    pub(crate) fn open(path: &Path) -> Result<Pool> {
        let (give_back, take) = bounded(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            give_back.send(open(path)?).map_err(|_| gone())?;
        }
        Ok(Pool { give_back, take })
    }

    /// Waits for a connection, runs the query, and waits `pause` more before the connection is
    /// free again.
    pub(crate) fn report(&self, from: u32, rows: u32, pause: Duration) -> Result<i64> {
        let db = self.take.recv()?;
        let best = report(&db, from, rows);
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        self.give_back.send(db).map_err(|_| gone())?;
        best
    }
}

fn gone() -> anyhow::Error {
    anyhow::anyhow!("the pool of connections is gone")
}
