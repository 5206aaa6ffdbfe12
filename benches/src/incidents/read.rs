//! Scenarios from TOML files. The README of this package has the format.

use super::scenario::{Calls, Fleet, Scenario, Station};
use crate::lab::config::{FileError, unread, wrong};
use crate::lab::random::Shape;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;

/// Reads a scenario.
///
/// # Errors
///
/// A [`FileError`] for what is not TOML, for fields that do not exist or have the wrong type, for numbers that
/// are not allowed, and for names that nothing has.
pub fn read(text: &str) -> Result<Scenario, FileError> {
    let scenario: Scenario = toml::from_str(text).map_err(|error| unread(text, &error))?;
    let reader = Reader { text };
    reader.check(&scenario)?;
    Ok(scenario)
}

struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn wrong(&self, place: &Range<usize>, what: &str) -> FileError {
        wrong(self.text, place, what)
    }

    fn check(&self, scenario: &Scenario) -> Result<(), FileError> {
        let whole = 0..0;
        self.number(&whole, "seconds", scenario.seconds, 1.0, 86_400.0)?;
        self.number(
            &whole,
            "warm-up",
            scenario.warm_up,
            1.0,
            scenario.seconds - 1.0,
        )?;
        self.number(&whole, "network-ms", scenario.network_ms, 0.001, 1e4)?;
        self.station(scenario, &scenario.watch)?;
        self.names(scenario.station.iter().map(|station| &station.name))?;
        self.names(scenario.fleet.iter().map(|fleet| &fleet.name))?;
        if scenario.fleet.is_empty() {
            return Err(self.wrong(&whole, "no fleet calls: allowed is one or more"));
        }
        for station in &scenario.station {
            self.check_station(scenario, station)?;
        }
        for fleet in &scenario.fleet {
            self.check_fleet(scenario, fleet)?;
        }
        for event in &scenario.event {
            let place = event.station.as_ref().or(event.fleet.as_ref());
            let place = place.map_or(whole.clone(), Spanned::span);
            self.number(&place, "at", event.at, 0.0, scenario.seconds)?;
            self.number(&place, "over-s", event.over_s, 0.0, scenario.seconds)?;
            if let Some(name) = &event.station {
                self.station(scenario, name)?;
            }
            if let Some(name) = &event.fleet {
                if scenario.fleet_named(name.as_ref()).is_none() {
                    let what = format!("no fleet has the name {}", name.as_ref());
                    return Err(self.wrong(&name.span(), &what));
                }
            }
            let numbers = [
                ("slots", event.slots.map(f64::from), 0.0, 1e6),
                ("service-ms", event.service_ms, 0.001, 1e6),
                ("fail-share", event.fail_share, 0.0, 1.0),
                ("weight", event.weight, 0.0, 1e6),
                ("rate", event.rate, 0.0, 1e6),
                ("permanent-share", event.permanent_share, 0.0, 1.0),
                ("drop-share", event.drop_share, 0.0, 1.0),
            ];
            for (name, number, least, most) in numbers {
                if let Some(number) = number {
                    self.number(&place, name, number, least, most)?;
                }
            }
            let (of_station, of_fleet) = numbers.split_at(4);
            for (whose, named, numbers) in [
                ("station", event.station.is_some(), of_station),
                ("fleet", event.fleet.is_some(), of_fleet),
            ] {
                let given = numbers.iter().find(|(_, number, ..)| number.is_some());
                if let Some((name, ..)) = given.filter(|_| !named) {
                    let at = event.at;
                    let what = format!("{name} of nothing: the event at {at} names no {whose}");
                    return Err(self.wrong(&place, &what));
                }
            }
        }
        Ok(())
    }

    /// That no two have the same name.
    fn names<'n>(&self, names: impl Iterator<Item = &'n Spanned<String>>) -> Result<(), FileError> {
        let mut known = BTreeSet::new();
        for name in names {
            if !known.insert(name.as_ref()) {
                let what = format!("another has the name {} too", name.as_ref());
                return Err(self.wrong(&name.span(), &what));
            }
        }
        Ok(())
    }

    fn check_station(&self, scenario: &Scenario, station: &Station) -> Result<(), FileError> {
        let place = station.name.span();
        let numbers = [
            ("instances", station.instances.into(), 1.0, 1e4),
            ("slots", station.slots.into(), 1.0, 1e6),
            ("workers", station.workers.unwrap_or(1).into(), 1.0, 1e6),
            ("service-ms", station.service_ms, 0.001, 1e6),
            ("contention", station.contention, 0.0, 100.0),
            ("queue", station.queue.into(), 1.0, 1e7),
            ("refuse-cost", station.refuse_cost, 0.0, 1.0),
            (
                "by-hand-limit",
                station.by_hand_limit.unwrap_or(1).into(),
                1.0,
                1e6,
            ),
            ("fail-share", station.fail_share, 0.0, 1.0),
            ("weight", station.weight, 0.0, 1e6),
        ];
        self.numbers(&place, &numbers)?;
        self.shape(&place, station.shape)?;
        self.calls(scenario, &place, &station.calls)
    }

    fn check_fleet(&self, scenario: &Scenario, fleet: &Fleet) -> Result<(), FileError> {
        let place = fleet.name.span();
        let numbers = [
            ("callers", fleet.callers.into(), 1.0, 1e5),
            ("rate", fleet.rate, 0.0, 1e6),
            ("session-s", fleet.session_s.unwrap_or(1.0), 0.01, 1e6),
            ("again-s", fleet.again_s, 0.01, 1e6),
            ("deadline-ms", fleet.deadline_ms, 1.0, 1e7),
            ("permanent-share", fleet.permanent_share, 0.0, 1.0),
        ];
        self.numbers(&place, &numbers)?;
        self.calls(scenario, &place, &fleet.calls)?;
        let rises = scenario.event.iter().any(|event| {
            event.rate.is_some_and(|rate| rate > 0.0)
                && (event.fleet.as_ref()).is_some_and(|name| name.as_ref() == fleet.name.as_ref())
        });
        if fleet.rate == 0.0 && fleet.session_s.is_none() && !rises {
            let what =
                "it never calls: allowed is a rate above 0, session-s, or an event with a rate";
            return Err(self.wrong(&place, what));
        }
        let path = &fleet.path;
        if path.as_ref().is_empty() {
            return Err(self.wrong(&path.span(), "allowed is one station or more"));
        }
        for name in path.as_ref().iter().flat_map(|step| step.split('|')) {
            if scenario.station_named(name.trim()).is_none() {
                let what = format!("no station has the name {}", name.trim());
                return Err(self.wrong(&path.span(), &what));
            }
        }
        Ok(())
    }

    fn calls(
        &self,
        scenario: &Scenario,
        place: &Range<usize>,
        calls: &Calls,
    ) -> Result<(), FileError> {
        let numbers = [
            ("attempts", calls.attempts.into(), 0.0, 1e3),
            (
                "by-hand-attempts",
                calls.by_hand_attempts.unwrap_or(1).into(),
                1.0,
                1e3,
            ),
            (
                "library-attempts",
                calls.library_attempts.unwrap_or(1).into(),
                1.0,
                1e3,
            ),
            ("timeout-ms", calls.timeout_ms, 1.0, 1e7),
            ("backoff-ms", calls.backoff_ms, 0.0, 1e7),
            ("hedge-ms", calls.hedge_ms.unwrap_or(1.0), 1.0, 1e7),
            (
                "fallback-per-mille",
                calls.fallback_per_mille.into(),
                0.0,
                1e3,
            ),
        ];
        self.numbers(place, &numbers)?;
        match &calls.fallback {
            Some(name) => self.station(scenario, name),
            None => Ok(()),
        }
    }

    fn station(&self, scenario: &Scenario, name: &Spanned<String>) -> Result<(), FileError> {
        if scenario.station_named(name.as_ref()).is_some() {
            return Ok(());
        }
        let what = format!("no station has the name {}", name.as_ref());
        Err(self.wrong(&name.span(), &what))
    }

    fn shape(&self, place: &Range<usize>, shape: Shape) -> Result<(), FileError> {
        let (sigma, share, slower) = match shape {
            Shape::Exact | Shape::Exponential => (0.0, 0.0, 1.0),
            Shape::LogNormal { sigma } => (sigma, 0.0, 1.0),
            Shape::Mix {
                slow_share,
                slower,
                sigma,
            } => (sigma, slow_share, slower),
        };
        let numbers = [
            ("sigma", sigma, 0.0, 4.0),
            ("slow-share", share, 0.0, 0.99),
            ("slower", slower, 1.0, 1e6),
        ];
        self.numbers(place, &numbers)
    }

    fn numbers(
        &self,
        place: &Range<usize>,
        numbers: &[(&str, f64, f64, f64)],
    ) -> Result<(), FileError> {
        let mut numbers = numbers.iter();
        numbers.try_for_each(|&(name, value, least, most)| {
            self.number(place, name, value, least, most)
        })
    }

    /// A number that is out of range: the table it is in, by the line of its name, and the field.
    fn number(
        &self,
        table: &Range<usize>,
        field: &str,
        value: f64,
        least: f64,
        most: f64,
    ) -> Result<(), FileError> {
        if (least..=most).contains(&value) {
            return Ok(());
        }
        let place = self.field(table, field);
        Err(self.wrong(&place, &format!("{value}: allowed is {least} to {most}")))
    }

    /// Where `field` is set, from the name of its table on.
    fn field(&self, table: &Range<usize>, field: &str) -> Range<usize> {
        let mut at = self.text[..table.start].rfind("[[").unwrap_or_default();
        for line in self.text[at..].split_inclusive('\n') {
            if line
                .split_once('=')
                .is_some_and(|(key, _)| key.trim() == field)
            {
                return at..at + line.len();
            }
            at += line.len();
        }
        table.clone()
    }
}
