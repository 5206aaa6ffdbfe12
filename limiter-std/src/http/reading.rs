//! What is read of requests before they get a slot.

use super::Marks;
use crate::clock::{Clock, RATE};
use crate::shared::Lane;
use crate::{Limiter, Permit, RejectReason, Rejected, Timestamp};
use ::http::Request;
use core::time::Duration;
use limiter_core::law::Law;

/// What is read, and from which utilisation of what they may use, per mille, retries are refused.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) marks: Marks,
    pub(super) retries: Option<u32>,
}

/// When a request's caller goes away, on the clock of the layer that put it into the request's extensions.
#[derive(Clone, Copy, Debug)]
struct Expires(Timestamp);

/// A request that would have been refused here by a limiter that did not only watch: it has no slot either.
#[derive(Clone, Copy, Debug)]
struct LetThrough;

impl Reading {
    /// Refuses a request for which nobody waits.
    pub(super) fn welcome<B, L: Law, C: Clock>(
        &self,
        request: &mut Request<B>,
        limiter: &Limiter<L, C>,
    ) -> Result<(), Rejected> {
        // What is there is a layer's around this one, on its clock and of its limiter.
        request.extensions_mut().remove::<Expires>();
        request.extensions_mut().remove::<LetThrough>();
        if let Some(left) = self.marks.left(request.headers()) {
            let now = limiter.now();
            let expires = Expires(now.after(RATE.ticks(left)));
            request.extensions_mut().insert(expires);
            if expires.0 <= now {
                refuse(limiter, RejectReason::TimedOut, None)?;
                request.extensions_mut().insert(LetThrough);
            }
        }
        Ok(())
    }

    /// Turns away what is not to ask for a slot: with a permit that has none where the limiter only watches.
    pub(super) fn turn_away<B, L: Law, C: Clock>(
        &self,
        request: &Request<B>,
        described: Option<crate::Request>,
        limiter: &Limiter<L, C>,
    ) -> Option<Result<Permit<L, C>, Rejected>> {
        if request.extensions().get::<LetThrough>().is_some() {
            return Some(Ok(limiter.let_through()));
        }
        let full = self.retries?;
        let sheds = self.marks.number(request.headers()) > 1
            && limiter.shared().utilisation_of(described) >= full;
        sheds.then(|| {
            refuse(limiter, RejectReason::AtLimit, described).map(|()| limiter.let_through())
        })
    }

    /// The time that is left of a request's, where it said so.
    pub(super) fn left<B, L: Law, C: Clock>(
        &self,
        request: &Request<B>,
        limiter: &Limiter<L, C>,
    ) -> Option<Duration> {
        let Expires(at) = request.extensions().get()?;
        Some(limiter.between(limiter.now(), *at))
    }

    /// Refuses a request whose time was over before its wait was.
    pub(super) fn is_wanted<B, L: Law, C: Clock>(
        &self,
        request: &Request<B>,
        limiter: &Limiter<L, C>,
    ) -> Result<(), Rejected> {
        match request.extensions().get() {
            Some(Expires(at)) if *at <= limiter.now() => {
                refuse(limiter, RejectReason::TimedOut, None)
            }
            _ => Ok(()),
        }
    }
}

/// Refuses, unless the limiter only watches.
fn refuse<L: Law, C: Clock>(
    limiter: &Limiter<L, C>,
    reason: RejectReason,
    described: Option<crate::Request>,
) -> Result<(), Rejected> {
    let shared = limiter.shared();
    let refused = shared.unless_watching(shared.refusal(reason));
    refused
        .map(drop)
        .map_err(|refused| limiter.refused(refused, &described.unwrap_or_default()))
}
