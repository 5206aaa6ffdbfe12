//! The event loop: crowds arrive, requests hold slots, and leave.

use super::doors::Door;
use crate::lab::queue::{EventQueue, MILLI, SECOND, seconds};
use crate::lab::random::{Random, exponential, of_request, pick, stream};
use limiter_core::{Caller, Request, Timestamp};
use rand_pcg::rand_core::Rng;

/// How long a request holds its slots on average.
const HOLDS: u64 = 10 * MILLI;
/// What happens before is not counted.
const WARM: u64 = 3 * SECOND;

/// Callers that are alike.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// How many.
    pub callers: usize,
    /// What they ask for together, of the whole capacity.
    pub load: f64,
    /// Whether they keep to their share.
    pub innocent: bool,
    /// Whether each request comes under another name.
    pub renames: bool,
    /// What their requests say of themselves.
    pub request: Request,
}

/// What became of the requests.
#[derive(Clone, Debug)]
pub struct Tally {
    /// What each innocent caller kept of its requests, those without any left out.
    pub kept: Vec<f64>,
    /// What the innocent kept together.
    pub innocent_kept: f64,
    /// What the others kept together.
    pub others_kept: f64,
    /// The share of slots in use.
    pub utilisation: f64,
}

impl Tally {
    /// The share of the innocent that kept less than 0.9.
    pub fn below(&self) -> f64 {
        let below = self.kept.iter().filter(|kept| **kept < 0.9).count();
        below as f64 / self.kept.len().max(1) as f64
    }
}

enum Event<T> {
    Arrive(usize),
    Leave(T),
}

#[derive(Clone, Copy, Default)]
struct Count {
    asked: u32,
    admitted: u32,
}

fn kept(count: Count) -> f64 {
    f64::from(count.admitted) / f64::from(count.asked.max(1))
}

/// Lets crowds come for `length` seconds to a door of `limit` slots.
pub(super) fn run<D: Door>(
    door: &D,
    limit: u32,
    crowds: &[Crowd],
    seed: u64,
    length: f64,
) -> Tally {
    let end = WARM + seconds(length);
    let capacity = f64::from(limit) * SECOND as f64 / HOLDS as f64;
    let mut queue = EventQueue::with_capacity(limit as usize + crowds.len());
    let mut arrivals: Vec<Random> = (0..crowds.len() as u64)
        .map(|crowd| stream(seed, crowd))
        .collect();
    for crowd in 0..crowds.len() {
        queue.push(0, Event::Arrive(crowd));
    }
    let mut counts: Vec<Vec<Count>> = crowds
        .iter()
        .map(|crowd| vec![Count::default(); crowd.callers])
        .collect();
    let mut held = 0.0;
    while let Some((now, event)) = queue.pop() {
        let crowd = match event {
            Event::Leave(token) => {
                door.leave(token);
                continue;
            }
            Event::Arrive(_) if now >= end => continue,
            Event::Arrive(crowd) => crowd,
        };
        let (who, random) = (&crowds[crowd], &mut arrivals[crowd]);
        let next = exponential(random) * SECOND as f64 / (capacity * who.load);
        queue.push(now + next as u64 + 1, Event::Arrive(crowd));
        let mark = random.next_u64();
        let caller = pick(mark, who.callers);
        let origin = hash(crowd, caller);
        let name = if who.renames { mark } else { origin };
        let from = Caller::new(name).from(origin);
        let at = Timestamp::from_ticks(now / 1_000);
        let admitted = door.admit(who.request, from, at);
        if now >= WARM {
            counts[crowd][caller].asked += 1;
            counts[crowd][caller].admitted += u32::from(admitted.is_some());
        }
        if let Some(token) = admitted {
            let holds = (exponential(&mut of_request(mark, 1)) * HOLDS as f64) as u64;
            held += (now + holds).min(end).saturating_sub(now.max(WARM)) as f64;
            queue.push(now + holds, Event::Leave(token));
        }
    }
    let of = |innocent: bool| {
        let crowds = crowds.iter().zip(&counts);
        let counts = crowds.filter(move |(crowd, _)| crowd.innocent == innocent);
        counts.flat_map(|(_, counts)| counts).copied()
    };
    let sum = |innocent| {
        of(innocent).fold(Count::default(), |sum, one| Count {
            asked: sum.asked + one.asked,
            admitted: sum.admitted + one.admitted,
        })
    };
    Tally {
        kept: of(true).filter(|one| one.asked > 0).map(kept).collect(),
        innocent_kept: kept(sum(true)),
        others_kept: kept(sum(false)),
        utilisation: held / ((end - WARM) as f64 * f64::from(limit)),
    }
}

/// A name for a caller, spread over all bits.
fn hash(crowd: usize, caller: usize) -> u64 {
    of_request((crowd << 32 | caller) as u64, 7).next_u64()
}
