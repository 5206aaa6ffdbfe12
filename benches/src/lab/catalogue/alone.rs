//! One caller in front of a server that does its work.

use super::{model, phase};
use crate::lab::model::{Model, Phase};

pub(super) fn models() -> Vec<Model> {
    let minute = |name: &str| phase(name, 60.0);
    let rate = |phase: Phase, rate| Phase { rate, ..phase };
    let slots = |phase: Phase, slots| Phase { slots, ..phase };
    let service = |phase: Phase, service_ms| Phase {
        service_ms,
        ..phase
    };
    let delay = |phase: Phase, delay_ms| Phase { delay_ms, ..phase };
    let large = |name: &str, seconds| rate(slots(phase(name, seconds), 256), 30_000.0);
    vec![
        model("steady", "an ordinary server", vec![minute("steady")]),
        model(
            "capacity-step",
            "three quarters of the slots go and return",
            vec![
                minute("whole"),
                slots(minute("quarter"), 4),
                minute("whole again"),
            ],
        ),
        model(
            "service-step",
            "work takes four times longer and returns",
            vec![
                minute("fast"),
                service(minute("slow"), 80.0),
                minute("fast again"),
            ],
        ),
        model(
            "delay-step",
            "slower but not fuller",
            vec![
                minute("near"),
                delay(minute("far"), 100.0),
                minute("near again"),
            ],
        ),
        model("large", "many slots", vec![large("large", 40.0)]),
        Model {
            batch: 10,
            ..model("bursts", "arrivals in tens", vec![minute("bursts")])
        },
        model(
            "underload",
            "0.6 of capacity, then three times",
            vec![rate(minute("calm"), 480.0), minute("busy")],
        ),
        Model {
            deadline_ms: 5_000.0,
            ..model(
                "slow-few",
                "few slots of slow work",
                vec![rate(
                    slots(service(phase("slow-few", 240.0), 200.0), 4),
                    60.0,
                )],
            )
        },
        model(
            "single-slot",
            "one slot",
            vec![rate(slots(phase("single-slot", 240.0), 1), 150.0)],
        ),
        model(
            "cold-start",
            "full load on the initial limit",
            vec![rate(slots(phase("cold", 20.0), 200), 30_000.0)],
        ),
        saturation(),
        spike(),
        drift(),
        warming(),
    ]
}

fn saturation() -> Model {
    let part = |name: &str, seconds, step| Phase {
        service_ms: 40.0,
        rate: 1_200.0,
        step,
        ..phase(name, seconds)
    };
    Model {
        deadline_ms: 1_000.0,
        ..model(
            "saturation",
            "an hour of it",
            vec![
                part("first minutes", 300.0, true),
                part("hour", 3_000.0, false),
                part("last minutes", 300.0, false),
            ],
        )
    }
}

fn spike() -> Model {
    let at = |name: &str, seconds, rate, bound_ms| Phase {
        slots: 64,
        service_ms: 1.0,
        rate,
        bound_ms,
        ..phase(name, seconds)
    };
    Model {
        deadline_ms: 25.0,
        ..model(
            "spike",
            "load from 0.7 to 1.4 of capacity at once",
            vec![
                at("before", 10.0, 44_800.0, Some(5_000.0)),
                at("spike", 6.0, 89_600.0, Some(50.0)),
            ],
        )
    }
}

fn drift() -> Model {
    let minutes = (0..10).map(|minute| {
        let at = |minute: u32| 20.0 + 6.0 * f64::from(minute);
        Phase {
            service_ms: at(minute),
            service_end_ms: Some(at(minute + 1)),
            step: false,
            ..phase(&format!("minute {}", minute + 1), 60.0)
        }
    });
    model(
        "drift",
        "service time times four over ten minutes",
        minutes.collect(),
    )
}

fn warming() -> Model {
    let steps = [6, 16, 25, 35, 45, 54, 64];
    let mut phases: Vec<Phase> = steps
        .windows(2)
        .map(|pair| Phase {
            slots: pair[0],
            slots_end: Some(pair[1]),
            rate: 9_600.0,
            step: false,
            ..phase(&format!("to {} slots", pair[1]), 10.0)
        })
        .collect();
    phases.push(Phase {
        slots: 64,
        rate: 9_600.0,
        step: false,
        ..phase("warm", 60.0)
    });
    model(
        "warming",
        "a cache: capacity grows from a tenth over a minute",
        phases,
    )
}
