//! The table of atomic words in ARCHITECTURE.md: every cell, every model with its bound, and how many seeded faults
//! each row's models report.

use std::collections::BTreeMap;

/// A loom model as its source has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    /// The test.
    function: String,
    bound: Option<u32>,
}

/// The models of one source by what they print.
fn models(text: &str) -> BTreeMap<String, Model> {
    let mut found = BTreeMap::new();
    for test in text.split("#[test]").skip(1) {
        let function = test
            .split("fn ")
            .nth(1)
            .and_then(|rest| rest.split('(').next());
        let call = [
            "explore(\"",
            "explore_bounded(\"",
            "check(\"",
            "check_bounded(\"",
            "two_queries(\"",
        ]
        .iter()
        .filter_map(|call| Some((test.find(call)?, *call)))
        .min();
        let (Some(function), Some((at, call))) = (function, call) else {
            continue;
        };
        let mut rest = test[at + call.len()..].splitn(2, '"');
        let name = rest.next().unwrap_or_default();
        let digits = |text: &str| -> Option<u32> {
            let text = text
                .trim_start_matches([',', ' '])
                .trim_start_matches("Some(");
            text.split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
        };
        let bound = call
            .contains("bounded")
            .then(|| digits(rest.next().unwrap_or_default()));
        let model = Model {
            function: function.to_owned(),
            bound: bound.flatten(),
        };
        found.insert(name.to_owned(), model);
    }
    found
}

/// A model's name and its bound, as the table has them.
type Stated = (String, Option<u32>);

/// A row's models, and its number of faults.
fn row(line: &str) -> Option<(Vec<Stated>, usize)> {
    let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
    let [_, _, models, faults] = cells.as_slice() else {
        return None;
    };
    let mut parts = models.split('`').skip(1);
    let mut found = Vec::new();
    while let (Some(name), Some(after)) = (parts.next(), parts.next()) {
        let bound = after.split("(≤ ").nth(1);
        let bound = bound.and_then(|rest| rest.split(')').next()?.parse().ok());
        found.push((name.to_owned(), bound));
    }
    Some((found, faults.parse().ok()?))
}

/// What is wrong with the table, given the sources by path and the seeded faults.
pub(crate) fn faults(text: &str, sources: &[(String, String)], seeded: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let table: Vec<_> = text
        .lines()
        .skip_while(|line| !line.starts_with("| cell |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    for (path, source) in sources {
        let is_cell = path.starts_with("limiter-core/src/cell/") && !path.ends_with("/sync.rs");
        let words = [": Atomic", "(Atomic", "[Atomic"];
        let name = path.rsplit('/').next().unwrap_or_default();
        let shown = format!("`cell/{name}`");
        if is_cell && words.iter().any(|word| source.contains(word)) && !text.contains(&shown) {
            wrong.push(format!("{shown} is missing"));
        }
    }
    let mut all: BTreeMap<String, Model> = sources
        .iter()
        .filter(|(path, _)| path.contains("/tests/loom/"))
        .flat_map(|(_, source)| models(source))
        .collect();
    let seeded: Vec<_> = seeded
        .lines()
        .filter_map(|line| line.strip_prefix("model = "))
        .map(|model| model.trim_matches(['"', '\'']))
        .collect();
    for line in table {
        let Some((models, number)) = row(line) else {
            wrong.push(format!("not a row: {line}"));
            continue;
        };
        let mut reported = 0;
        for (name, bound) in models {
            let Some(model) = all.remove(&name) else {
                wrong.push(format!("there is no model {name}, or it is there twice"));
                continue;
            };
            if model.bound != bound {
                wrong.push(format!("{name} has the bound {:?}", model.bound));
            }
            let of_this = seeded.iter().filter(|part| model.function.contains(**part));
            reported += of_this.count();
        }
        if reported != number {
            wrong.push(format!("{reported} faults, not {number}: {line}"));
        }
    }
    wrong.extend(
        all.keys()
            .map(|name| format!("the model {name} is missing")),
    );
    wrong
}

#[test]
fn the_table_of_models_has_every_cell_every_model_and_its_faults() {
    let read = |path: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        std::fs::read_to_string(root.join(path)).unwrap()
    };
    let (text, seeded) = (read("ARCHITECTURE.md"), read("xtask/mutations.toml"));
    let wrong = faults(&text, &crate::tree(), &seeded);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_model_that_is_missing_has_another_bound_or_reports_more_is_seen() {
    let model = "#[test]\nfn it_holds() {\n    explore_bounded(\"cell-x\", 2, || {\n";
    let sources = [
        ("limiter-core/tests/loom/x.rs".to_owned(), model.to_owned()),
        (
            "limiter-core/src/cell/x.rs".to_owned(),
            "struct X(AtomicU32);".to_owned(),
        ),
    ];
    let seeded = "model = 'it_holds'\n";
    let of = |row: &str| {
        let text = format!("| cell | words | models | faults |\n|--|\n{row}\n");
        faults(&text, &sources, seeded).len()
    };
    assert_eq!(of("| `cell/x.rs` | x | `cell-x` 12 (≤ 2) | 1 |"), 0);
    assert_eq!(of("| `cell/x.rs` | x | `cell-x` 12 | 1 |"), 1);
    assert_eq!(of("| `cell/x.rs` | x | `cell-x` 12 (≤ 2) | 2 |"), 1);
    assert_eq!(of("| `cell/y.rs` | x | `cell-x` 12 (≤ 2) | 1 |"), 1);
    assert_eq!(of("| `cell/x.rs` | x | none | 0 |"), 1);
    assert_eq!(
        of("| `cell/x.rs` | x | `cell-y` 1, `cell-x` 12 (≤ 2) | 1 |"),
        1
    );
}
