//! The step of the tour that runs a failing test, fixes the code and passes it: a package without dependencies,
//! so that it needs no network.

use std::fs;

use anyhow::{Context, Result};

use super::home::DemoHome;
use super::stage::{DemoStage, well};

/// A workspace of its own: it lies in the copy of another one.
const MANIFEST: &str =
    "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
const SOURCE: &str = "pub fn sum(numbers: &[u32]) -> u32 {
    numbers.iter().skip(1).sum()
}

#[test]
fn every_number_counts() {
    assert_eq!(sum(&[1, 2, 3]), 6);
}
";
/// What of it is wrong, and what is right.
const WRONG: &str = "numbers.iter().skip(1).sum()";
const RIGHT: &str = "numbers.iter().sum()";
/// What `moss doctor` says where commands are isolated as moss wants it by default.
const ISOLATED: &str = "tier full";
/// What lets commands run on other machines.
const POLICY: &str = "version = 1\nsandbox_min = \"none\"\n";

/// Lays the package out. Returns whether this machine isolates commands as moss wants it; on another one, the
/// policy of the tour accepts less.
pub(super) fn prepare(place: &DemoHome) -> Result<bool> {
    let package = place.work().join("sums");
    fs::create_dir_all(package.join("src")).context("cannot make the package of the tour")?;
    fs::write(package.join("Cargo.toml"), MANIFEST)?;
    fs::write(package.join("src/lib.rs"), SOURCE)?;
    fs::write(package.join(".gitignore"), "target\n")?;
    let doctor = place.command(&["moss", "doctor"])?.output().context("cannot run moss doctor")?;
    let is_isolated = String::from_utf8_lossy(&doctor.stdout).contains(ISOLATED);
    if !is_isolated {
        fs::write(place.policy(), POLICY).context("cannot write the policy of the tour")?;
    }
    Ok(is_isolated)
}

pub(super) fn fail_fix_and_pass(stage: &mut DemoStage<'_>, is_isolated: bool) -> Result<()> {
    stage.step(
        "Run a test, fix the code",
        "Tests run by the project's own framework, in a sandbox without network. The command asks like\n\
         any other; a failing test is a result that says where, what was expected and what was there.",
    )?;
    if !is_isolated {
        stage.screen.say(
            "This machine isolates commands less than moss wants; `moss doctor` says what is missing.\n\
             The policy of this tour accepts that.",
        );
    }
    // What cargo writes meanwhile comes to the standard error.
    let test = ["sh", "-c", "moss call run_tests path=sums --confirm allow 2>/dev/null"];
    let failed = ["\"status\": \"failed\"", "every_number_counts", "\"expected\": \"6\""];
    stage.run(&test, well(&failed))?;
    let [wrong, right] = [format!("oldText={WRONG}"), format!("newText={RIGHT}")];
    let path = "path=sums/src/lib.rs";
    let fix = ["moss", "call", "replace_text", path, &wrong, &right, "--confirm", "allow"];
    stage.run(&fix, well(&["\"applied\": true"]))?;
    stage.run(&test, well(&["\"status\": \"passed\"", "\"passed\": 1"]))?;
    Ok(())
}
