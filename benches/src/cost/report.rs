//! The table, and the same as flat objects.

use super::target::{self, Most};
use serde::Serialize;
use std::fmt::Write;

/// One operation of one implementation on so many threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The operation.
    pub op: &'static str,
    /// `limiter`, or the peer's name.
    #[serde(rename = "impl")]
    pub who: &'static str,
    /// How many threads did it at once.
    pub threads: usize,
    /// Time over that of the raw pair on as many threads.
    pub ratio: f64,
    /// Instructions for each operation, counted on one thread.
    pub instructions: Option<f64>,
    /// Allocations for each operation, counted on one thread.
    pub allocations: Option<f64>,
    /// Bytes of the object, on the heap and itself.
    pub bytes: Option<u64>,
    /// The middle half of the ratios.
    #[serde(skip)]
    pub quartiles: (f64, f64),
    /// Nanoseconds for each operation and thread.
    #[serde(skip)]
    pub nanos: f64,
    /// Instructions of `acquire-finish` in the same run, where it was counted.
    #[serde(skip)]
    pub plain: Option<f64>,
}

impl Row {
    /// What is asked for and not reached.
    pub fn misses(&self) -> Vec<Most> {
        if self.who != "limiter" {
            return Vec::new();
        }
        let targets = target::of(self.op).iter();
        let missed = targets.filter(|most| self.is_missed(most));
        missed.copied().collect()
    }

    fn is_missed(&self, most: &Most) -> bool {
        match *most {
            Most::Ratio(most) => self.threads == 1 && self.ratio > most,
            Most::Contended(most) => self.threads == 2 && self.ratio > most,
            Most::Instructions(most) => self.instructions.is_some_and(|count| count > most),
            Most::Plain(most) => self
                .instructions
                .zip(self.plain)
                .is_some_and(|(count, plain)| count > most * plain),
            Most::Nanos(most) => self.threads == 1 && self.nanos > most,
        }
    }

    fn cells(&self) -> [String; 9] {
        let number = |figure: Option<f64>| figure.map_or("-".to_owned(), plain);
        let ours = self.who == "limiter";
        let most = target::of(self.op).iter();
        let asked: Vec<_> = most
            .filter(|_| ours)
            .filter(|most| self.threads == 1 || matches!(most, Most::Contended(_)))
            .filter(|most| self.threads == 2 || !matches!(most, Most::Contended(_)))
            .map(|most| {
                let mark = if self.is_missed(most) { " !" } else { "" };
                format!("{most}{mark}")
            })
            .collect();
        let asked = asked.join(", ");
        let (least, most) = self.quartiles;
        [
            self.who.to_owned(),
            self.threads.to_string(),
            format!("{:.2}", self.ratio),
            format!("{least:.2}..{most:.2}"),
            format!("{:.1}", self.nanos),
            number(self.instructions),
            number(self.allocations),
            self.bytes.map_or("-".to_owned(), |bytes| bytes.to_string()),
            asked,
        ]
    }
}

fn plain(figure: f64) -> String {
    let text = format!("{figure:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

const HEAD: [&str; 9] = [
    "",
    "threads",
    "x raw",
    "middle half",
    "ns",
    "instr",
    "allocs",
    "bytes",
    "at most",
];

/// The table of all rows, by operation in their order; an exclamation mark after each target that is missed.
pub fn table(rows: &[Row]) -> String {
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    let width = |column: usize| {
        let all = cells.iter().map(|row| row[column].len());
        all.chain([HEAD[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; 9] = core::array::from_fn(width);
    let line = |row: [&str; 9]| {
        let mut text = String::new();
        for (column, (cell, width)) in row.into_iter().zip(widths).enumerate() {
            let _ = match column {
                0 => write!(text, "  {cell:<width$}"),
                8 => write!(text, "  {cell}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.trim_end().to_owned() + "\n"
    };
    let mut text = String::new();
    let mut op = "";
    for (row, cells) in rows.iter().zip(&cells) {
        if row.op != op {
            op = row.op;
            let mut head = HEAD;
            head[0] = op;
            let _ = write!(text, "\n{}", line(head));
        }
        text.push_str(&line(cells.each_ref().map(String::as_str)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: &'static str, who: &'static str, threads: usize) -> Row {
        Row {
            op,
            who,
            threads,
            ratio: 1.5,
            instructions: Some(45.25),
            allocations: Some(0.0),
            bytes: None,
            quartiles: (1.4, 1.6),
            nanos: 9.0,
            plain: None,
        }
    }

    #[test]
    fn a_row_has_exactly_the_fields_that_others_read() {
        let json = serde_json::to_string(&row("refuse", "limiter", 1)).unwrap();
        assert_eq!(
            json,
            r#"{"op":"refuse","impl":"limiter","threads":1,"ratio":1.5,"instructions":45.25,"allocations":0.0,"bytes":null}"#
        );
    }

    #[test]
    fn targets_are_the_library_s_and_of_as_many_threads() {
        let ours = row("acquire-finish", "limiter", 1);
        assert_eq!(ours.misses(), [Most::Ratio(1.3), Most::Instructions(45.0)]);
        let two = Row {
            instructions: None,
            ..row("acquire-finish", "limiter", 2)
        };
        assert_eq!(two.misses(), []);
        assert_eq!(row("acquire-finish", "tokio", 1).misses(), []);
    }

    #[test]
    fn what_a_class_costs_is_judged_by_what_none_costs_in_the_same_run() {
        let beside = |plain| Row {
            plain,
            ..row("admit-class", "limiter", 1)
        };
        assert_eq!(beside(Some(30.0)).misses(), [Most::Plain(1.5)]);
        assert_eq!(beside(Some(30.25)).misses(), []);
        assert_eq!(beside(None).misses(), []);
    }

    #[test]
    fn the_table_marks_what_is_missed_and_leaves_out_what_is_not_known() {
        let text = table(&[
            row("acquire-finish", "limiter", 1),
            row("acquire-finish", "tokio", 1),
            row("refuse", "limiter", 1),
        ]);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[1].starts_with("  acquire-finish"), "{text}");
        assert!(lines[2].ends_with("1.3 x !, 45 instr !"), "{text}");
        assert!(lines[3].ends_with('-'), "{text}");
        assert_eq!(lines.len(), 7, "{text}");
        for (ratio, instructions, end) in [
            (1.5, 40.0, "1.3 x !, 45 instr"),
            (1.1, 50.0, "1.3 x, 45 instr !"),
            (1.1, 40.0, "1.3 x, 45 instr"),
        ] {
            let text = table(&[Row {
                ratio,
                instructions: Some(instructions),
                ..row("acquire-finish", "limiter", 1)
            }]);
            assert!(text.trim_end().ends_with(end), "{text}");
        }
    }
}
