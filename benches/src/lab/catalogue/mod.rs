//! The models of the lab.

mod alone;
mod many;
mod troubled;

pub use many::reported;

use super::model::{Model, Phase};

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
    let mut models = alone::models();
    models.extend(troubled::models());
    models.extend(many::models());
    for model in &mut models {
        model.noisy = NOISY.contains(&model.name.as_str());
    }
    models
}

/// Models in which a few requests decide about much.
const NOISY: [&str; 4] = ["bursts", "heavy-tail", "single-slot", "mix"];

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
