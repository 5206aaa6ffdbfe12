//! Tickets: only one return counts.

use super::{NOW, eager, explore, later};
use limiter_core::law::Fixed;
use limiter_core::{Limiter, Outcome, Tickets};
use loom::thread;

/// Loom has no statics, and a table borrows its limiter.
fn leaked() -> &'static Tickets<'static, 2, Fixed> {
    let limiter: &'static Limiter<Fixed> = Box::leak(Box::new(eager(Fixed, 2)));
    Box::leak(Box::new(Tickets::new(limiter)))
}

#[test]
fn one_of_two_returns_of_a_ticket_counts_while_others_are_in_flight() {
    explore("tickets-twice", || {
        let table = leaked();
        let ticket = table.try_acquire(NOW).unwrap();
        let other = table.try_acquire(NOW).unwrap();
        let thread = thread::spawn(move || table.finish(ticket, Outcome::Success, later()).is_ok());
        let here = table.finish(ticket, Outcome::Success, later()).is_ok();
        let there = thread.join().unwrap();
        assert!(here != there, "a ticket was returned {here} and {there}");
        assert_eq!(table.limiter().snapshot().inflight, 1);
        assert!(table.finish(other, Outcome::Success, later()).is_ok());
        assert_eq!(table.limiter().snapshot().inflight, 0);
    });
}

#[test]
fn two_takers_get_different_tickets() {
    explore("tickets-take", || {
        let table = leaked();
        let thread = thread::spawn(move || table.try_acquire(NOW));
        let here = table.try_acquire(NOW);
        let there = thread.join().unwrap();
        let (here, there) = (here.unwrap(), there.unwrap());
        assert_ne!(here, there);
        for ticket in [here, there] {
            assert!(table.finish(ticket, Outcome::Success, later()).is_ok());
        }
        assert_eq!(table.limiter().snapshot().inflight, 0);
    });
}
