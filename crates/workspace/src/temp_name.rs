//! Names of files that lie beside others for a moment.

use crate::error::Error;

/// Makes a name for a file that lies beside another for a moment.
pub(crate) fn temp_name() -> Result<String, Error> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| {
        Error::std_io(&"a temporary file", "name", std::io::Error::other(error.to_string()))
    })?;
    Ok(format!(".moss-{:032x}.tmp", u128::from_le_bytes(random)))
}
