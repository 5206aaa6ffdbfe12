//! Figures of a run: goodput, tail latency, fairness, and when a law has settled.

use super::trace::{End, Ended, Trace};

/// What an interval of a run showed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Requests answered within their deadline, per second.
    pub goodput: f64,
    /// 99th percentile of the time callers waited, in µs, gave they up or not; `None` without any.
    pub p99: Option<u32>,
    /// Mean of the same, in ns.
    pub mean: u64,
}

/// The figures of `[from, to)` in ns.
pub fn figures(trace: &Trace, from: u64, to: u64) -> Figures {
    let mut waits = Vec::new();
    let (mut good, mut sum) = (0_u64, 0_u64);
    for ended in trace.between(from, to) {
        good += u64::from(ended.end == End::Good);
        if ended.end != End::Refused {
            waits.push(ended.latency);
            sum += u64::from(ended.latency);
        }
    }
    let seconds = to.saturating_sub(from).max(1) as f64 / 1e9;
    let rank = waits.len() * 99 / 100;
    let p99 = (!waits.is_empty()).then(|| *waits.select_nth_unstable(rank).1);
    Figures {
        goodput: good as f64 / seconds,
        p99,
        mean: (sum * 1_000)
            .checked_div(waits.len() as u64)
            .unwrap_or_default(),
    }
}

/// The largest goodput of a caller over the smallest in `[from, to)`, among callers `who`;
/// `None` when nobody had any. One that had none counts as if it had had one answer.
pub fn spread(trace: &Trace, from: u64, to: u64, who: std::ops::Range<usize>) -> Option<f64> {
    let mut good = vec![0_u32; who.end];
    for ended in trace.between(from, to) {
        if let Some(count) = good.get_mut(usize::from(ended.caller)) {
            *count += u32::from(ended.end == End::Good);
        }
    }
    let shares = &good[who];
    let most = shares.iter().max().copied().unwrap_or(0);
    let least = shares.iter().min().copied().unwrap_or(0);
    (most > 0).then(|| f64::from(most) / f64::from(least.max(1)))
}

/// What is judged has at least so many good answers of the oracle.
const LEAST: u32 = 400;
/// A cell has so many, or a twelfth of the time since the step, whichever is longer.
const CELL: u32 = 50;

/// How long after a step at `from` a run had settled: the first moment from which on, until any later one
/// up to `to` that makes it at least 400 completions, its goodput was at least 0.95 of `best`'s and its
/// p99 at most 1.5 times `lean`'s. `None` if there is none.
///
/// Everything since the candidate counts, not each stretch of 400 on its own: the counts of two such
/// stretches differ by 4 % by chance alone.
pub fn settled(run: &Trace, best: &Trace, lean: &Trace, from: u64, to: u64) -> Option<u64> {
    let edges = edges(best, from, to);
    let [run, best, lean] = [run, best, lean].map(|trace| Cells::new(trace, &edges));
    let last = edges.len() - 1;
    let holds = |a: usize, b: usize| {
        f64::from(run.good(a, b)) >= 0.95 * f64::from(best.good(a, b))
            && run.p99(a, b) <= 1.5 * lean.p99(a, b)
    };
    let settled_at = |a: usize| {
        let first = (a..=last).find(|&b| best.good(a, b) >= LEAST);
        first.is_some_and(|first| (first..=last).all(|b| holds(a, b)))
    };
    let first = (0..last).find(|&a| settled_at(a))?;
    Some(edges[first] - from)
}

/// Cell edges from `from` to `to`, by the rate at which `best` completes.
fn edges(best: &Trace, from: u64, to: u64) -> Vec<u64> {
    let good = best.between(from, to).iter();
    let good = good.filter(|ended| ended.end == End::Good).count() as u64;
    let least = ((to - from) * u64::from(CELL) / good.max(1)).max(1);
    let mut edges = vec![from];
    let mut at = from;
    while at < to {
        at = (at + least.max((at - from) / 12)).min(to);
        edges.push(at);
    }
    edges
}

/// Running sums over cells: good answers, and a histogram of waits.
struct Cells {
    good: Vec<u32>,
    waits: Vec<[u32; BUCKETS]>,
}

impl Cells {
    fn new(trace: &Trace, edges: &[u64]) -> Self {
        let mut cells = Self {
            good: vec![0],
            waits: vec![[0; BUCKETS]],
        };
        let (mut good, mut waits) = (0, [0; BUCKETS]);
        for pair in edges.windows(2) {
            for ended in trace.between(pair[0], pair[1]) {
                good += u32::from(ended.end == End::Good);
                if ended.end != End::Refused {
                    waits[bucket(ended.latency)] += 1;
                }
            }
            cells.good.push(good);
            cells.waits.push(waits);
        }
        cells
    }

