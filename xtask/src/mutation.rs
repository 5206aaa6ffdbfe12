//! The table of seeded faults, `xtask/mutations.toml`.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::loom::Width;

/// One seeded fault and the model that has to report it.
#[derive(Debug)]
pub(crate) struct Mutation {
    /// What goes wrong with this fault.
    pub(crate) why: String,
    /// The file to change, from the root.
    pub(crate) file: String,
    find: String,
    replace: String,
    /// The library whose `tests/loom.rs` has the model.
    pub(crate) library: String,
    /// What `cargo test` takes as a filter.
    pub(crate) model: String,
    pub(crate) width: Width,
    /// How long the model may take.
    pub(crate) limit: Duration,
    /// What its report has to contain; empty when any will do.
    pub(crate) report: String,
}

/// Reads a table of mutations.
///
/// # Errors
///
/// Something that is not TOML, or an entry with a field that is missing, unknown or of the wrong kind.
pub(crate) fn table(text: &str) -> Result<Vec<Mutation>> {
    let mut table: Table = text.parse()?;
    let entries = match table.remove("mutation") {
        None => Vec::new(),
        Some(Value::Array(entries)) => entries,
        Some(_) => bail!("`mutation` is not a list: write [[mutation]]"),
    };
    if let Some(key) = table.keys().next() {
        bail!("unknown key `{key}` outside [[mutation]]");
    }
    entries
        .into_iter()
        .enumerate()
        .map(|(index, entry)| entry_of(entry).with_context(|| format!("mutation {}", index + 1)))
        .collect()
}

fn entry_of(entry: Value) -> Result<Mutation> {
    let Value::Table(mut entry) = entry else {
        bail!("not a table");
    };
    let mutation = Mutation {
        why: text(&mut entry, "why")?,
        file: text(&mut entry, "file")?,
        find: text(&mut entry, "find")?,
        replace: optional(&mut entry, "replace")?.context("`replace` is missing")?,
        library: text(&mut entry, "crate")?,
        model: text(&mut entry, "model")?,
        width: match optional(&mut entry, "width")?.as_deref() {
            None | Some("wide") => Width::Wide,
            Some("narrow") => Width::Narrow,
            Some(other) => bail!("`width` is `{other}`, not `wide` or `narrow`"),
        },
        limit: match entry.remove("seconds") {
            None => Duration::from_secs(120),
            Some(Value::Integer(seconds @ 1..=3600)) => Duration::from_secs(seconds.unsigned_abs()),
            Some(other) => bail!("`seconds` is {other:?}, not a number from 1 to 3600"),
        },
        report: optional(&mut entry, "report")?.unwrap_or_default(),
    };
    match entry.keys().next() {
        Some(key) => bail!("unknown key `{key}`"),
        None => Ok(mutation),
    }
}

fn text(entry: &mut Table, key: &str) -> Result<String> {
    match optional(entry, key)? {
        Some(text) if !text.is_empty() => Ok(text),
        _ => bail!("`{key}` is missing"),
    }
}

fn optional(entry: &mut Table, key: &str) -> Result<Option<String>> {
    match entry.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => bail!("`{key}` is {other:?}, not text"),
    }
}

impl Mutation {
    /// A source with this fault in it.
    ///
    /// # Errors
    ///
    /// What to find does not occur exactly once, or the replacement changes nothing.
    pub(crate) fn apply(&self, source: &str) -> Result<String> {
        let found = source.matches(&self.find).count();
        if found != 1 {
            bail!(
                "{}: what to find occurs {found} times, not once: {:?}",
                self.file,
                self.find
            );
        }
        if self.find == self.replace {
            bail!("{}: the replacement changes nothing", self.file);
        }
        Ok(source.replacen(&self.find, &self.replace, 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = "
        [[mutation]]
        why = 'a holder is lost'
        file = 'limiter-core/src/x.rs'
        find = 'Release'
        replace = 'Relaxed'
        crate = 'limiter-core'
        model = 'admission'
    ";

    fn only() -> Mutation {
        table(ENTRY).unwrap().remove(0)
    }

    #[test]
    fn an_entry_is_wide_and_has_two_minutes_unless_it_says_otherwise() {
        let plain = only();
        assert_eq!(
            (plain.width, plain.limit.as_secs(), plain.report.as_str()),
            (Width::Wide, 120, "")
        );
        let more = format!("{ENTRY} width = 'narrow'\n seconds = 9\n report = 'inflight'");
        let other = table(&more).unwrap().remove(0);
        assert_eq!(
            (other.width, other.limit.as_secs(), other.report.as_str()),
            (Width::Narrow, 9, "inflight")
        );
    }

    #[test]
    fn a_field_that_is_missing_misspelt_or_of_the_wrong_kind_is_an_error_that_names_it() {
        for (bad, named) in [
            (ENTRY.replace("why = 'a holder is lost'", ""), "why"),
            (ENTRY.replace("model = 'admission'", "model = ''"), "model"),
            (ENTRY.replace("model", "modle"), "model"),
            (format!("{ENTRY} widht = 'narrow'"), "widht"),
            (format!("{ENTRY} width = 'broad'"), "width"),
            (format!("{ENTRY} seconds = 0"), "seconds"),
            (format!("{ENTRY} report = 1"), "report"),
            (format!("mutations = 1\n{ENTRY}"), "mutations"),
            ("mutation = 1".to_owned(), "mutation"),
        ] {
            let error = format!("{:#}", table(&bad).unwrap_err());
            assert!(error.contains(named), "{named} is not in: {error}");
        }
    }

    #[test]
    fn a_fault_goes_in_only_where_its_text_occurs_once() {
        let mutation = only();
        assert_eq!(mutation.apply("a Release b").unwrap(), "a Relaxed b");
        assert!(mutation.apply("a Relaxed b").is_err());
        assert!(mutation.apply("Release Release").is_err());
        let same = Mutation {
            replace: mutation.find.clone(),
            ..mutation
        };
        assert!(same.apply("a Release b").is_err());
    }

    #[test]
    fn the_project_s_own_table_is_well_formed() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/mutations.toml");
        table(&std::fs::read_to_string(file).unwrap()).unwrap();
    }
}
