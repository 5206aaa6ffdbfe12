//! What a linked binary says: how much flash and RAM it takes, and which symbols are in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use object::elf::{SHF_ALLOC, SHF_WRITE};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind};

/// A linked binary.
#[derive(Debug)]
pub(crate) struct Image {
    /// Bytes that are stored: code, constants, and what initialised statics start with.
    pub(crate) flash: u64,
    /// Bytes of statics. The library's are whole: the binary hides from the linker that it could split them.
    pub(crate) ram: u64,
    symbols: BTreeSet<String>,
}

impl Image {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let shown = || path.display().to_string();
        let bytes = fs::read(path).with_context(shown)?;
        let file = object::File::parse(&*bytes).with_context(shown)?;
        let (mut flash, mut ram) = (0, 0);
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else {
                continue;
            };
            if sh_flags & u64::from(SHF_ALLOC) == 0 {
                continue;
            }
            if section.kind() != SectionKind::UninitializedData {
                flash += section.size();
            }
            if sh_flags & u64::from(SHF_WRITE) != 0 {
                ram += section.size();
            }
        }
        let symbols = file.symbols().filter_map(|symbol| symbol.name().ok());
        Ok(Self {
            flash,
            ram,
            symbols: symbols.map(str::to_owned).collect(),
        })
    }
}

/// Something that must not be in a binary, told by its symbols.
pub(crate) struct Kind {
    pub(crate) what: &'static str,
    starts: &'static [&'static str],
    has: &'static [&'static str],
}

/// Mangled names have the length of each part before it. The names of the compiler's routines are those of
/// Arm's run-time ABI.
pub(crate) const KINDS: [Kind; 5] = [
    Kind {
        what: "single floats",
        starts: &["__aeabi_f"],
        has: &[],
    },
    Kind {
        what: "double floats",
        starts: &["__aeabi_d"],
        has: &[],
    },
    Kind {
        what: "divisions of 64 bits",
        starts: &["__aeabi_uldivmod", "__aeabi_ldivmod"],
        has: &[],
    },
    Kind {
        what: "formatted text",
        starts: &[],
        has: &["4core3fmt"],
    },
    Kind {
        what: "panics",
        starts: &[],
        has: &["4core9panicking"],
    },
];

impl Kind {
    pub(crate) fn contains(&self, symbol: &str) -> bool {
        self.starts.iter().any(|start| symbol.starts_with(start))
            || self.has.iter().any(|part| symbol.contains(part))
    }
}

/// Symbols that a binary must not have and that the base does not have either.
pub(crate) fn forbidden(image: &Image, base: &Image) -> Vec<String> {
    let brought = image.symbols.difference(&base.symbols);
    brought
        .filter(|symbol| KINDS.iter().any(|kind| kind.contains(symbol)))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(symbols: &[&str]) -> Image {
        Image {
            flash: 0,
            ram: 0,
            symbols: symbols.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn what_the_base_has_too_is_not_the_librarys() {
        let base = image(&["_ZN4core9panicking9panic_fmt17h0E", "main"]);
        let whole = image(&[
            "_ZN4core9panicking9panic_fmt17h0E",
            "main",
            "__aeabi_uidiv",
            "__aeabi_lmul",
        ]);
        assert_eq!(forbidden(&whole, &base), [""; 0]);
    }

    #[test]
    fn floats_divisions_of_64_bits_formatting_and_panics_are_found_in_both_manglings() {
        for symbol in [
            "__aeabi_fadd",
            "__aeabi_dmul",
            "__aeabi_uldivmod",
            "_ZN4core3fmt5write17h0E",
            "_RNvNtCs0_4core9panicking9panic_fmt",
        ] {
            assert_eq!(forbidden(&image(&[symbol]), &image(&[])), [symbol]);
        }
    }
}
