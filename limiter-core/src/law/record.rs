//! The bytes of a saved dependency.

/// Magic and version, flags and counts, sequence, limit, balance, open time, checksum.
pub(crate) const SIZE: usize = 4 * WORDS;
/// The same in words, little-endian.
pub(crate) const WORDS: usize = 6;

/// First byte of every record; neither of the bytes of blank memory.
pub(crate) const MAGIC: u8 = 0x6c;

/// Second byte. Grows with the layout.
pub(crate) const VERSION: u8 = 1;

/// CRC-32 (IEEE 802.3, reflected), bit by bit: a table would cost more flash than it saves time.
/// A word stands for its four bytes, the lowest first.
#[cfg_attr(not(target_pointer_width = "64"), inline(never))]
pub(crate) fn checksum(words: &[u32; WORDS - 1]) -> u32 {
    !words.iter().fold(u32::MAX, |crc, word| add(crc, *word, 32))
}

const fn add(crc: u32, what: u32, bits: u32) -> u32 {
    let (mut crc, mut left) = (crc ^ what, bits);
    while left > 0 {
        let mask = (crc & 1).wrapping_neg();
        crc = crc >> 1 ^ 0xedb8_8320 & mask;
        left -= 1;
    }
    crc
}

/// Whether sequence number `a` comes after `b`, however often they wrapped.
pub(crate) const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        let bytes = b"123456789".iter();
        let check = bytes.fold(u32::MAX, |crc, byte| add(crc, u32::from(*byte), 8));
        assert_eq!(!check, 0xcbf4_3926);
    }

    #[test]
    fn the_checksum_of_words_is_that_of_their_bytes() {
        let words = [1, 0x1234_5678, u32::MAX, 0, 0x8000_0001];
        let bytes = words.iter().flat_map(|word: &u32| word.to_le_bytes());
        let sum = bytes.fold(u32::MAX, |crc, byte| add(crc, u32::from(byte), 8));
        assert_eq!(checksum(&words), !sum);
    }

    #[test]
    fn sequence_numbers_compare_over_their_wrap() {
        assert!(is_after(1, 0) && is_after(0, u32::MAX) && is_after(5, u32::MAX - 5));
        assert!(!is_after(0, 1) && !is_after(7, 7));
    }
}
