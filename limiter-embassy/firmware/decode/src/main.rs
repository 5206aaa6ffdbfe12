//! `decode ELF FRAMES`: what the frames of defmt say, one line each, with its level.

use std::env;
use std::fs;

use anyhow::{Context, Result, bail};
use defmt_decoder::{DecodeError, Table};

fn main() -> Result<()> {
    let [elf, frames] = env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .ok()
        .context("usage: decode ELF FRAMES")?;
    let elf = fs::read(&elf).context(elf)?;
    let frames = fs::read(&frames).context(frames)?;
    let table = Table::parse(&elf)?.context("no table of defmt in the binary")?;
    let mut decoder = table.new_stream_decoder();
    decoder.received(&frames);
    loop {
        match decoder.decode() {
            Ok(frame) => {
                let level = frame.level().map_or("", |level| level.as_str());
                println!("{level} {}", frame.display_message());
            }
            Err(DecodeError::UnexpectedEof) => return Ok(()),
            Err(DecodeError::Malformed) => bail!("a malformed frame"),
        }
    }
}
