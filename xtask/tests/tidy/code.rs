//! The rules of Rust sources.

use crate::Fault;
use crate::source::{Token, shipped, tokens};

const CORE: &str = "limiter-core/src/";
const LAW: &str = "limiter-core/src/law/";
const CELL: &str = "limiter-core/src/cell/";
/// The one file that names atomic types.
const SYNC: &str = "limiter-core/src/cell/sync.rs";
const LONGEST: usize = 400;

/// Everything wrong with one source.
pub(crate) fn faults(path: &str, text: &str) -> Vec<Fault> {
    let mut found = Report {
        path,
        faults: Vec::new(),
    };
    let (all, shipped) = match (tokens(text), shipped(text)) {
        (Ok(all), Ok(shipped)) => (all, shipped),
        (Err(error), _) | (_, Err(error)) => {
            found.add(1, format!("not Rust: {error}"));
            return found.faults;
        }
    };
    length(text, &mut found);
    left_undone(text, &all, &mut found);
    if path.starts_with(CORE) && !is_test_file(path) {
        plain(&shipped, &mut found);
        if path != SYNC {
            atomics_from_sync(&shipped, &mut found);
        }
        if path.starts_with(LAW) {
            pure_law(&shipped, &mut found);
        }
        if path.starts_with(CELL) && path != SYNC && !path.ends_with("/mod.rs") {
            ordering_table(text, &mut found);
        }
    }
    found.faults
}

struct Report<'a> {
    path: &'a str,
    faults: Vec<Fault>,
}

impl Report<'_> {
    fn add(&mut self, line: usize, what: impl Into<String>) {
        self.faults.push(Fault {
            path: self.path.to_owned(),
            line,
            what: what.into(),
        });
    }
}

/// A file that only `#[cfg(test)] mod tests;` brings in.
fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

fn length(text: &str, found: &mut Report<'_>) {
    let lines = text.lines().count();
    if lines > LONGEST {
        found.add(lines, format!("{lines} lines; {LONGEST} is the most"));
    }
}

fn left_undone(text: &str, tokens: &[Token], found: &mut Report<'_>) {
    for pair in tokens.windows(2) {
        let [name, sign] = pair else { continue };
        if (name.text == "todo" || name.text == "unimplemented") && sign.text == "!" {
            found.add(name.line, format!("`{}!` is left", name.text));
        }
    }
    for three in tokens.windows(3) {
        let [hash, bracket, name] = three else {
            continue;
        };
        if hash.text == "#" && bracket.text == "[" && name.text == "ignore" {
            found.add(name.line, "a test is ignored");
        }
    }
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let documents = line.starts_with("///") || line.starts_with("//!");
        if documents && line.contains("```") && line.contains("ignore") {
            found.add(index + 1, "an example is ignored");
        }
        if line.starts_with("#[cfg_attr") && line.contains("ignore") {
            found.add(index + 1, "a test is ignored under a cfg");
        }
    }
}

/// No standard library, no allocation, no float.
fn plain(tokens: &[Token], found: &mut Report<'_>) {
    for (index, token) in tokens.iter().enumerate() {
        if token.is_name && ["std", "alloc", "f32", "f64"].contains(&token.text.as_str()) {
            found.add(token.line, format!("the core names `{}`", token.text));
        }
        // `pair.0.1` has a token `0.1` too.
        let is_field = index > 0 && tokens[index - 1].text == ".";
        if is_float(&token.text) && !is_field {
            found.add(token.line, format!("the core has a float, {}", token.text));
        }
    }
}

fn is_float(literal: &str) -> bool {
    literal.starts_with(|first: char| first.is_ascii_digit())
        && !literal.starts_with("0x")
        && (literal.contains('.') || literal.contains(['e', 'E']) && !literal.contains("size"))
}

/// Atomic types are named only as `cell/sync.rs` hands them on.
fn atomics_from_sync(tokens: &[Token], found: &mut Report<'_>) {
    let imported = imported(tokens, &["crate", "super", "self"], "sync");
    for (index, token) in tokens.iter().enumerate() {
        let problem = match token.text.as_str() {
            "portable_atomic" => true,
            "atomic" => is_in(tokens, index, "sync"),
            name if token.is_name && name.starts_with("Atomic") => {
                !is_in(tokens, index, "sync") && !imported.contains(&name)
            }
            _ => false,
        };
        if problem {
            found.add(
                token.line,
                format!("`{}` is not imported from cell/sync.rs", token.text),
            );
        }
    }
}

/// Numbers in, numbers out. The order of two numbers is no memory order.
fn pure_law(tokens: &[Token], found: &mut Report<'_>) {
    let compares = imported(tokens, &["core"], "cmp").contains(&"Ordering");
    for (index, token) in tokens.iter().enumerate() {
        let problem = match token.text.as_str() {
            "Ordering" => !compares && !is_in(tokens, index, "cmp"),
            name => token.is_name && (name.starts_with("Atomic") || name.contains("Clock")),
        };
        if problem {
            found.add(token.line, format!("a law names `{}`", token.text));
        }
    }
}

/// Whether the token at `index` is written `module::token`.
fn is_in(tokens: &[Token], index: usize, module: &str) -> bool {
    let before = |back: usize| index.checked_sub(back).map(|at| tokens[at].text.as_str());
    before(1) == Some(":") && before(3) == Some(module)
}

/// Names that a `use` imports from a module, below one of these roots.
fn imported<'a>(tokens: &'a [Token], roots: &[&str], module: &str) -> Vec<&'a str> {
    let uses = tokens.split(|token| token.text == ";").filter_map(|item| {
        let start = item.iter().position(|token| token.text == "use")?;
        Some(&item[start + 1..])
    });
    uses.filter(|item| {
        let rooted = item
            .first()
            .is_some_and(|token| roots.contains(&token.text.as_str()));
        rooted && item.iter().any(|token| token.text == module)
    })
    .flatten()
    .filter(|token| token.is_name)
    .map(|token| token.text.as_str())
    .collect()
}

fn ordering_table(text: &str, found: &mut Report<'_>) {
    let mut opening = text.lines().take_while(|line| line.starts_with("//!"));
    if !opening.any(|line| line.contains("success") && line.contains("pairs with")) {
        found.add(
            1,
            "a cell opens with its ordering table: op | success | failure | pairs with | why",
        );
    }
}
