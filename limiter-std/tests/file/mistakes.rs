//! All that is wrong with a file, told at once.

use limiter_std::file::{Format, Settings};

fn told(text: &str, format: Format) -> Vec<String> {
    let error = Settings::parse(text, format).expect_err(text);
    let each: Vec<_> = error.mistakes().map(ToString::to_string).collect();
    assert_eq!(error.to_string(), each.join("\n"));
    assert_eq!(error.mistakes().next().unwrap().path(), error.path());
    each
}

#[test]
fn every_mistake_is_told_in_the_order_of_the_lines() {
    let text = "[dependency]\ntries = 3\ntotal = \"soon\"\n[limiter]\nmin = 20\nmax = 5\nlaw = \"magic\"\n\
                [limiter.queue]\nlength = 0\n[limiters]\nmax = 3";
    let each = told(text, Format::Toml);
    let begins = [
        "dependency.tries (line 2): unknown field `tries`",
        "dependency.total (line 3): \"soon\" is no time; write one such as \"250ms\" or \"1m 30s\"",
        "limiter.min (line 5): got 20, allowed 1 to 5: limiter.max (line 6) is below it, 5",
        "limiter.law (line 7): unknown variant `magic`",
        "limiter.queue.length (line 9): got 0, allowed 1 to 1048576",
        "limiters (line 10): unknown field `limiters`",
    ];
    assert_eq!(each.len(), begins.len(), "{each:#?}");
    for (mistake, begins) in each.iter().zip(begins) {
        assert!(mistake.starts_with(begins), "{mistake}");
    }
}

#[test]
fn what_would_be_right_but_for_another_mistake_is_not_told() {
    for (text, path) in [
        // Without a law that there is, nobody knows whose the section is.
        (
            "[limiter]\nlaw = \"magic\"\n[limiter.aimd]\nkeep = 500",
            "limiter.law",
        ),
        (
            "[limiter]\nmax = \"many\"\nmin = 2000\ninitial = 3000",
            "limiter.max",
        ),
        (
            "[dependency]\ntotal = \"a minute\"\ntimeout = \"20s\"",
            "dependency.total",
        ),
        (
            "[dependency.budget]\ncapacity_milli = \"all\"\nfloor_milli = 20000",
            "dependency.budget.capacity_milli",
        ),
        // Nor what the field would do that was meant.
        ("[limiter]\nmaxx = 3000\ninitial = 2000", "limiter.maxx"),
        (
            "[limiter]\nlwa = \"vegas\"\n[limiter.vegas]\nalpha = 2",
            "limiter.lwa",
        ),
    ] {
        let each = told(text, Format::Toml);
        assert!(each.len() == 1 && each[0].starts_with(path), "{each:#?}");
    }
}

#[test]
fn who_slips_is_told_what_was_meant_and_who_invents_is_not() {
    for (text, meant) in [
        ("[limiter]\nmaxx = 3", Some("max")),
        ("[limiter]\nlwa = \"vegas\"", Some("law")),
        ("[limiter]\nlaw = \"vgeas\"", Some("vegas")),
        ("[limiters]\nmax = 3", Some("limiter")),
        (
            "[limiter.queue]\nlongest_wiat = \"1s\"",
            Some("longest_wait"),
        ),
        ("[dependency.bugdet]\nratio = 3", Some("budget")),
        ("[limiter]\nlaw = \"`aimd`\"", Some("aimd")),
        ("[limiter]\nlaw = \"\"", None),
        ("[limiter]\n\"\" = 3", None),
        ("[limiter]\ncapacity = 3", None),
        ("[limiter]\nlaw = \"magic\"", None),
        ("x = 1", None),
    ] {
        let [said] = &told(text, Format::Toml)[..] else {
            panic!("{text}");
        };
        let ending = meant.map(|meant| format!("; did you mean `{meant}`?"));
        match ending {
            Some(ending) => assert!(said.ends_with(&ending), "{said}"),
            None => assert!(!said.contains("did you mean"), "{said}"),
        }
    }
}

#[test]
fn what_is_meant_by_a_slip_and_written_too_has_mistakes_of_its_own() {
    for text in [
        "[limiter]\nmax = 0\nmaxx = 30",
        "[limiter]\nlaw = \"magic\"\nlaww = \"aimd\"",
    ] {
        assert_eq!(told(text, Format::Toml).len(), 2, "{text}");
    }
}

#[test]
fn a_file_that_is_another_one_altogether_does_not_fill_the_log() {
    let text: String = (0..1_000)
        .map(|index| format!("other{index} = 1\n"))
        .collect();
    assert_eq!(told(&text, Format::Toml).len(), 20);
}

