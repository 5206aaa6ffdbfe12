//! What goes over the wire, between the node and its server: sixteen bytes with a checksum.
//!
//! ```text
//! 0x7e | kind | attempt | 0 | reading, 4 bytes | stamp in ms, 4 bytes | checksum, 4 bytes
//! ```
//!
//! Little-endian. Bytes that are sent while nobody listens vanish without a sign, in the middle of a frame
//! too, so the reader looks for the next frame whose checksum fits.

/// Bytes of a frame.
pub const SIZE: usize = 16;
const START: u8 = 0x7e;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// One of the kinds below.
    pub kind: u8,
    /// Which attempt of its reading it is, from 1.
    pub attempt: u8,
    /// The number of the reading.
    pub reading: u32,
    /// When it was sent, on the node's clock, in milliseconds.
    pub stamp: u32,
}

/// A reading, from the node.
pub const READING: u8 = b'R';
/// It was taken.
pub const TAKEN: u8 = b'T';
/// It was refused: the server is full.
pub const REFUSED: u8 = b'F';
/// The server needs no more.
pub const ENOUGH: u8 = b'E';

impl Frame {
    /// The bytes to send.
    pub fn to_bytes(self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..4].copy_from_slice(&[START, self.kind, self.attempt, 0]);
        bytes[4..8].copy_from_slice(&self.reading.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.stamp.to_le_bytes());
        let sum = checksum(&bytes[..12]);
        bytes[12..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// What the bytes say, if they are a frame.
    pub fn from_bytes(bytes: &[u8; SIZE]) -> Option<Self> {
        let word = |at: usize| {
            let four = bytes[at..].first_chunk::<4>();
            four.map(|four| u32::from_le_bytes(*four)).unwrap_or(0)
        };
        let fits = bytes[0] == START && word(12) == checksum(&bytes[..12]);
        fits.then(|| Self {
            kind: bytes[1],
            attempt: bytes[2],
            reading: word(4),
            stamp: word(8),
        })
    }
}

/// FNV-1a, 32 bits.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Finds frames in a stream of bytes.
#[derive(Debug, Default)]
pub struct Reader {
    bytes: [u8; SIZE],
    /// How many bytes were given up because they belonged to no frame.
    pub lost: u32,
    filled: usize,
}

impl Reader {
    /// Takes the next byte; the frame that it completes.
    pub fn push(&mut self, byte: u8) -> Option<Frame> {
        if self.filled == SIZE {
            self.bytes.rotate_left(1);
            self.filled -= 1;
            self.lost += 1;
        }
        self.bytes[self.filled] = byte;
        self.filled += 1;
        if self.filled < SIZE {
            return None;
        }
        let frame = Frame::from_bytes(&self.bytes)?;
        self.filled = 0;
        Some(frame)
    }
}
