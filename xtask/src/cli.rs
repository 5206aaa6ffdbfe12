//! The command line: what was asked for, or one line that says what could have been.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use lexopt::Arg;

use crate::parts::{PARTS, Part};

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Print this text and succeed.
    Show(String),
    /// Run these parts, in this order.
    Test(Vec<&'static Part>),
    /// Measure flash and RAM, and write the numbers to this file.
    Size(Option<PathBuf>),
}

/// Reads a command line, the program's name included.
///
/// # Errors
///
/// One line for an unknown command, option or part; it names the valid ones.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Request> {
    let mut parser = lexopt::Parser::from_iter(args);
    let mut testing = false;
    let mut sizing = false;
    let mut json = None;
    let mut chosen = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Show(help())),
            Arg::Long("list") if testing => return Ok(Request::Show(list())),
            Arg::Value(word) if testing && word == "full" => {
                chosen.extend(PARTS.iter().filter(|part| part.long));
            }
            Arg::Value(word) if testing => chosen.push(part(&word.to_string_lossy())?),
            Arg::Long("json") if sizing => json = Some(PathBuf::from(parser.value()?)),
            Arg::Value(word) if word == "test" && !sizing => testing = true,
            Arg::Value(word) if word == "size" && !sizing => sizing = true,
            Arg::Value(word) => bail!(
                "no command `{}`; there are `test` and `size`",
                word.to_string_lossy()
            ),
            option => bail!(
                "{}; the options are: --help, test --list, size --json PATH",
                option.unexpected()
            ),
        }
    }
    if sizing {
        return Ok(Request::Size(json));
    }
    if !testing {
        bail!("say what to do: `cargo xtask test`, or `cargo xtask --help`");
    }
    if chosen.is_empty() {
        chosen.extend(PARTS.iter().filter(|part| !part.long));
    }
    Ok(Request::Test(chosen))
}

fn part(name: &str) -> Result<&'static Part> {
    PARTS
        .iter()
        .find(|part| part.name == name)
        .with_context(|| {
            let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            format!(
                "no part `{name}`; the parts are: {}, and `full` for those that take long",
                names.join(", ")
            )
        })
}

fn list() -> String {
    let line = |part: &Part| {
        let full = if part.long { "full: " } else { "" };
        format!("{:<12} {full}{}\n", part.name, part.what)
    };
    PARTS.iter().map(line).collect()
}

fn help() -> String {
    format!(
        "cargo xtask test [PART]...   run these parts, or in this order all that CI runs
cargo xtask test full        run those that take long
cargo xtask test --list      only say what the parts are
cargo xtask size             flash and RAM of the library on microcontrollers
cargo xtask size --json PATH the same, also into a file

It installs what is missing, prints each command before it runs it, and stops at the first failure.

Parts:
{}",
        list()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> Result<Request> {
        parse(line.split(' ').map(OsString::from))
    }

    fn names(line: &str) -> Vec<&'static str> {
        match request(line) {
            Ok(Request::Test(parts)) => parts.iter().map(|part| part.name).collect(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn without_a_name_every_part_runs_that_does_not_take_long_and_full_runs_the_others() {
        let of = |long| {
            let parts = PARTS.iter().filter(|part| part.long == long);
            parts.map(|part| part.name).collect::<Vec<_>>()
        };
        assert_eq!(names("xtask test"), of(false));
        assert_eq!(names("xtask test full"), of(true));
        assert!(names("xtask test").len() > names("xtask test full").len());
    }

    #[test]
    fn named_parts_run_in_the_order_given() {
        assert_eq!(names("xtask test no-std host"), ["no-std", "host"]);
    }

    #[test]
    fn an_unknown_part_is_told_the_valid_ones_in_one_line() {
        let error = format!("{:#}", request("xtask test hots").unwrap_err());
        assert!(!error.contains('\n'), "{error}");
        for part in PARTS {
            assert!(error.contains(part.name), "{error}");
        }
    }

    #[test]
    fn an_unknown_option_or_command_is_an_error() {
        for line in [
            "xtask test --lits",
            "xtask tset",
            "xtask",
            "xtask --list",
            "xtask size --jason x",
            "xtask size --json",
            "xtask test --json x",
        ] {
            assert!(request(line).is_err(), "{line}");
        }
    }

    #[test]
    fn size_takes_a_file_for_its_numbers() {
        assert!(matches!(request("xtask size"), Ok(Request::Size(None))));
        let Ok(Request::Size(Some(path))) = request("xtask size --json a.json") else {
            panic!("no file");
        };
        assert_eq!(path, PathBuf::from("a.json"));
    }

    #[test]
    fn help_and_list_say_what_each_part_does() {
        for line in ["xtask --help", "xtask test -h", "xtask test --list"] {
            let Ok(Request::Show(text)) = request(line) else {
                panic!("{line} shows nothing");
            };
            for part in PARTS {
                assert!(text.contains(part.what), "{line}: {text}");
            }
        }
    }
}
