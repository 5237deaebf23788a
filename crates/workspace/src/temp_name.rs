//! Names of files that lie beside others for a moment.

use crate::error::Error;

const START: &str = ".moss-";
const END: &str = ".tmp";
/// How many hexadecimal digits stand between both.
const DIGITS: usize = 32;

/// Whether a name has the form of those that are made here.
pub(crate) fn is_temp_name(name: &str) -> bool {
    let random = name.strip_prefix(START).and_then(|rest| rest.strip_suffix(END));
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    random.is_some_and(|random| random.len() == DIGITS && random.bytes().all(is_digit))
}

/// Makes a name for a file that lies beside another for a moment.
pub(crate) fn temp_name() -> Result<String, Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| {
        Error::std_io(&"a temporary file", "name", std::io::Error::other(error.to_string()))
    })?;
    Ok(format!("{START}{:032x}{END}", u128::from_le_bytes(random)))
}
