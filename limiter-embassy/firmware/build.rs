//! One board for each target: its memory for the linker, its name for the sources.

use std::{env, fs, path::PathBuf};

const BOARDS: [(&str, &str, &str); 3] = [
    (
        "thumbv6m-none-eabi",
        "microbit",
        "FLASH : ORIGIN = 0x00000000, LENGTH = 256K\nRAM : ORIGIN = 0x20000000, LENGTH = 16K",
    ),
    (
        "thumbv7m-none-eabi",
        "lm3s6965evb",
        "FLASH : ORIGIN = 0x00000000, LENGTH = 256K\nRAM : ORIGIN = 0x20000000, LENGTH = 64K",
    ),
    (
        "thumbv7em-none-eabihf",
        "mps2-an386",
        "FLASH : ORIGIN = 0x00000000, LENGTH = 4M\nRAM : ORIGIN = 0x20000000, LENGTH = 4M",
    ),
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap_or_default();
    let Some((_, board, memory)) = BOARDS.iter().find(|(name, ..)| *name == target) else {
        let known = BOARDS.map(|(name, ..)| name).join(", ");
        panic!("no board for the target {target}; `--target` takes: {known}");
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("memory.x"), format!("MEMORY\n{{\n{memory}\n}}\n"))
        .expect("a writable folder");
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    if env::var_os("CARGO_FEATURE_DEFMT").is_some() {
        println!("cargo:rustc-link-arg-bins=-Tdefmt.x");
    }
    println!("cargo:rustc-cfg=board=\"{board}\"");
}
