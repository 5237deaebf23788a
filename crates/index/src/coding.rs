//! How numbers and texts stand in the files of the index, and the sums that show damage.

/// How the files of this version of moss are written.
pub(crate) const FORMAT: u32 = 4;
/// Longest number, in bytes.
const NUMBER_BYTES_MAX: usize = 10;

/// Reads what [`put_number`] and [`put_bytes`] wrote, and nothing behind its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodedBytes<'a>(pub(crate) &'a [u8]);

/// Appends a number: seven bits a byte, the lowest ones first.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a sequence of bytes, its length first.
pub(crate) fn put_bytes(bytes: &mut Vec<u8>, sequence: &[u8]) {
    put_number(bytes, sequence.len() as u64);
    bytes.extend_from_slice(sequence);
}

/// Returns a sum over bytes: other bytes have another one.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = [0; 8];
    sum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    u64::from_le_bytes(sum)
}

// === impl CodedBytes ===

impl<'a> CodedBytes<'a> {
    /// Takes a number; `None` if no number is left.
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for (at, byte) in self.0.iter().take(NUMBER_BYTES_MAX).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if at == NUMBER_BYTES_MAX - 1 && bits > 1 {
                return None;
            }
            number |= bits << (7 * at);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Some(number);
            }
        }
        None
    }

    /// Takes a number that fits.
    pub(crate) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Takes so many bytes; none where there are fewer.
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes an array; none where there are fewer bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Takes a sequence with its length.
    pub(crate) fn sequence(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests;
