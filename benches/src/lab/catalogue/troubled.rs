//! One caller in front of a server that is in trouble, or near it.

use super::{model, phase};
use crate::lab::model::{Model, Phase};
use crate::lab::random::Shape;

pub(super) fn models() -> Vec<Model> {
    let with = |change: fn(&mut Phase)| {
        let mut phase = phase("all", 60.0);
        change(&mut phase);
        vec![phase]
    };
    let large = Phase {
        slots: 256,
        rate: 30_000.0,
        ..phase("all", 30.0)
    };
    let mut models = vec![
        model(
            "refuser",
            "overload errors at once above 24",
            with(|phase| phase.refuse_at = Some(24)),
        ),
        model(
            "thrash",
            "throughput falls past the knee",
            with(|phase| phase.contention = 0.5),
        ),
        model(
            "heavy-tail",
            "service times",
            with(|phase| phase.shape = Shape::LogNormal { sigma: 1.8 }),
        ),
        model(
            "pauses",
            "of 300 ms every 5 s: a collector",
            with(|phase| phase.pauses_ms = Some((5_000.0, 300.0))),
        ),
        Model {
            deadline_ms: 612.5,
            ..model(
                "mix",
                "90 % of 5 ms and 10 % of 200 ms",
                with(|phase| {
                    phase.service_ms = 24.5;
                    phase.rate = 1_960.0;
                    phase.shape = Shape::Mix {
                        slow_share: 0.1,
                        slower: 40.0,
                        sigma: 0.3,
                    };
                }),
            )
        },
        model(
            "silence",
            "nothing answered for 10 s, then everything",
            vec![
                phase("before", 30.0),
                Phase {
                    silent: true,
                    ..phase("silence", 10.0)
                },
                phase("after", 60.0),
            ],
        ),
    ];
    for (name, stray) in [("0.1", 0.001), ("1", 0.01), ("3", 0.03)] {
        models.push(model(
            &format!("stray-errors-{name}"),
            "some requests fail as overload at random",
            vec![Phase {
                stray,
                ..large.clone()
            }],
        ));
    }
    let slots = |name: &str, slots| Phase {
        slots,
        rate: 9_600.0,
        ..phase(name, 60.0)
    };
    models.push(Model {
        cancel_ms: Some(250.0),
        ..model(
            "caller-timeout",
            "callers who cancel after 250 ms, while the server works on",
            vec![
                slots("whole", 64),
                slots("a sixteenth", 4),
                slots("whole again", 64),
            ],
        )
    });
    models
}
