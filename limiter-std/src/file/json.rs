//! A text in JSON as a tree, with the places of its values.

use super::error::{FileError, Mistake};
use super::source::{Names, Reader, line};
use core::fmt;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(super) fn tree(reader: &mut Reader<'_>) -> Result<Value, FileError> {
    let text = reader.text;
    // It goes only so deep, and so does all that follows.
    serde_json::from_str::<Value>(text).map_err(|error| syntax(&error))?;
    let mut twice = Vec::new();
    let tree = match serde_json::from_str::<Fields<'_>>(text) {
        Ok(fields) => object(reader, fields, &mut twice),
        Err(_) => value(text),
    };
    FileError::of(twice)?;
    Ok(tree)
}

fn syntax(error: &serde_json::Error) -> FileError {
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let why = said.strip_suffix(&place).unwrap_or(&said);
    let line = Some(error.line()).filter(|line| *line > 0);
    Mistake::new(Names::new(), line, why).into()
}

fn object(reader: &mut Reader<'_>, fields: Fields<'_>, twice: &mut Vec<Mistake>) -> Value {
    let mut tree = Map::new();
    for (name, raw) in fields.0 {
        let begins = raw.get().as_ptr().addr() - reader.text.as_ptr().addr();
        let inner = serde_json::from_str::<Fields<'_>>(raw.get()).ok();
        if tree.contains_key(&name) {
            let names = [reader.path().as_slice(), &[name]].concat();
            let line = line(reader.text, begins);
            twice.push(Mistake::new(names, Some(line), "is written twice"));
            continue;
        }
        let place = (begins..begins + raw.get().len(), inner.is_some());
        let value = reader.under(&name, place, |reader| match inner {
            Some(fields) => object(reader, fields, twice),
            None => value(raw.get()),
        });
        tree.insert(name, value);
    }
    Value::Object(tree)
}

/// What is no object. Nor is any setting a list, and one in the place of a section would be read by its order.
fn value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Array(_)) | Err(_) => text.trim().into(),
        Ok(value) => value,
    }
}

/// The fields of an object in their order, each as it is written.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(Each)
    }
}

struct Each;

impl<'de> Visitor<'de> for Each {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}
