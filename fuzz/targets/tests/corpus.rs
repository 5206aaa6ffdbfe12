//! Every corpus, and whatever once was found, on any compiler.

use fuzz_targets::ALL;
use std::fs;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn names(folder: &Path, ending: &str) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            Some(name.strip_suffix(ending)?.to_owned())
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_file_of_every_corpus_passes_its_target() {
    for (name, target) in ALL {
        let folder = fuzz().join("corpus").join(name);
        let files = names(&folder, "");
        assert!(!files.is_empty(), "{name} has no corpus");
        for file in files {
            println!("{name}/{file}");
            target(&fs::read(folder.join(file)).unwrap());
        }
    }
}

#[test]
fn nothing_and_every_short_row_of_one_byte_passes_every_target() {
    for (name, target) in ALL {
        println!("{name}");
        target(&[]);
        for byte in 0..=u8::MAX {
            target(&[byte; 7]);
            target(&[byte; 60]);
        }
    }
}

#[test]
fn every_target_has_a_program_and_a_corpus_and_there_are_no_others() {
    let mut targets: Vec<_> = ALL.iter().map(|(name, _)| (*name).to_owned()).collect();
    if cfg!(not(feature = "lab")) {
        targets.push("lab".to_owned());
    }
    targets.sort();
    assert_eq!(names(&fuzz().join("fuzz_targets"), ".rs"), targets);
    assert_eq!(names(&fuzz().join("corpus"), ""), targets);
}
