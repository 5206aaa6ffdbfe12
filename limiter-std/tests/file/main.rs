//! Settings from a file, and from another one while running.

mod dependency;
mod fields;
mod mistakes;
mod reload;
mod sense;

use fields::fields;
use limiter_std::file::{FileError, Format, Settings};
use limiter_std::law::{Aimd, AnyLaw, Gradient, Knee, Vegas};
use limiter_std::{Config, DependencyConfig};
use std::time::Duration;

fn toml(section: &str, field: &str, value: &str) -> String {
    // An object is written as a table in one line.
    let value = value.replace("\":", "\" = ");
    format!("[{section}]\n{field} = {value}\n")
}

fn json(section: &str, field: &str, value: &str) -> String {
    let open: String = section
        .split('.')
        .map(|name| format!("{{\"{name}\":"))
        .collect();
    let close = "}".repeat(section.split('.').count());
    format!("{open}{{\"{field}\":{value}}}{close}")
}

#[test]
fn every_field_is_read_in_both_formats_and_a_bad_value_is_told_by_its_path_its_line_and_as_it_is_written()
 {
    for (section, field, good, bad, said) in fields() {
        let from_toml = Settings::parse(&toml(section, field, good), Format::Toml);
        let from_json = Settings::parse(&json(section, field, good), Format::Json);
        assert_ne!(
            from_toml,
            Ok(Settings::default()),
            "{section}.{field} changes nothing"
        );
        assert_eq!(from_toml, from_json, "{section}.{field} = {good}");

        let path = format!("{section}.{field}");
        let error = Settings::parse(&toml(section, field, bad), Format::Toml).expect_err(&path);
        assert_eq!(error.path(), path, "{error}");
        let line = error.line().expect("a line");
        assert!((1..=2).contains(&line), "{error}");
        let begins = format!("{path} (line {line}): {said}");
        assert!(error.to_string().starts_with(&begins), "{error}\n{begins}");

        let error = Settings::parse(&json(section, field, bad), Format::Json).expect_err(&path);
        assert_eq!(error.path(), path, "{error}");
        let begins = format!("{path} (line 1): {said}");
        assert!(error.to_string().starts_with(&begins), "{error}\n{begins}");
    }
}

#[test]
fn parameters_of_every_law_are_read_and_only_those_of_the_chosen_one_may_be_written() {
    let law = |name: &str, terms: &str| {
        let text = format!("[limiter]\nlaw = \"{name}\"\n[limiter.{name}]\n{terms}\n");
        let settings = Settings::parse(&text, Format::Toml);
        settings.map(|settings| settings.limiter_config().expect("checked"))
    };
    let aimd = Aimd::new()
        .without_ramp()
        .increase(2)
        .and_then(|law| law.keep(500));
    let vegas = Vegas::new().queue(2, 9).and_then(|law| law.keep(800));
    let second = Duration::from_secs(1);
    let gradient = Gradient::new()
        .tolerance(2_000)
        .and_then(|law| law.max_rtt(second));
    let knee = Knee::new().target(200).and_then(|law| law.spread(50));
    for (name, terms, expected) in [
        (
            "aimd",
            "increase = 2\nkeep = 500\nramp = false",
            aimd.map(AnyLaw::Aimd),
        ),
        (
            "vegas",
            "alpha = 2\nbeta = 9\nkeep = 800",
            vegas.map(AnyLaw::Vegas),
        ),
        (
            "gradient",
            "tolerance = 2000\nmax_rtt = \"1s\"",
            gradient.map(AnyLaw::Gradient),
        ),
        ("knee", "target = 200\nspread = 50", knee.map(AnyLaw::Knee)),
    ] {
        assert_eq!(law(name, terms), Ok(Config::new(expected.unwrap())));
        assert_eq!(
            law(name, "ramps = true").unwrap_err().path(),
            format!("limiter.{name}.ramps")
        );
    }
    for (name, terms, said) in [
        (
            "aimd",
            "keep = 1000",
            "limiter.aimd.keep (line 4): got 1000, allowed 1 to 999",
        ),
        (
            "vegas",
            "alpha = 7",
            "limiter.vegas.alpha (line 4): got 7, allowed 1 to 6: limiter.vegas.beta is 6 unless it is set",
        ),
        (
            "vegas",
            "beta = 2",
            "limiter.vegas.beta (line 4): got 2, but limiter.vegas.alpha is 3 unless it is set",
        ),
        (
            "gradient",
            "max_rtt = \"2h\"",
            "limiter.gradient.max_rtt (line 4): got 2h, allowed 1us to 1h",
        ),
    ] {
        assert_eq!(law(name, terms).unwrap_err().to_string(), said);
    }
    let other = |text: &str| Settings::parse(text, Format::Toml).unwrap_err().to_string();
    assert_eq!(
        other("limiter.law = \"aimd\"\n[limiter.knee]\ntarget = 200"),
        "limiter.knee (line 2): limiter.law (line 1) is aimd, so this section would do nothing: leave it out, or \
         write law = \"knee\""
    );
    assert_eq!(
        other("[limiter.fixed]"),
        "limiter.fixed (line 1): limiter.law is knee unless it is set, so this section would do nothing: leave it \
         out, or write law = \"fixed\""
    );
    assert!(Settings::parse("limiter.law = \"fixed\"\n[limiter.fixed]", Format::Toml).is_ok());
    assert!(
        other("limiter.law = \"fixed\"\nlimiter.fixed.at = 3")
            .starts_with("limiter.fixed.at (line 2): unknown field `at`")
    );
}

