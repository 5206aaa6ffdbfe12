//! The models of the lab.

use super::model::{Callers, Model, Phase, Stranger};
use super::random::Shape;

/// Phase `name` of the default model, `seconds` long.
fn phase(name: &str, seconds: f64) -> Phase {
    Phase {
        name: name.to_owned(),
        seconds,
        ..Phase::default()
    }
}

fn model(name: &str, about: &str, phases: Vec<Phase>) -> Model {
    Model {
        name: name.to_owned(),
        about: about.to_owned(),
        phases,
        ..Model::default()
    }
}

/// Every model that is judged.
pub fn judged() -> Vec<Model> {
    let mut models = alone();
    models.extend(troubled());
    models.extend(many_clients());
    for model in &mut models {
        model.noisy = NOISY.contains(&model.name.as_str());
    }
    models
}

/// Models in which a few requests decide about much.
const NOISY: [&str; 4] = ["bursts", "heavy-tail", "single-slot", "mix"];

/// One caller in front of a server that does its work.
fn alone() -> Vec<Model> {
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
        model("large", "many slots", vec![large("large", 60.0)]),
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
            vec![rate(slots(phase("cold", 40.0), 200), 30_000.0)],
        ),
        model(
            "saturation",
            "an hour of it",
            vec![
                phase("first minutes", 300.0),
                Phase {
                    step: false,
                    ..phase("hour", 3_000.0)
                },
                Phase {
                    step: false,
                    ..phase("last minutes", 300.0)
                },
            ],
        ),
        spike(),
        drift(),
        warming(),
    ]
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
                at("before", 20.0, 44_800.0, None),
                at("spike", 10.0, 89_600.0, Some(50.0)),
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

/// One caller in front of a server that is in trouble, or near it.
fn troubled() -> Vec<Model> {
    let with = |change: fn(&mut Phase)| {
        let mut phase = phase("all", 60.0);
        change(&mut phase);
        vec![phase]
    };
    let large = Phase {
        slots: 256,
        rate: 30_000.0,
        ..phase("all", 40.0)
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

/// Many callers with a limiter each in front of one server that loses five eighths of its slots.
fn many(name: &str, count: u32, slots: u32, rate: f64, seconds: [f64; 3]) -> Model {
    let part = |name: &str, slots, seconds| Phase {
        slots,
        rate,
        ..phase(name, seconds)
    };
    Model {
        callers: Callers {
            count,
            skew_ms: 50.0,
            wall: true,
            ..Callers::default()
        },
        ..model(
            name,
            "a limiter each in front of one server",
            vec![
                part("whole", slots, seconds[0]),
                part("three eighths", slots * 3 / 8, seconds[1]),
                part("whole again", slots, seconds[2]),
            ],
        )
    }
}

fn twelve(name: &str) -> Model {
    many(name, 12, 64, 9_600.0, [120.0, 120.0, 120.0])
}

fn many_clients() -> Vec<Model> {
    let short = [90.0, 40.0, 40.0];
    let mut models = vec![
        twelve("many-clients"),
        many("many-clients-50", 50, 200, 30_000.0, short),
        many("many-clients-300", 300, 200, 30_000.0, short),
    ];
    for index in 0..models.len() {
        let mut guarded = models[index].clone();
        let tail = guarded.name.split_off("many-clients".len());
        guarded.name = format!("{}-refusing{tail}", guarded.name);
        guarded.guarded = true;
        models.push(guarded);
    }
    models
}

/// What is reported of many clients beside the judged models: there is no target for these.
pub fn reported() -> Vec<Model> {
    let variant = |name: &str, change: &dyn Fn(&mut Callers)| {
        let mut model = twelve(&format!("many-clients-{name}"));
        change(&mut model.callers);
        model
    };
    let mut models: Vec<Model> = [100.0, 200.0, 400.0]
        .map(|ms| variant(&format!("skew-{ms}"), &|callers| callers.skew_ms = ms))
        .into();
    models.push(variant("no-wall", &|callers| callers.wall = false));
    models.push(variant("late", &|callers| callers.late = Some((4, 60.0))));
    models.push(variant("far", &|callers| callers.far = Some((6, 225.0))));
    for count in [1, 3] {
        for (name, stranger) in [("vegas", Stranger::Vegas), ("fixed", Stranger::Fixed(20))] {
            models.push(variant(&format!("{name}-{count}"), &|callers| {
                callers.strangers = Some((count, stranger));
            }));
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_model_has_a_name_of_its_own_and_time_to_be_judged_in() {
        let models = [judged(), reported()].concat();
        let names: BTreeSet<&str> = models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names.len(), models.len());
        for model in &models {
            let patience = model.cancel_ms.unwrap_or(model.deadline_ms);
            for phase in model.phases.iter().filter(|phase| !phase.silent) {
                // Whatever is not refused takes less than half of the patience.
                let longest = phase.bound((patience * 5e5) as u64);
                assert!(
                    longest < (phase.seconds * 0.6e9) as u64,
                    "{}: {} is too short",
                    model.name,
                    phase.name
                );
            }
        }
    }

    #[test]
    fn load_is_three_times_capacity_where_nothing_else_is_said() {
        for model in judged() {
            let ratio = model.phases[0].utilisation();
            let said = ["underload", "spike", "warming", "large", "slow-few"];
            if !said.contains(&model.name.as_str()) && !model.name.starts_with("stray") {
                assert!((2.99..3.01).contains(&ratio), "{}: {ratio}", model.name);
            }
        }
    }
}
