//! Giving slots to those whose turn it is.

use super::queue::{Key, Place, Queue};
use super::wakers::Wakers;
use super::{Ended, may_come, timed_out};
use crate::request::Request;
use crate::shared::Lane;
use crate::way::Way;
use limiter_core::Timestamp;
use limiter_core::law::Law;

/// Under the lock: sets the waiting bits of such a request, and says which class is first where that has changed.
pub(super) fn announce<L: Law>(way: Way<'_, L>, queue: &mut Queue, request: &Request) {
    let changed = queue.first_changed();
    match (way, queue.tell(request)) {
        (Way::Parted(parted), Some(partition)) => {
            let first = queue.first_class().unwrap_or(request.class());
            let first = limiter_core::Request::new().priority(first);
            parted.core.set_waiting(&first.partition(partition));
        }
        _ => match changed {
            Some(class) => way.limiter().set_waiting_from(class),
            None => way.limiter().set_waiting(),
        },
    }
}

/// Under the lock: gives slots to those whose turn it is as long as there are any, or tells all of them that
/// the limiter is closed, and those whose time is over that it is. The waker of `joining` is not called.
/// Returns whether `woken` was full before that was done.
pub(super) fn grant<A: Lane + ?Sized>(
    lane: &A,
    queue: &mut Queue,
    now: Timestamp,
    woken: &mut Wakers,
    joining: Option<&Key>,
) -> bool {
    while let Some((first, request)) = queue.first() {
        if woken.is_full() {
            return true;
        }
        let turn = match queue.late(Some(first), now) {
            Some(late) => Some((late, Err(timed_out(lane)))),
            None => match enter(lane, &request, now) {
                Some(ended) => Some((first, ended)),
                None => own(lane, queue, now),
            },
        };
        let Some((place, ended)) = turn else {
            if let Some(class) = queue.first_changed() {
                lane.core().set_waiting_from(class);
            }
            let_in_newcomers(lane.way(), queue);
            return false;
        };
        let quiet = joining.is_some_and(|key| key.is(place));
        match queue.end(place, ended, now) {
            Some(waker) if quiet => woken.push_quiet(waker),
            Some(waker) => woken.push(waker),
            None => {}
        }
    }
    let_in_newcomers(lane.way(), queue);
    lane.core().clear_waiting();
    false
}

/// Lets newcomers of partitions of which nobody waits in on their own slots.
fn let_in_newcomers<L: Law>(way: Way<'_, L>, queue: &mut Queue) {
    if let Way::Parted(parted) = way {
        for partition in queue.emptied() {
            parted.core.clear_waiting(partition);
        }
    }
}

/// How the wait of the first of all ends; `None` while it goes on.
fn enter<A: Lane + ?Sized>(lane: &A, request: &Request, now: Timestamp) -> Option<Ended> {
    match lane.admit_waiter(request, now) {
        Err(refused) if may_come(refused) => None,
        ended => Some(ended),
    }
}

/// The first of a partition whose wait ends on slots of its own, or because its time is over.
fn own<A: Lane + ?Sized>(lane: &A, queue: &Queue, now: Timestamp) -> Option<(Place, Ended)> {
    let Way::Parted(parted) = lane.way() else {
        return None;
    };
    queue.first_of_each().find_map(|(place, request)| {
        if queue.is_late(place, now) {
            return Some((place, Err(timed_out(lane))));
        }
        let (judged, standing) = lane.judged(&request, now);
        let seat = parted.core.admit_waiter_own(&judged, now)?;
        lane.count(&request, standing, now);
        Some((place, Ok(Some(seat))))
    })
}
