//! The table of faults: every number once, and tests and parts that exist.

/// What is wrong with the table, given all sources and the parts of the test command.
pub(crate) fn faults(table: &str, sources: &[(String, String)], parts: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let rows: Vec<_> = table
        .lines()
        .filter(|line| line.starts_with("| F"))
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let number = format!("F{}", index + 1);
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [first, _, kept_out] = cells.as_slice() else {
            wrong.push(format!("{number}: not three cells"));
            continue;
        };
        if *first != number {
            wrong.push(format!("{first} stands where {number} should"));
        }
        let names: Vec<_> = kept_out.split('`').skip(1).step_by(2).collect();
        if names.is_empty() && !kept_out.starts_with("argued: ") {
            wrong.push(format!("{first}: neither a test nor an argument"));
        }
        for name in names {
            let exists = match name.strip_prefix("cargo xtask test ") {
                Some(part) => parts.contains(&format!("name: \"{part}\"")),
                None => sources
                    .iter()
                    .any(|(_, text)| text.contains(&format!("fn {name}("))),
            };
            if !exists {
                wrong.push(format!("{first}: there is no {name}"));
            }
        }
    }
    if rows.len() < 109 {
        wrong.push(format!("{} faults of 109", rows.len()));
    }
    wrong
}

#[test]
fn every_fault_of_others_has_a_test_that_exists_or_an_argument() {
    let read = |path: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        std::fs::read_to_string(root.join(path)).unwrap()
    };
    let wrong = faults(
        &read("FAULTS.md"),
        &crate::tree(),
        &read("xtask/src/parts.rs"),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_table_with_a_gap_a_test_that_is_gone_or_an_empty_cell_is_wrong() {
    let sources = [("a.rs".to_owned(), "fn it_holds() {}".to_owned())];
    let rows = |rows: &str| {
        let mut wrong = faults(rows, &sources, "name: \"size\"");
        wrong.pop().filter(|last| last.contains("of 109")).unwrap();
        wrong
    };
    assert!(rows("| F1 | x | `it_holds`, `cargo xtask test size` |").is_empty());
    assert!(rows("| F1 | x | argued: there is none |").is_empty());
    assert_eq!(rows("| F1 | x | `it_held` |").len(), 1);
    assert_eq!(rows("| F1 | x | `cargo xtask test seize` |").len(), 1);
    assert_eq!(rows("| F2 | x | `it_holds` |").len(), 1);
    assert_eq!(rows("| F1 | x | nothing |").len(), 1);
}
