//! How well commands are isolated here: tried with a command that tries to get out.

use moss_sandbox::{LauncherKind, Sandbox, SandboxOptions, Tier};

use super::Check;
use crate::this_program;

const NAME: &str = "command sandbox";

pub(super) async fn check() -> Check {
    let Some(program) = this_program() else {
        return Check::warn(NAME, "moss does not find its own program", "install moss again");
    };
    let sandbox = Sandbox::detect(SandboxOptions {
        program,
        tier_max: Tier::Full,
        launchers: LauncherKind::ALL,
    })
    .await;
    let report = sandbox.report();
    let found = format!("tier {} ({})", report.tier, report.detail);
    if report.tier == Tier::Full {
        return Check::ok(NAME, found);
    }
    let reasons =
        report.missing.iter().map(|part| format!("; no tier {}: {}", part.tier, part.reason));
    let commands: Vec<_> = report
        .missing
        .iter()
        .flat_map(|part| &part.commands)
        .map(|command| format!("`{command}`"))
        .collect();
    let hint = if commands.is_empty() {
        "see docs/sandbox.md, *Tiers*".to_owned()
    } else {
        format!("{}; then `moss doctor` again", commands.join(", then "))
    };
    Check::warn(NAME, format!("{found}{}", reasons.collect::<String>()), hint)
}