#[test]
fn a_limit_that_is_not_written_starts_within_the_bounds_that_are() {
    for (text, initial) in [
        ("min = 20", 20),
        ("max = 5", 5),
        ("min = 2\nmax = 50", 10),
        ("", 10),
    ] {
        let settings = Settings::parse(&format!("[limiter]\n{text}"), Format::Toml).unwrap();
        assert_eq!(
            settings.limiter().unwrap().snapshot().limit,
            initial,
            "{text}"
        );
    }
    let wrong = Settings::parse("[limiter]\nmin = 20\ninitial = 10", Format::Toml);
    let said = "limiter.initial (line 3): got 10, allowed 20 to 1000: limiter.min (line 2) is above it, 20; \
                where it is left out a limit starts within the bounds";
    assert_eq!(wrong.unwrap_err().to_string(), said);
}

#[test]
fn of_two_fields_that_do_not_go_together_both_are_told() {
    for (text, said) in [
        (
            "[limiter]\nmin = 20\nmax = 5",
            "limiter.min (line 2): got 20, allowed 1 to 5: limiter.max (line 3) is below it, 5",
        ),
        (
            "[limiter]\ninitial = 50\nmax = 5",
            "limiter.initial (line 2): got 50, allowed 1 to 5: limiter.max (line 3) is below it, 5; \
             where it is left out a limit starts within the bounds",
        ),
        (
            "[dependency.backoff]\ncap = \"1s\"\nbase = \"2s\"",
            "dependency.backoff.base (line 3): got 2s, allowed 1ns to 1s: dependency.backoff.cap (line 2) is below it, 1s",
        ),
    ] {
        let wrong = Settings::parse(text, Format::Toml).unwrap_err();
        assert_eq!(wrong.to_string(), said);
    }
    let wrong = Settings::parse(r#"{"limiter":{"min":20,"max":5}}"#, Format::Json).unwrap_err();
    let said = "limiter.min (line 1): got 20, allowed 1 to 5: limiter.max (line 1) is below it, 5";
    assert_eq!(wrong.to_string(), said);
}

#[test]
fn guarantees_are_told_by_their_names_alone_and_together() {
    let of = |shares: &[(&str, u16)]| {
        let sections = shares.iter().map(|(name, share)| {
            format!("[limiter.partitions.{name}]\nlend_after = \"1s\"\nguarantee = {share}\n")
        });
        let text = sections.collect::<String>();
        Settings::parse(&text, Format::Toml).map_err(|error| error.to_string())
    };
    assert!(of(&[("writes", 500), ("reads", 400), ("rest", 0)]).is_ok());
    for (shares, said) in [
        (
            &[("writes", 500), ("reads", 401), ("rest", 0)][..],
            "limiter.partitions.reads.guarantee (line 6): 401 (reads) + 500 (writes) is 901 together, allowed 0 to 900",
        ),
        (
            &[("reads", 300), ("writes", 950)],
            "limiter.partitions.writes.guarantee (line 6): got 950, allowed 0 to 900",
        ),
        (
            &[("\"api.v1\"", 901)],
            "limiter.partitions.api.v1.guarantee (line 3): got 901, allowed 0 to 900",
        ),
    ] {
        assert_eq!(of(shares).unwrap_err(), said);
    }
    let many: String = (0..17)
        .map(|index| format!("[limiter.partitions.p{index}]\n"))
        .collect();
    let error = Settings::parse(&many, Format::Toml)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "limiter.partitions (line 1): got 17, allowed 0 to 16"
    );
}

