//! Names that nobody can guess.

/// Returns 128 random bits as 32 hexadecimal digits.
pub(crate) fn random() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the kernel has random bytes");
    format!("{:032x}", u128::from_ne_bytes(bytes))
}
