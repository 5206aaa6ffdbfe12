//! Models in words.

use super::model::{Model, Phase};
use std::fmt::{Arguments, Write};

impl Model {
    /// Its parameters: a line for what holds throughout, and one for each phase.
    pub fn parameters(&self) -> Vec<String> {
        let phases = self.phases.iter().map(line);
        std::iter::once(self.throughout()).chain(phases).collect()
    }

    fn throughout(&self) -> String {
        let callers = &self.callers;
        let mut line = format!(
            "{} caller(s), deadline {} ms",
            callers.count, self.deadline_ms
        );
        let mut add = |text: Arguments<'_>| {
            // Writing into a string cannot fail.
            let _ = line.write_fmt(text);
        };
        if let Some(ms) = self.cancel_ms {
            add(format_args!(", cancel after {ms} ms"));
        }
        if self.batch > 1 {
            add(format_args!(", batches of {}", self.batch));
        }
        match callers.wall {
            true => add(format_args!(", wall clocks {} ms apart", callers.skew_ms)),
            false => add(format_args!(", no wall clock")),
        }
        if let Some((count, s)) = callers.late {
            add(format_args!(", {count} from {s} s on"));
        }
        if let Some((count, ms)) = callers.far {
            add(format_args!(", {count} are {ms} ms away"));
        }
        if let Some((count, stranger)) = callers.strangers {
            add(format_args!(", {count} run {stranger:?}"));
        }
        if self.guarded {
            add(format_args!(", the server has a limiter of its own"));
        }
        add(format_args!(", at most {} wait", self.backlog));
        line
    }
}

fn line(phase: &Phase) -> String {
    let mut line = format!(
        "{}: {} s, {}/s, {} slots of {} ms {:?}",
        phase.name, phase.seconds, phase.rate, phase.slots, phase.service_ms, phase.shape
    );
    let mut add = |text: Arguments<'_>| {
        // Writing into a string cannot fail.
        let _ = line.write_fmt(text);
    };
    if let Some(slots) = phase.slots_end {
        add(format_args!(", to {slots} slots"));
    }
    if let Some(ms) = phase.service_end_ms {
        add(format_args!(", to {ms} ms"));
    }
    if phase.delay_ms > 0.0 {
        add(format_args!(", delay {} ms", phase.delay_ms));
    }
    if phase.contention > 0.0 {
        add(format_args!(", contention {}", phase.contention));
    }
    if let Some(at) = phase.refuse_at {
        add(format_args!(", refuses at {at}"));
    }
    if phase.stray > 0.0 {
        add(format_args!(", {} % stray errors", phase.stray * 100.0));
    }
    if let Some((every, length)) = phase.pauses_ms {
        add(format_args!(", stands still {length} of {every} ms"));
    }
    if phase.silent {
        add(format_args!(", silent"));
    }
    line
}
