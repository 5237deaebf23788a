//! `--rename OWN=NAME`, which gives tools of a plugin other names.

use std::collections::HashMap;

use crate::error::CliError;

/// Reads which tools get which names.
pub(super) fn renamed(given: &[String]) -> Result<HashMap<String, String>, CliError> {
    let pairs = given.iter().map(|pair| {
        let (own, name) = pair
            .split_once('=')
            .ok_or_else(|| CliError::invalid(format!("`--rename {pair}`: expected OWN=NAME")))?;
        Ok((own.to_owned(), name.to_owned()))
    });
    let names: HashMap<_, _> = pairs.collect::<Result<_, CliError>>()?;
    match names.len() == given.len() {
        true => Ok(names),
        false => Err(CliError::invalid("`--rename` gives a tool two names")),
    }
}
