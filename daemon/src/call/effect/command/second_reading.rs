//! What bash itself reads in a text, compared with what moss read in it.
//!
//! The reader of `moss_commands` may have a defect that nobody knows: then a part that it did not see would run with
//! what the others are allowed. So a text that is not plain runs unasked only where bash, which writes it down without
//! running it, has the same commands in it.

use moss_sandbox::Sandbox;

/// Whether bash may read a text otherwise than moss. About a plain one nobody asks it.
pub(crate) async fn is_read_otherwise(sandbox: &Sandbox, command: &str) -> bool {
    if moss_commands::is_plain(command) {
        return false;
    }
    let printed = sandbox.printed(command).await;
    !printed.is_some_and(|printed| moss_commands::reads_alike(command, &printed))
}
