//! The results: tables on standard output, plots and JSON in files.

use crate::plot;
use crate::row::Row;
use crate::timeline::Timeline;
use crate::verdict::verdicts;
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where the results go; opened before the run, so that a bad path is known at once.
#[derive(Debug)]
pub(crate) struct Outputs {
    folder: PathBuf,
    json: Option<(PathBuf, File)>,
}

impl Outputs {
    pub(crate) fn open(folder: &Path, json: Option<&Path>) -> Result<Outputs> {
        std::fs::create_dir_all(folder)
            .and_then(|()| tempfile::tempfile_in(folder))
            .with_context(|| format!("cannot write into the folder {}", folder.display()))?;
        let json = json.map(|path| Ok::<_, anyhow::Error>((path.to_owned(), writable(path)?)));
        Ok(Outputs {
            folder: folder.to_owned(),
            json: json.transpose()?,
        })
    }

    /// Prints the tables, draws the plots, and writes the JSON file.
    pub(crate) fn write(
        self,
        fixed: usize,
        capacity: f64,
        rows: &[Row],
        timelines: &[Timeline],
    ) -> Result<()> {
        let mut text = format!(
            "\ncapacity {capacity:.1} requests/s, fixed limit {fixed}; latencies of attempts that \
             succeeded, in ms\n"
        );
        text += &table(rows);
        text += &slow_down_table(timelines, capacity);
        text += &verdicts(rows);
        let _ = std::io::stdout().write_all(text.as_bytes());
        if let Some((path, mut file)) = self.json {
            let lines = serde_json::to_string_pretty(rows)? + "\n";
            file.set_len(0)
                .and_then(|()| file.write_all(lines.as_bytes()))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let drawn = plot::draw(&self.folder, rows, timelines, capacity)?;
        let mut text = String::new();
        for path in drawn {
            let _ = writeln!(text, "plot: {}", path.display());
        }
        let _ = std::io::stdout().write_all(text.as_bytes());
        Ok(())
    }
}

/// Opens a file to be written later and leaves what is in it until then.
fn writable(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(path);
    file.with_context(|| format!("cannot write {}", path.display()))
}

fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "{:<8}{:>5}{:>10}{:>10}{:>7}{:>7}{:>7}{:>11}{:>13}{:>10}{:>7}{:>6}{:>9}\n",
        "mode",
        "load",
        "offered/s",
        "goodput/s",
        "share",
        "p50",
        "p99",
        "refused/s",
        "timed out/s",
        "attempts",
        "limit",
        "cpu",
        "lag p99"
    );
    for row in rows {
        let limit = row.limit.map_or("-".into(), |limit| format!("{limit:.1}"));
        let _ = writeln!(
            text,
            "{:<8}{:>5}{:>10.1}{:>10.1}{:>7.2}{:>7.0}{:>7.0}{:>11.1}{:>13.1}{:>10.2}{:>7}{:>6.2}\
             {:>9.1}",
            row.mode.name(),
            row.load,
            row.offered_per_s,
            row.goodput_per_s,
            row.goodput_share,
            row.p50_ms,
            row.p99_ms,
            row.refused_per_s,
            row.timed_out_per_s,
            row.attempts_per_request,
            limit,
            row.server_cpu,
            row.generator_lag_p99_ms,
        );
    }
    text + "attempts: per request; cpu: share of a core that the server had; lag: how late the \
            generator sent\n"
}

/// The phases of the slow-down; empty when there was none.
fn slow_down_table(timelines: &[Timeline], capacity: f64) -> String {
    let mut text = String::new();
    for timeline in timelines.iter().filter(|timeline| timeline.slow_down) {
        let _ = writeln!(
            text,
            "\n{}: {}\n{:<34}{:>10}{:>7}{:>7}{:>7}{:>7}",
            timeline.mode.name(),
            timeline.title(),
            "phase",
            "goodput/s",
            "share",
            "p50",
            "p99",
            "limit"
        );
        for phase in &timeline.phases {
            let limit = phase.late_limit();
            let limit = limit.map_or("-".into(), |limit| format!("{limit:.1}"));
            let _ = writeln!(
                text,
                "{:<34}{:>10.1}{:>7.2}{:>7.0}{:>7.0}{:>7}",
                phase.name,
                phase.goodput(),
                phase.goodput() / capacity,
                phase.late(|slice| slice.p50_ms),
                phase.late(|slice| slice.p99_ms),
                limit,
            );
        }
    }
    text
}
