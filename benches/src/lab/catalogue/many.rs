//! Many callers in front of one server.

use super::{model, phase};
use crate::lab::model::{Callers, Model, Phase, Stranger};

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
    many(name, 12, 64, 9_600.0, [120.0, 90.0, 60.0])
}

pub(super) fn models() -> Vec<Model> {
    let fifty = |seconds| many("many-clients-50", 50, 200, 30_000.0, seconds);
    let crowd = |seconds| many("many-clients-300", 300, 200, 30_000.0, seconds);
    let mut models = vec![
        twelve("many-clients"),
        fifty([80.0, 40.0, 30.0]),
        crowd([80.0, 60.0, 30.0]),
    ];
    let shorter = [
        many("many-clients", 12, 64, 9_600.0, [80.0, 40.0, 40.0]),
        fifty([80.0, 30.0, 30.0]),
        crowd([80.0, 40.0, 30.0]),
    ];
    models.extend(shorter.map(|mut model| {
        model.name = model.name.replace("many-clients", "many-clients-refusing");
        model.guarded = true;
        model
    }));
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
