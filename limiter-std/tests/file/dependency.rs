//! A file of a dependency, which has not all that a server's limiter has.

use limiter_std::file::{Format, Settings};

const PARTITIONS: &str = "the limiter of a dependency has no partitions; leave it out";
const WATCHES: &str =
    "a dependency cannot only watch: its breaker and its budget would go on refusing; leave it out";

#[test]
fn what_only_a_server_has_is_told_where_the_file_is_read_when_it_has_a_section_of_a_dependency() {
    let or = ", or the section dependency (line 3) where this is for a server";
    for (text, said) in [
        (
            "[limiter.partitions.reads]\n\n[dependency]\nattempts = 2",
            format!("limiter.partitions (line 1): {PARTITIONS}{or}"),
        ),
        (
            "[limiter]\nwatch_only = true\n[dependency.budget]\nratio = 50",
            format!("limiter.watch_only (line 2): {WATCHES}{or}"),
        ),
    ] {
        let error = Settings::parse(text, Format::Toml).unwrap_err();
        assert_eq!(error.to_string(), said);
    }
}

#[test]
fn where_the_file_does_not_say_whose_it_is_it_is_told_when_a_dependency_is_made_or_reloaded() {
    for (text, path, why) in [
        (
            "[limiter.partitions.reads]",
            "limiter.partitions",
            PARTITIONS,
        ),
        ("limiter.watch_only = true", "limiter.watch_only", WATCHES),
    ] {
        let settings = Settings::parse(text, Format::Toml).unwrap();
        assert!(settings.limiter().is_ok(), "a server's");
        let error = settings.dependency().unwrap_err();
        assert_eq!(error.to_string(), format!("{path}: {why}"));

        let mut settings = Settings::default();
        let store = settings.dependency().unwrap();
        let error = settings.reload_dependency(text, Format::Toml, &store);
        let said = format!("{path} (line 1): {why}");
        assert_eq!(error.unwrap_err().to_string(), said);
        assert_eq!(settings, Settings::default());
    }
}

#[test]
fn settings_that_came_from_no_file_are_told_by_the_names_of_a_file_too() {
    use limiter_std::file::{Law, VegasTerms};
    let mut settings = Settings::default();
    settings.limiter.law = Law::Vegas;
    settings.limiter.vegas = Some(VegasTerms {
        alpha: Some(7),
        ..VegasTerms::default()
    });
    let said = "limiter.vegas.alpha: got 7, allowed 1 to 6: limiter.vegas.beta is below it, 6";
    assert_eq!(settings.limiter().unwrap_err().to_string(), said);
    assert_eq!(settings.dependency().unwrap_err().to_string(), said);
    assert_eq!(settings.limiter_config().unwrap_err().to_string(), said);

    let mut settings = Settings::default();
    settings.dependency.backoff.base = settings.dependency.backoff.cap * 2;
    let said = "dependency.backoff.base: got 8s, allowed 1ns to 4s: dependency.backoff.cap is below it, 4s";
    assert_eq!(settings.dependency().unwrap_err().to_string(), said);
}
