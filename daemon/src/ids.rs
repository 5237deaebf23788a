//! Names and secrets that nobody can guess.

use std::cell::RefCell;

/// How many random bytes are taken from the kernel at once for names.
const POOL_BYTES: usize = 1024;
/// How many a name takes.
const NAME_BYTES: usize = 16;

thread_local! {
    /// Each name alone would take a system call, which is much of what a short call takes.
    static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; POOL_BYTES], left: 0 }) };
}

/// Random bytes for names, used from the end and forgotten as they are.
struct Pool {
    bytes: [u8; POOL_BYTES],
    left: usize,
}

/// Returns 128 random bits as 32 hexadecimal digits: a name.
pub fn random() -> String {
    hexadecimal(POOL.with_borrow_mut(Pool::take))
}

/// Returns 256 random bits as 64 hexadecimal digits, which nothing else in memory ever held.
pub fn secret() -> String {
    let half = || {
        let mut bytes = [0; NAME_BYTES];
        fill(&mut bytes);
        hexadecimal(bytes)
    };
    half() + &half()
}

fn hexadecimal(bytes: [u8; NAME_BYTES]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    // Formatting a number of 128 bits takes several times as long.
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 0xf)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the kernel has random bytes");
}

// === impl Pool ===

impl Pool {
    fn take(&mut self) -> [u8; NAME_BYTES] {
        if self.left == 0 {
            fill(&mut self.bytes);
            self.left = POOL_BYTES;
        }
        self.left -= NAME_BYTES;
        let mut name = [0; NAME_BYTES];
        name.swap_with_slice(&mut self.bytes[self.left..self.left + NAME_BYTES]);
        name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_names_are_the_same() {
        let count = 3 * POOL_BYTES / NAME_BYTES;
        let all = move || (0..count).map(|_| random()).collect::<Vec<_>>();
        let other = std::thread::spawn(all);
        let names: HashSet<_> = all().into_iter().chain(other.join().unwrap()).collect();
        assert_eq!(names.len(), 2 * count);
        assert!(names.iter().all(|name| name.len() == 2 * NAME_BYTES));
        POOL.with_borrow(|pool| assert!(pool.bytes[pool.left..].iter().all(|byte| *byte == 0)));
        assert_eq!(secret().len(), 4 * NAME_BYTES);
    }
}
