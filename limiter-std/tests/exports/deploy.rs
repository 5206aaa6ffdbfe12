//! Dashboard, alerts and autoscaler use what is published, under the names and labels that it has.

use limiter_std::telemetry::Edge;
use limiter_std::telemetry::metrics::ALL;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy")
}

fn read(file: &str) -> String {
    std::fs::read_to_string(folder().join(file)).unwrap()
}

/// Every word that looks like one of our metrics.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_'));
    words.filter(|word| word.starts_with("limiter_")).collect()
}

/// Whatever of a selector `name{…}` stands in braces, with the name.
fn selectors(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for metric in ALL {
        for (at, _) in text.match_indices(metric.name) {
            let rest = &text[at + metric.name.len()..];
            if let Some((inside, _)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
            {
                found.push((metric.name, inside));
            }
        }
    }
    found
}

const FILES: [&str; 6] = [
    "alerts.yml",
    "alerts-test.yml",
    "grafana-dashboard.json",
    "kubernetes/adapter-rules.yaml",
    "kubernetes/autoscaler.yaml",
    "README.md",
];

#[test]
fn every_metric_that_is_used_is_one_that_is_published() {
    let published: BTreeSet<_> = ALL.iter().map(|metric| metric.name).collect();
    for file in FILES {
        let text = read(file);
        let unknown: Vec<_> = names(&text).difference(&published).copied().collect();
        assert_eq!(unknown, [""; 0], "{file}");
    }
    for file in [
        "alerts.yml",
        "grafana-dashboard.json",
        "kubernetes/autoscaler.yaml",
    ] {
        assert!(!names(&read(file)).is_empty(), "{file} uses none");
    }
}

#[test]
fn the_dashboard_shows_every_metric_that_is_published() {
    let text = read("grafana-dashboard.json");
    let shown = names(&text);
    let missing = ALL.iter().filter(|metric| !shown.contains(metric.name));
    let missing: Vec<_> = missing.map(|metric| metric.name).collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn every_label_that_is_asked_for_is_one_that_the_metric_has() {
    for file in FILES {
        let text = read(file).replace("\\\"", "\"");
        for (name, inside) in selectors(&text) {
            let metric = ALL.iter().find(|metric| metric.name == name).unwrap();
            for label in inside.split(',').filter(|label| label.contains('=')) {
                let key = label.split(['=', '!', '~']).next().unwrap().trim();
                let ours = ["limiter", "job", "namespace", "pod"].contains(&key);
                assert!(
                    ours || Some(key) == metric.label,
                    "{file}: {name}{{{label}}}"
                );
            }
        }
    }
}

#[test]
fn edges_and_states_in_queries_are_ours() {
    let text = read("grafana-dashboard.json") + &read("alerts.yml");
    let text = text.replace("\\\"", "\"");
    let states = [
        "watches_only",
        "queue_building",
        "saturated",
        "shedding",
        "would_shed",
        "dependency_refuses",
        "budget_empty",
        "open",
        "closed",
    ];
    for (name, inside) in selectors(&text) {
        let known: &[&str] = match name {
            "limiter_edges_total" => &Edge::NAMES,
            "limiter_state" | "limiter_breaker_state" => &states,
            _ => continue,
        };
        let own = inside
            .split(',')
            .filter(|label| label.starts_with("edge") || label.starts_with("state"));
        for value in own.filter_map(|label| label.split('"').nth(1)) {
            assert!(
                value.split('|').all(|one| known.contains(&one)),
                "{name}{{{inside}}}"
            );
        }
    }
}

#[test]
fn the_dashboard_is_one_that_grafana_takes_in() {
    let dashboard: Value = serde_json::from_str(&read("grafana-dashboard.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64()).collect();
    assert_eq!(
        ids.len(),
        panels.len(),
        "each panel has a number of its own"
    );
    for panel in panels {
        let at = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(at("x") + at("w") <= 24, "{}", panel["title"]);
        if panel["type"] != "row" {
            let targets = panel["targets"].as_array().unwrap();
            assert!(targets.iter().all(|target| target["expr"].is_string()));
            assert!(panel["description"].is_string(), "{}", panel["title"]);
        }
    }
    assert!(
        dashboard["schemaVersion"]
            .as_u64()
            .is_some_and(|version| version >= 36)
    );
}

#[test]
fn promtool_accepts_rules_and_their_tests_where_it_is_installed() {
    let promtool = |arguments: &[&str]| {
        let mut command = Command::new("promtool");
        command.current_dir(folder()).args(arguments).output()
    };
    if promtool(&["--version"]).is_err() {
        return;
    }
    for arguments in [
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts-test.yml"],
        ["check", "config", "prometheus.yml"],
    ] {
        let done = promtool(&arguments).unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
}
