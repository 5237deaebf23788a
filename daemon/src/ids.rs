//! Names that nobody can guess.

/// Returns 128 random bits as 32 hexadecimal digits.
pub(crate) fn random() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the kernel has random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
