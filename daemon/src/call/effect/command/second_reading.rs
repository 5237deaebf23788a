//! What bash itself reads in a text, compared with what moss read in it.
//!
//! The reader of `moss_commands` may have a defect that nobody knows: then a part that it did not see would run with
//! what the others are allowed. So a text that is not plain runs unasked only where bash, which writes it down without
//! running it, has the same commands in it.

use moss_commands::{as_function, is_like, is_plain, nested_texts};
use moss_sandbox::{NotPrinted, Sandbox};

/// Most texts for other shells in one text that bash is asked about.
const NESTED_MAX: usize = 8;

/// Whether bash may read a text otherwise than moss, or one in it that is for another shell. About a plain one nobody
/// asks it.
pub(crate) async fn is_read_otherwise(sandbox: &Sandbox, command: &str) -> bool {
    if is_plain(command) {
        return false;
    }
    let mut nested = nested_texts(command);
    nested.retain(|text| !is_plain(text));
    if nested.len() > NESTED_MAX {
        return true;
    }
    for text in nested.iter().map(String::as_str).chain([command]) {
        match sandbox.printed(&as_function(text)).await {
            Ok(printed) if is_like(text, &printed) => {}
            Ok(_) | Err(NotPrinted::Refused) => return true,
            Err(NotPrinted::Unknown(why)) => {
                tracing::warn!(%why, "bash could not be asked how it reads a command, which asks for that");
                return true;
            }
        }
    }
    false
}
