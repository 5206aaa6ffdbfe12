//! Interleaved rounds: each case right after a raw pair, round after round, so that whatever else the machine
//! does is in both.

use super::case::{Case, Subject};
use super::raw;
use core::hint::black_box;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long each measurement takes and how many there are.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Rounds; the medians are over them.
    pub rounds: usize,
    /// What a case takes in a round, and the raw pair beside it.
    pub batch: Duration,
}

/// What a case took, over the rounds.
#[derive(Clone, Debug)]
pub struct Time {
    /// Times the raw pair in the same round: median.
    pub ratio: f64,
    /// The quartiles of that.
    pub quartiles: (f64, f64),
    /// Nanoseconds for each operation and thread: median.
    pub nanos: f64,
}

/// Measures cases on so many threads at once.
pub fn measure(cases: &[&Case], threads: usize, plan: Plan) -> Vec<Time> {
    let mut players: Vec<_> = cases
        .iter()
        .map(|case| Player::new(case.build(), plan))
        .collect();
    let mut reference = Player::new(raw::pair(), plan);
    for _ in 0..plan.rounds {
        for player in &mut players {
            let beside = reference.play(threads);
            let nanos = player.play(threads);
            player.seen.push((nanos / beside, nanos));
        }
    }
    players.iter().map(Player::sum_up).collect()
}

/// A subject with its place in time.
struct Player {
    subject: Box<dyn Subject>,
    next: u64,
    batch: u64,
    seen: Vec<(f64, f64)>,
}

impl Player {
    /// Finds how many operations fill a batch, which warms up too.
    fn new(subject: Box<dyn Subject>, plan: Plan) -> Self {
        let mut player = Self {
            subject,
            next: 1,
            batch: 64,
            seen: Vec::new(),
        };
        loop {
            let took = player.play(1) * player.batch as f64;
            if took >= plan.batch.as_nanos() as f64 / 2.0 || player.batch >= 1 << 24 {
                return player;
            }
            player.batch *= 2;
        }
    }

    /// Nanoseconds for each operation and thread.
    fn play(&mut self, threads: usize) -> f64 {
        let operations = self.next..self.next + self.batch;
        self.next = operations.end;
        let subject = self.subject.as_ref();
        let total: f64 = match threads {
            1 => nanos(subject, operations),
            _ => together(subject, &operations, threads).iter().sum(),
        };
        total / threads as f64 / self.batch as f64
    }

    fn sum_up(&self) -> Time {
        let ratios = sorted(self.seen.iter().map(|(ratio, _)| *ratio));
        let nanos = sorted(self.seen.iter().map(|(_, nanos)| *nanos));
        Time {
            ratio: quantile(&ratios, 0.5),
            quartiles: (quantile(&ratios, 0.25), quantile(&ratios, 0.75)),
            nanos: quantile(&nanos, 0.5),
        }
    }
}

fn nanos(subject: &dyn Subject, operations: Range<u64>) -> f64 {
    let start = Instant::now();
    black_box(subject.run(operations));
    start.elapsed().as_nanos() as f64
}

/// The same operations on several threads, each on a core of its own where there is one, started at once.
fn together(subject: &dyn Subject, operations: &Range<u64>, threads: usize) -> Vec<f64> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let there = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let (there, operations) = (&there, operations.clone());
                let core = cores.get(thread).copied();
                scope.spawn(move || {
                    if let Some(core) = core {
                        core_affinity::set_for_current(core);
                    }
                    there.fetch_add(1, Ordering::AcqRel);
                    while there.load(Ordering::Acquire) < threads {
                        core::hint::spin_loop();
                    }
                    nanos(subject, operations)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or(f64::NAN))
            .collect()
    })
}

fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}

fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1) as f64 * part).round() as usize;
    sorted.get(at).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_sorted_figures() {
        let figures = sorted([3.0, 1.0, 2.0, 5.0, 4.0].into_iter());
        assert_eq!(quantile(&figures, 0.5), 3.0);
        assert_eq!(quantile(&figures, 0.25), 2.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn a_raw_pair_costs_about_a_raw_pair() {
        let plan = Plan {
            rounds: 9,
            batch: Duration::from_micros(200),
        };
        let mut first = Player::new(raw::pair(), plan);
        let mut second = Player::new(raw::pair(), plan);
        for _ in 0..plan.rounds {
            let beside = first.play(1);
            let nanos = second.play(1);
            second.seen.push((nanos / beside, nanos));
        }
        let time = second.sum_up();
        // Wide: other tests run on the same cores.
        assert!((0.2..5.0).contains(&time.ratio), "{time:?}");
    }
}
