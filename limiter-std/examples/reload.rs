//! A dependency whose limits, law and budget are read again from their file while it is in use.
//!
//! ```text
//! cargo run -p limiter-std --features config --example reload
//! ```
//!
//! A service would do so at a signal, or when another file was renamed to it: one that is being written is half there.

use limiter_std::Dependency;
use limiter_std::file::{Format, Settings};
use limiter_std::law::AnyLaw;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = include_str!("service.toml");
    let mut settings = Settings::parse(text, Format::Toml)?;
    let store = settings.dependency()?;
    show(&store);

    let larger = text
        .replace("max = 200", "max = 500")
        .replace("min = 2", "min = 20")
        .replace("target = 120", "target = 200");
    settings.reload_dependency(&larger, Format::Toml, &store)?;
    show(&store);

    for wrong in ["ratio = 2000", "ratios = 100", "ratio = \"many\""] {
        let wrong = larger.replace("ratio = 100", wrong);
        match settings.reload_dependency(&wrong, Format::Toml, &store) {
            Ok(()) => println!("went by it"),
            Err(error) => println!("kept what it had: {error}"),
        }
    }
    show(&store);
    Ok(())
}

#[test]
fn the_example_ends_well() {
    main().expect("its file fits");
}

fn show(store: &Dependency<AnyLaw>) {
    let seen = store.snapshot().limiter;
    println!("limit {} within {} to {}", seen.limit, seen.min, seen.max);
}
