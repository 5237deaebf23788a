//! How the programs that moss is measured against may end: one that fails at once is not fast.

use std::process::ExitStatus;

use anyhow::{Result, bail};

/// Fails where a program ended by a signal or with another code than these.
///
/// # Errors
///
/// Then there are no figures.
pub fn check_rival_end(program: &str, status: ExitStatus, codes: &[i32]) -> Result<()> {
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("{program} failed ({status}): there are no figures");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_rival_that_fails_has_no_figures() {
        let ended = |script: &str| Command::new("sh").args(["-c", script]).status().unwrap();
        for (script, codes, is_fine) in [
            ("exit 0", &[0][..], true),
            ("exit 1", &[0], false),
            ("exit 1", &[0, 1], true),
            ("exit 2", &[0, 1], false),
            ("kill -9 $$", &[0, 1], false),
        ] {
            let checked = check_rival_end("fd 8.6.0", ended(script), codes);
            assert_eq!(checked.is_ok(), is_fine, "{script}");
        }
    }
}
