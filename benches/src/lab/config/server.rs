//! The server, the callers and the phases of a file.

use super::numbers::{callers, count, not_negative, positive, shape, share};
use super::{File, FileError, wrong};
use crate::lab::model;
use crate::lab::random::Shape;
use serde::Deserialize;

/// What holds in all phases.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Server {
    name: Option<String>,
    #[serde(deserialize_with = "count")]
    backlog: Option<u32>,
    own_limiter: bool,
}

/// Who calls.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Callers {
    #[serde(deserialize_with = "callers")]
    count: Option<u32>,
    #[serde(deserialize_with = "positive")]
    deadline_ms: Option<f64>,
    #[serde(deserialize_with = "positive")]
    cancel_ms: Option<f64>,
    #[serde(deserialize_with = "count")]
    batch: Option<u32>,
    wall_clock: bool,
    #[serde(deserialize_with = "not_negative")]
    clock_skew_ms: Option<f64>,
}

/// A phase. What it does not say is as in the phase before it, or as in the model `steady`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Phase {
    name: Option<String>,
    #[serde(deserialize_with = "positive")]
    seconds: Option<f64>,
    #[serde(deserialize_with = "not_negative")]
    rate: Option<f64>,
    #[serde(deserialize_with = "count")]
    slots: Option<u32>,
    #[serde(deserialize_with = "count")]
    slots_end: Option<u32>,
    #[serde(deserialize_with = "positive")]
    service_ms: Option<f64>,
    #[serde(deserialize_with = "positive")]
    service_end_ms: Option<f64>,
    #[serde(deserialize_with = "shape")]
    shape: Option<Shape>,
    #[serde(deserialize_with = "not_negative")]
    delay_ms: Option<f64>,
    #[serde(deserialize_with = "not_negative")]
    contention: Option<f64>,
    #[serde(deserialize_with = "count")]
    refuse_at: Option<u32>,
    #[serde(deserialize_with = "share")]
    stray: Option<f64>,
    pauses: Option<Pauses>,
    silent: bool,
    step: Option<bool>,
    #[serde(deserialize_with = "positive")]
    bound_ms: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Pauses {
    #[serde(deserialize_with = "positive")]
    every_ms: Option<f64>,
    #[serde(deserialize_with = "not_negative")]
    for_ms: Option<f64>,
}

/// All requests of a model are kept in memory, 16 bytes each.
const MOST_REQUESTS: f64 = 1e8;

pub(super) fn model(file: &File, text: &str) -> Result<model::Model, FileError> {
    let usual = model::Model::default();
    let mut phases: Vec<model::Phase> = Vec::new();
    let mut requests = 0.0;
    for (index, phase) in file.phase.iter().enumerate() {
        let before = phases.last().cloned().unwrap_or_default();
        let next = phase.as_ref().after(before, index);
        if next
            .pauses_ms
            .is_some_and(|(every, length)| length >= every)
        {
            return Err(wrong(
                text,
                &phase.span(),
                "pauses: for-ms must be less than every-ms",
            ));
        }
        requests += next.seconds * next.rate;
        if requests > MOST_REQUESTS {
            let message = "rate: more than 1e8 requests until the end of this phase";
            return Err(wrong(text, &phase.span(), message));
        }
        phases.push(next);
    }
    if phases.is_empty() {
        phases = usual.phases;
    }
    let (server, callers) = (&file.server, &file.callers);
    Ok(model::Model {
        name: server.name.clone().unwrap_or_else(|| String::from("yours")),
        about: String::from("from a file"),
        phases,
        callers: model::Callers {
            count: callers.count.unwrap_or(1),
            skew_ms: callers.clock_skew_ms.unwrap_or(0.0),
            wall: callers.wall_clock,
            ..usual.callers
        },
        batch: callers.batch.unwrap_or(usual.batch),
        deadline_ms: callers.deadline_ms.unwrap_or(usual.deadline_ms),
        cancel_ms: callers.cancel_ms,
        backlog: server.backlog.unwrap_or(usual.backlog),
        guarded: server.own_limiter,
        noisy: false,
    })
}

impl Phase {
    fn after(&self, before: model::Phase, index: usize) -> model::Phase {
        let pauses = self.pauses.map(|pauses| {
            // Half a second of a pause every ten.
            let (every, length) = (pauses.every_ms, pauses.for_ms);
            (every.unwrap_or(10_000.0), length.unwrap_or(500.0))
        });
        let name = || format!("phase {}", index + 1);
        model::Phase {
            name: self.name.clone().unwrap_or_else(name),
            seconds: self.seconds.unwrap_or(before.seconds),
            rate: self.rate.unwrap_or(before.rate),
            slots: self.slots.or(before.slots_end).unwrap_or(before.slots),
            slots_end: self.slots_end,
            service_ms: self
                .service_ms
                .or(before.service_end_ms)
                .unwrap_or(before.service_ms),
            service_end_ms: self.service_end_ms,
            shape: self.shape.unwrap_or(before.shape),
            delay_ms: self.delay_ms.unwrap_or(before.delay_ms),
            contention: self.contention.unwrap_or(before.contention),
            refuse_at: self.refuse_at.or(before.refuse_at),
            stray: self.stray.unwrap_or(before.stray),
            pauses_ms: pauses.or(before.pauses_ms),
            silent: self.silent,
            step: self.step.unwrap_or(true),
            bound_ms: self.bound_ms,
        }
    }
}