#[test]
fn in_json_every_mistake_has_its_line_too() {
    let text = "{\n \"limiter\": {\n  \"max\": 0,\n  \"windows\": {\n   \"longest\": \"0s\" },\n  \"partitions\": {\n   \
                \"api.v1\": {\n    \"guarantee\": 901 } } },\n \"dependency\":\n  7\n}";
    let each = told(text, Format::Json);
    let begins = [
        "limiter.max (line 3): got 0, allowed 1 to 2147483647",
        "limiter.windows.longest (line 5): got 0s, allowed 1ns to ",
        "limiter.partitions.api.v1.guarantee (line 8): got 901, allowed 0 to 900",
        "dependency (line 10): invalid type: integer `7`",
    ];
    assert_eq!(each.len(), begins.len(), "{each:#?}");
    for (mistake, begins) in each.iter().zip(begins) {
        assert!(mistake.starts_with(begins), "{mistake}");
    }
}

#[test]
fn a_key_that_is_written_twice_is_named_in_both_formats() {
    for text in [
        "[limiter]\nmax = 1\nmax = 2",
        "[limiter]\nmin = 1\n[limiter]\nmax = 2",
    ] {
        let key = if text.contains("min") {
            "limiter"
        } else {
            "max"
        };
        let said = format!("line 3: duplicate key `{key}`");
        assert_eq!(told(text, Format::Toml), [said]);
    }
    let twice = "limiter.max = 1\nlimiter.max = 2\nlimiter.min = 1\nlimiter.min = 2";
    let each = told(twice, Format::Toml);
    assert_eq!(
        each,
        ["line 2: duplicate key `max`", "line 4: duplicate key `min`"]
    );

    let text = "{ \"limiter\": {\n\"max\": 1,\n\"max\": 2,\n\"knee\": {}, \"knee\": {} },\n\"limiter\": {} }";
    assert_eq!(
        told(text, Format::Json),
        [
            "limiter.max (line 3): is written twice",
            "limiter.knee (line 4): is written twice",
            "limiter (line 5): is written twice",
        ]
    );
}

#[test]
fn text_that_cannot_be_read_is_told_by_its_line() {
    for (text, format, line) in [
        ("[limiter]\nmax = = 3", Format::Toml, 2),
        ("[limiter]\nmax = 1\n[limiter.queue", Format::Toml, 3),
        ("{\n\"limiter\": {\n\"max\": 3", Format::Json, 3),
        ("{}\n{}", Format::Json, 2),
    ] {
        let each = told(text, format);
        let begins = format!("line {line}: ");
        assert!(each[0].starts_with(&begins), "{each:#?}");
    }
    // Lists are no sections, whatever is in them.
    for text in [
        "[{}, {}]",
        "{\"limiter\": {\"windows\": [\"1ms\", \"2s\"]}}",
    ] {
        let each = told(text, Format::Json);
        assert!(each[0].ends_with("expected a section"), "{each:#?}");
    }
    let each = told("[limiter]\nwindows = [\"1ms\", \"2s\"]", Format::Toml);
    assert!(
        each[0].starts_with("limiter.windows (line 2): "),
        "{each:#?}"
    );
}

#[test]
fn whatever_is_nested_how_deep_and_however_large_a_number_is_nothing_panics() {
    for depth in [100, 200, 100_000] {
        let arrays = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", "{\"limiter\":".repeat(depth), "}".repeat(depth));
        for text in [arrays, objects] {
            assert!(Settings::parse(&text, Format::Json).is_err());
            assert!(Settings::parse(&format!("limiter = {text}"), Format::Toml).is_err());
        }
    }
    for number in [
        "9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "nan",
        "0x1_0000_0000",
        "1979-05-27",
    ] {
        let error = Settings::parse(&format!("limiter.max = {number}"), Format::Toml).unwrap_err();
        assert_eq!(error.path(), "limiter.max", "{error}");
    }
}

#[test]
fn long_times_are_told_in_days() {
    let each = told("dependency.total = \"2000days\"", Format::Toml);
    assert_eq!(
        each,
        ["dependency.total (line 1): got 2000days, allowed 1ms to 366days"]
    );
    let each = told("limiter.windows.longest = \"300years\"", Format::Toml);
    assert!(each[0].ends_with("allowed 1ns to 53375days"), "{each:?}");
    let each = told(
        "limiter.queue.longest_wait = \"99999999999999999999s\"",
        Format::Toml,
    );
    assert!(each[0].ends_with("is too long a time"), "{each:?}");
}
