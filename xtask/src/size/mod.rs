//! What the library costs in flash and RAM, and what must not be in a binary that uses all of it.

mod elf;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use crate::firmware::build::{Compiler, M0, M3, SINGLE_CORE, STRICT};
use crate::project::Project;
use elf::Image;

/// A set of features of the binary `size`, and what it should cost on a Cortex-M0 with one core.
struct Config {
    name: &'static str,
    feature: &'static str,
    flash: u64,
    ram: u64,
}

const CONFIGS: [Config; 4] = [
    Config {
        name: "limiter-aimd",
        feature: "size-limiter",
        flash: 1_792,
        ram: 96,
    },
    Config {
        name: "limiter-default",
        feature: "size-knee",
        flash: 3_840,
        ram: 176,
    },
    Config {
        name: "dependency",
        feature: "size-dependency",
        flash: 4_096,
        ram: 224,
    },
    Config {
        name: "dependency-histogram",
        feature: "size-histogram",
        flash: 4_864,
        ram: 416,
    },
];

/// A target and a back end for its atomics; `factor` is what the back end may cost, in per cent.
struct Platform {
    target: &'static str,
    suffix: &'static str,
    flags: &'static str,
    feature: &'static str,
    factor: Option<u64>,
}

const PLATFORMS: [Platform; 3] = [
    Platform {
        target: M0,
        suffix: "",
        flags: SINGLE_CORE,
        feature: "",
        factor: Some(100),
    },
    Platform {
        target: M0,
        suffix: "-critical-section",
        flags: STRICT,
        feature: "critical-section",
        factor: Some(135),
    },
    Platform {
        target: M3,
        suffix: "",
        flags: STRICT,
        feature: "",
        factor: None,
    },
];

/// One line of the table.
#[derive(Debug)]
struct Row {
    target: &'static str,
    config: String,
    flash: u64,
    ram: u64,
    /// What flash and RAM should be.
    wanted: Option<(u64, u64)>,
}

/// Prints the table, and fails when a symbol is in a binary that must not be.
///
/// # Errors
///
/// A build that fails, a forbidden symbol, or a gate that does not find those put in on purpose.
pub(crate) fn run(project: &Project) -> Result<()> {
    measure(project)?.1
}

/// Prints the table and writes it to a file.
///
/// # Errors
///
/// As [`run`], or a file that cannot be written.
pub(crate) fn write(project: &Project, path: &Path) -> Result<()> {
    let (rows, gate) = measure(project)?;
    let rows: Vec<_> = rows.iter().map(Row::json).collect();
    let text = serde_json::to_string_pretty(&rows)?;
    fs::write(path, text + "\n").with_context(|| path.display().to_string())?;
    gate
}

/// The table, printed, and what the gate on symbols says.
fn measure(project: &Project) -> Result<(Vec<Row>, Result<()>)> {
    let compiler = Compiler::find()?;
    let (mut rows, mut found) = (Vec::new(), Vec::new());
    for platform in &PLATFORMS {
        let image = |feature: &str| {
            let features = [feature, platform.feature].join(" ");
            let args = ["--bin", "size", "--features", &features];
            let folder = compiler.build(project, platform.flags, platform.target, &args)?;
            Image::read(&folder.join("size"))
        };
        let base = image("")?;
        for config in &CONFIGS {
            let whole = image(config.feature)?;
            let bad = elf::forbidden(&whole, &base);
            if !bad.is_empty() {
                let bad = bad.join(", ");
                found.push(format!("{} on {}: {bad}", config.name, platform.target));
            }
            rows.push(Row {
                target: platform.target,
                config: format!("{}{}", config.name, platform.suffix),
                flash: whole.flash.saturating_sub(base.flash),
                ram: whole.ram.saturating_sub(base.ram),
                wanted: platform
                    .factor
                    .map(|factor| (config.flash * factor / 100, config.ram)),
            });
        }
        bites(&image("size-seeded")?, &base, platform.target)?;
    }
    print(&rows);
    let gate = if found.is_empty() {
        Ok(())
    } else {
        Err(anyhow!(
            "symbols that must not be there\n{}",
            found.join("\n")
        ))
    };
    Ok((rows, gate))
}

/// Checks that the gate finds each kind of symbol that was put in on purpose.
fn bites(seeded: &Image, base: &Image, target: &str) -> Result<()> {
    let found = elf::forbidden(seeded, base);
    let missed: Vec<_> = elf::KINDS
        .iter()
        .filter(|kind| !found.iter().any(|name| kind.contains(name)))
        .map(|kind| kind.what)
        .collect();
    if !missed.is_empty() {
        bail!(
            "the gate on symbols does not find, on {target}: {}",
            missed.join(", ")
        );
    }
    Ok(())
}

fn print(rows: &[Row]) {
    println!(
        "\n{:<24} {:<36} {:>6} {:>7} {:>5} {:>7}",
        "target", "config", "flash", "wanted", "RAM", "wanted"
    );
    for row in rows {
        let (flash, ram) = match row.wanted {
            Some((flash, ram)) => (flash.to_string(), ram.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        println!(
            "{:<24} {:<36} {:>6} {:>7} {:>5} {:>7}{}",
            row.target,
            row.config,
            row.flash,
            flash,
            row.ram,
            ram,
            if row.misses() { "  above" } else { "" }
        );
    }
}

impl Row {
    fn misses(&self) -> bool {
        self.wanted
            .is_some_and(|(flash, ram)| self.flash > flash || self.ram > ram)
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "target": self.target,
            "config": self.config,
            "flash_bytes": self.flash,
            "ram_bytes": self.ram,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_four_fields_that_others_read() {
        let row = Row {
            target: M0,
            config: "limiter-aimd".to_owned(),
            flash: 17,
            ram: 4,
            wanted: Some((16, 4)),
        };
        assert!(row.misses());
        assert_eq!(
            row.json().to_string(),
            r#"{"config":"limiter-aimd","flash_bytes":17,"ram_bytes":4,"target":"thumbv6m-none-eabi"}"#
        );
    }

    #[test]
    fn every_feature_measured_is_one_of_the_firmware() {
        let manifest = Project::here().root.join(crate::firmware::build::MANIFEST);
        let manifest: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let features = manifest["features"].as_table().unwrap();
        for config in &CONFIGS {
            assert!(features.contains_key(config.feature), "{}", config.feature);
        }
        assert!(features.contains_key("size-seeded"));
    }
}
