//! The bytes of a saved dependency.

/// Magic and version, flags and counts, sequence, limit, balance, open time, checksum.
pub(crate) const SIZE: usize = 24;

/// First byte of every record; neither of the bytes of blank memory.
pub(crate) const MAGIC: u8 = 0x6c;

/// Second byte. Grows with the layout.
pub(crate) const VERSION: u8 = 1;

/// CRC-32 (IEEE 802.3, reflected), bit by bit: a table would cost more flash than it saves time.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            let mask = (crc & 1).wrapping_neg();
            crc = crc >> 1 ^ 0xedb8_8320 & mask;
        }
    }
    !crc
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
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn sequence_numbers_compare_over_their_wrap() {
        assert!(is_after(1, 0) && is_after(0, u32::MAX) && is_after(5, u32::MAX - 5));
        assert!(!is_after(0, 1) && !is_after(7, 7));
    }
}