#[test]
fn unknown_fields_are_refused_in_every_section() {
    let sections = fields().map(|(section, ..)| section);
    let mut sections: Vec<_> = sections.chain(["dependency.breaker.slow_share"]).collect();
    sections.dedup();
    for section in sections {
        for error in [
            Settings::parse(&toml(section, "typo", "1"), Format::Toml),
            Settings::parse(&json(section, "typo", "1"), Format::Json),
        ] {
            let error = error.expect_err("unknown");
            assert_eq!(error.path(), format!("{section}.typo"));
            assert!(error.line().is_some(), "{error}");
            assert!(
                error.to_string().contains("unknown field `typo`"),
                "{error}"
            );
        }
    }
}

#[test]
fn text_that_is_no_toml_or_json_and_text_after_it_are_errors_and_no_panics() {
    for (text, format) in [
        ("[", Format::Toml),
        ("{", Format::Json),
        ("{} x", Format::Json),
        ("{}", Format::Toml),
    ] {
        assert!(Settings::parse(text, format).is_err(), "{text}");
    }
    assert_eq!(Settings::parse("", Format::Toml), Ok(Settings::default()));
    assert_eq!(Settings::parse("{}", Format::Json), Ok(Settings::default()));
}

#[test]
fn f97_an_empty_file_says_what_the_defaults_of_the_builders_are() {
    let config = DependencyConfig::new(Config::new(AnyLaw::Knee(Knee::new())));
    assert_eq!(Settings::default().dependency_config(), Ok(config));
}

/// The example with the law `law`, whose parameters stand in it after a `#`.
fn in_use(text: &str, law: &str) -> Result<Settings, FileError> {
    let text = text.replace("law = \"knee\"", &format!("law = \"{law}\""));
    let head = format!("[limiter.{law}]");
    let mut inside = false;
    let lines = text.lines().map(|line| {
        let plain = line.trim_start_matches("# ");
        if plain.starts_with('[') {
            inside = plain.starts_with(&head);
        }
        let knee = line == "[limiter.knee]" && law != "knee";
        let used = if inside {
            plain
        } else if knee {
            ""
        } else {
            line
        };
        format!("{used}\n")
    });
    Settings::parse(&lines.collect::<String>(), Format::Toml)
}

#[test]
fn the_example_names_every_field_with_its_default() {
    let text = include_str!("../../examples/defaults.toml");
    assert_eq!(
        Settings::parse(text, Format::Toml)
            .unwrap()
            .dependency_config(),
        Settings::default().dependency_config()
    );
    for (law, default) in [
        ("aimd", AnyLaw::Aimd(Aimd::new())),
        ("vegas", AnyLaw::Vegas(Vegas::new())),
        ("gradient", AnyLaw::Gradient(Gradient::new())),
        ("knee", AnyLaw::Knee(Knee::new())),
    ] {
        let config = in_use(text, law).and_then(|settings| settings.limiter_config());
        assert_eq!(config, Ok(Config::new(default)), "{law}");
    }
    let mut section = "";
    let mut named = Vec::new();
    for line in text.lines().map(|line| line.trim_start_matches("# ")) {
        match line
            .strip_prefix('[')
            .and_then(|line| line.split(']').next())
        {
            Some(name) => section = name,
            None => named.extend(line.split_once(" =").map(|(name, _)| (section, name))),
        }
    }
    let of_laws = [
        ("aimd", ["increase", "keep", "ramp"].as_slice()),
        ("vegas", &["alpha", "beta", "keep", "ramp"]),
        ("gradient", &["tolerance", "max_rtt", "keep", "ramp"]),
    ];
    for (law, field) in of_laws
        .iter()
        .flat_map(|(law, all)| all.iter().map(move |one| (law, one)))
    {
        let section = format!("limiter.{law}");
        assert!(
            named.contains(&(section.as_str(), field)),
            "{section}.{field}"
        );
    }
    for (section, field, ..) in fields() {
        assert!(named.contains(&(section, field)), "{section}.{field}");
    }
}
