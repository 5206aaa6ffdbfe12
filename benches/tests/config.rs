//! Files of users: what is right is read, what is wrong is named with its line.

use benches::lab::config::{EXAMPLE, read};
use benches::lab::random::Shape;

#[test]
fn the_example_says_what_is_the_default_anyway() {
    let configured = read(EXAMPLE).expect("the example is right");
    let model = configured.model;
    assert_eq!(model.name, "orders");
    assert_eq!(model.phases.len(), 2);
    assert_eq!((model.phases[0].slots, model.phases[1].slots), (16, 4));
    assert_eq!(model.phases[1].rate, 2_400.0, "kept from the phase before");
    assert_eq!(model.phases[1].shape, Shape::LogNormal { sigma: 0.5 });
    assert_eq!(
        configured.law.map(|law| law.name),
        Some(String::from("yours"))
    );
}

#[test]
fn every_line_of_the_example_that_is_a_comment_may_be_used() {
    let text: String = EXAMPLE
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let model = read(&text).expect("comments are right, too").model;
    assert_eq!(model.cancel_ms, Some(250.0));
    assert_eq!(model.phases[0].pauses_ms, Some((5_000.0, 300.0)));
    assert_eq!(model.phases[1].slots_end, Some(16));
    assert!(model.phases[1].silent && !model.phases[1].step);
}

#[test]
fn a_phase_goes_on_from_where_the_one_before_moved_to() {
    let text = "[[phase]]\nslots = 4\nslots-end = 9\n[[phase]]\nseconds = 5\n";
    let model = read(text).expect("right").model;
    assert_eq!(
        (model.phases[1].slots, model.phases[1].slots_end),
        (9, None)
    );
}

#[test]
fn an_empty_file_is_the_steady_model() {
    let configured = read("").expect("right");
    assert_eq!(configured.model.phases[0].slots, 16);
    assert!(configured.law.is_none());
}

#[test]
fn every_error_has_the_line_and_the_field() {
    let cases = [
        ("[server]\nname = \"a\"\nslotz = 3\n", "line 3: ", "slotz"),
        (
            "[[phase]]\nslots = 0\n",
            "line 2: ",
            "slots: 0: allowed is 1 to 1000000",
        ),
        (
            "[[phase]]\nslots = \"many\"\n",
            "line 2: ",
            "slots: invalid type",
        ),
        (
            "[[phase]]\n\nservice-ms = -1\n",
            "line 3: ",
            "service-ms: -1: allowed",
        ),
        ("[[phase]]\nrate = nan\n", "line 2: ", "rate: NaN: allowed"),
        (
            "[[phase]]\nshape = \"odd\"\n",
            "line 2: ",
            "shape: unknown variant `odd`",
        ),
        (
            "[[phase]]\nshape = { log-normal = { sigma = 9 } }\n",
            "line 2: ",
            "shape: allowed is a sigma of 0 to 4",
        ),
        (
            "[[phase]]\n[[phase]]\nseconds = 1e8\nrate = 1e8\n",
            "line 2: ",
            "rate: ",
        ),
        (
            "[limiter]\ninitial = 5\nmax = 4\n",
            "line 2: ",
            "initial = 5: allowed are 1 (min) to 4 (max)",
        ),
        (
            "[limiter]\nmin = 0\n",
            "line 2: ",
            "min = 0: allowed are 1 to 1000 (max)",
        ),
        (
            "[limiter]\nmax = 10\n",
            "line 1: ",
            "initial = 20: allowed are 1 (min) to 10 (max)",
        ),
        (
            "[limiter]\nlongest-window-ms = 0\n",
            "line 2: ",
            "longest-window-ms: ",
        ),
        (
            "[limiter.law.knee]\ntarget-per-mille = 901\n",
            "line 2: ",
            "target-per-mille: 901: allowed are 10 to 900",
        ),
        ("[limiter.law.knee]\ncolour = 1\n", "line 2: ", "colour"),
        ("[limiter.law.newton]\n", "line 1: ", "newton"),
        (
            "[limiter.law.vegas]\nalpha = 1\nbeta = 1001\n",
            "line 3: ",
            "beta: 1001: allowed are 1 to 1000",
        ),
        (
            "[limiter.law.vegas]\nalpha = 9\n",
            "line 2: ",
            "alpha: 9: allowed are 1 to 6",
        ),
        ("[limiter\n", "line 1: ", "unclosed table"),
    ];
    for (text, line, field) in cases {
        let error = read(text).expect_err(text).to_string();
        assert!(error.starts_with(line), "{text:?} gives {error}");
        assert!(error.contains(field), "{text:?} gives {error}");
    }
}
