//! Settings out of a text: all of its mistakes, or none.

use super::error::{FileError, Mistake};
use super::source::Source;
use super::{Settings, sense, told};
use crate::Dependency;
use limiter_core::ConfigError;
use serde_json::Value;
use serde_path_to_error::Segment;

/// Of a file that is another one altogether nobody reads more.
const MOST_TOLD: usize = 20;

/// Reads until nothing is wrong any more: what is wrong is told and left out the next time.
pub(super) fn settings(source: &Source) -> Result<Settings, FileError> {
    let mut tree = source.tree().clone();
    let (mut told, mut wrong) = (Vec::new(), Vec::new());
    loop {
        let mistake = match checked(source, &tree) {
            Ok(settings) => return FileError::of(told).map(|()| settings),
            Err(mistake) => mistake,
        };
        if !mistake.follows_from(&wrong) {
            told.push(mistake.clone());
        }
        let names = mistake.names().to_vec();
        if told.len() == MOST_TOLD || !leave_out(&mut tree, &names) {
            FileError::of(told)?;
            return Err(mistake.into());
        }
        wrong.extend(mistake.wrong());
    }
}

fn checked(source: &Source, tree: &Value) -> Result<Settings, Mistake> {
    let settings: Settings = serde_path_to_error::deserialize(tree).map_err(|error| {
        let names = error.path().iter().filter_map(name).collect();
        Mistake::read(source, names, &error.inner().to_string())
    })?;
    settings.check(source)?;
    Ok(settings)
}

fn name(segment: &Segment) -> Option<String> {
    match segment {
        Segment::Map { key } => Some(key.clone()),
        _ => None,
    }
}

/// `false` where there is no such thing.
fn leave_out(tree: &mut Value, names: &[String]) -> bool {
    let Some((last, sections)) = names.split_last() else {
        return false;
    };
    let section = sections
        .iter()
        .try_fold(tree, |tree, name| tree.get_mut(name));
    let section = section.and_then(Value::as_object_mut);
    section.is_some_and(|section| section.remove(last).is_some())
}

impl Settings {
    /// The first thing that is wrong.
    pub(super) fn check(&self, source: &Source) -> Result<(), Mistake> {
        sense::of_laws(self, source)?;
        sense::of_windows(self, source)?;
        let limiter = |error: ConfigError| told::value(source, "limiter", &error);
        let shares = self.limiter.partitions.iter();
        let shares = shares.map(|(name, share)| (name.as_str(), share.guarantee.into()));
        told::guarantees(source, shares)?;
        self.partitions().check().map_err(limiter)?;
        self.make_limiter().map_err(limiter)?;
        // Of the dependency alone, for its limiter works, and may be a server's.
        let config = self.limiter.config().map_err(limiter)?;
        Dependency::try_new(self.dependency.config(config.watch_only(false)))
            .map_err(|error| told::value(source, "dependency", &error))?;
        sense::of_values(self, source)?;
        sense::of_the_owner(self, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::source::Names;

    #[test]
    fn what_is_left_out_is_gone_and_what_is_not_there_is_told() {
        let mut tree = serde_json::json!({ "limiter": { "a.b": 1, "max": 2 } });
        let path = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Names>()
        };
        assert!(leave_out(&mut tree, &path(&["limiter", "a.b"])));
        assert!(!leave_out(&mut tree, &path(&["limiter", "a.b"])));
        assert!(!leave_out(&mut tree, &path(&["limiter", "max", "of"])));
        assert!(!leave_out(&mut tree, &path(&[])));
        assert_eq!(tree, serde_json::json!({ "limiter": { "max": 2 } }));
    }
}