    fn good(&self, a: usize, b: usize) -> u32 {
        self.good[b] - self.good[a]
    }

    /// In µs, within 3 %; infinite without any.
    fn p99(&self, a: usize, b: usize) -> f64 {
        let count = |index: usize| self.waits[b][index] - self.waits[a][index];
        let total: u32 = (0..BUCKETS).map(count).sum();
        let mut above = total / 100;
        for index in (0..BUCKETS).rev() {
            let here = count(index);
            if here > above {
                return middle(index);
            }
            above -= here;
        }
        f64::INFINITY
    }
}

/// 32 buckets for each power of two of µs.
const SUB: u32 = 5;
const BUCKETS: usize = ((32 - SUB as usize) + 1) << SUB;

fn bucket(value: u32) -> usize {
    let exponent = (value | 1).ilog2().saturating_sub(SUB);
    ((exponent << SUB) + (value >> exponent)) as usize
}

fn middle(bucket: usize) -> f64 {
    let octave = (bucket >> SUB).saturating_sub(1) as u32;
    let low = (bucket as u64 - (u64::from(octave) << SUB)) << octave;
    low as f64 + (1_u64 << octave) as f64 / 2.0
}

/// Only these answers count for a figure over all requests that were let in.
pub fn count(ended: &[Ended], end: End) -> u64 {
    ended.iter().filter(|one| one.end == end).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A good answer every `gap` ns, each after `latency` µs.
    fn steady(from: u64, to: u64, gap: u64, latency: u32) -> Vec<Ended> {
        (from..to)
            .step_by(gap as usize)
            .map(|at| Ended {
                at,
                latency,
                caller: 0,
                end: End::Good,
            })
            .collect()
    }

    fn trace(parts: &[Vec<Ended>]) -> Trace {
        Trace {
            ended: parts.concat(),
            ..Trace::default()
        }
    }

    #[test]
    fn a_value_is_in_the_bucket_whose_middle_is_within_two_percent_of_it() {
        for value in (0..200_000).chain([1 << 31, u32::MAX]) {
            let index = bucket(value);
            assert!(index < BUCKETS, "{value} in {index}");
            let error = (middle(index) - f64::from(value)).abs();
            assert!(error <= 0.5 + f64::from(value) * 0.016, "{value}: {error}");
        }
    }

    #[test]
    fn the_p99_is_the_value_with_one_percent_above_it() {
        let mut ended = steady(0, 1_000, 1, 100);
        for (index, one) in ended.iter_mut().enumerate() {
            one.latency = 1_000 - index as u32;
        }
        let figures = figures(&trace(&[ended]), 0, 1_000);
        assert_eq!(figures.p99, Some(991));
        assert_eq!(figures.goodput, 1e9);
        assert_eq!(figures.mean, 500_500);
    }

    #[test]
    fn a_run_settles_when_both_goodput_and_latency_have() {
        const S: u64 = 1_000_000_000;
        const MS: u64 = 1_000_000;
        let oracle = trace(&[steady(0, 60 * S, MS, 100)]);
        let same = settled(&oracle, &oracle, &oracle, 0, 60 * S);
        assert_eq!(same, Some(0));

        let slow_start = trace(&[
            steady(0, 5 * S, 2 * MS, 100),
            steady(5 * S, 60 * S, MS, 100),
        ]);
        let at = settled(&slow_start, &oracle, &oracle, 0, 60 * S).expect("it settles");
        assert!((4_800 * MS..=5_500 * MS).contains(&at), "{at}");

        let late_tail = trace(&[steady(0, 30 * S, MS, 100), steady(30 * S, 60 * S, MS, 160)]);
        assert_eq!(settled(&late_tail, &oracle, &oracle, 0, 60 * S), None);

        let nothing = Trace::default();
        assert_eq!(settled(&nothing, &oracle, &oracle, 0, 60 * S), None);
    }

    #[test]
    fn the_spread_is_the_largest_share_over_the_smallest() {
        let mut ended = steady(0, 90, 1, 100);
        for (index, one) in ended.iter_mut().enumerate() {
            one.caller = u16::from(index >= 30);
        }
        assert_eq!(spread(&trace(&[ended]), 0, 90, 0..2), Some(2.0));
        assert_eq!(spread(&trace(&[]), 0, 90, 0..2), None);
    }
}
