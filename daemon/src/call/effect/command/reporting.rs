//! What a result, or an error, says of how a command ended.

use std::fmt::Write as _;
use std::time::Duration;

use moss_sandbox::{
    CommandEnd, EndCause, NetworkMode, ProcessExit, Profile, RUNS_ON, SandboxFacts, Tier,
    stands_alone,
};
use moss_sdk::command::{CommandReport, LeftRunning, ReportedSandbox};
use moss_sdk::deceptive::escaped;
use moss_sdk::{ErrorCode, ToolError};

use super::files::{CHANGED_MAX, COMPARED_MAX, ChangedFiles};
use super::output::CollectedOutput;

/// How long a question of a command stands before the command is ended: nobody can reply.
pub(super) const PROMPT_PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of the end of a stream in the error of a command that waited for a reply.
const ATTACHED_BYTES: usize = 4 << 10;
/// Most changed files that are named with names that no path can have.
const ODD_MAX: usize = 10;
/// What programs write that find no host, in lower case.
const UNREACHED_SIGNS: [&str; 11] = [
    "eai_again",
    "enotfound",
    "enetunreach",
    "network is unreachable",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "name or service not known",
    "could not resolve host",
    "failed to lookup address",
    "unable to resolve host address",
    "unknownhostexception",
];

/// What programs write that are refused a connection, in lower case.
const REFUSED_SIGNS: [&str; 4] =
    ["connection refused", "econnrefused", "failed to connect to", "couldn't connect to"];
/// How this machine is called by itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
/// What a program writes that looks for memory that was not given back, and cannot.
const NO_LEAK_CHECK: &str = "leaksanitizer has encountered a fatal error";

/// How a command is isolated, as far as it is known before it ends. Of dozens of variables that it was not given only
/// those matter that one of these texts has, its own or what it wrote.
pub(super) fn reported(facts: &SandboxFacts, texts: &[&str]) -> ReportedSandbox {
    ReportedSandbox {
        tier: facts.tier.to_string(),
        profile: facts.profile.to_string(),
        network: facts.network == NetworkMode::On,
        environment_removed: facts.removed_in(texts),
        environment_granted: facts.environment_granted.clone(),
        sockets: facts.sockets.iter().map(|path| path.display().to_string()).collect(),
        restored: Vec::new(),
    }
}

/// What became of a command.
pub(super) fn report(
    (end, output): (&CommandEnd, &CollectedOutput),
    command: &str,
    timeout: Duration,
) -> CommandReport {
    let (exit_code, signal) = match end.exit {
        ProcessExit::Exited(code) => (Some(code), None),
        ProcessExit::Killed(signal) => (None, Some(signal)),
    };
    let kept = output.kept();
    let (stdout, stderr) = (output.stdout.shown(), output.stderr.shown());
    let written = [stdout.as_str(), stderr.as_str()];
    let facts = &end.facts;
    let sandbox = reported(facts, &[command, &stdout, &stderr]);
    let of_git = [
        facts.why_changed_for_git(written),
        facts.what_git_left(written),
        facts.what_git_misses(written),
    ];
    let whys = [
        why_unreached(facts, written),
        why_refused(facts, written),
        why_no_leak_check(facts, written),
        facts.why_incomplete(written),
    ];
    let whys = whys.into_iter().chain(of_git);
    let ended = [end.what_git_still_leaves(), end.what_git_lost(), end.what_changed_elsewhere()];
    let whys = whys.chain(ended).flatten();
    let notes = notes(end, output, timeout).into_iter().chain(whys).chain(kept.note);
    let left = |left: &moss_sandbox::LeftProcess| LeftRunning {
        pid: left.pid,
        command: left.command.clone(),
    };
    CommandReport {
        ran: true,
        job: None,
        exit_code,
        signal,
        duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        stdout,
        stderr,
        truncated: output.is_cut(),
        artifact: kept.artifact,
        left_running: end.left_running.iter().map(left).collect(),
        sandbox: ReportedSandbox {
            restored: end.restored.iter().map(|path| escaped(&path.to_string_lossy())).collect(),
            ..sandbox
        },
        changed: Vec::new(),
        notes: notes.map(|note| escaped(&note)).collect(),
    }
}

/// Says that the network was off where a command wrote that it found no host. Its exit status does not count: of a
/// pipeline it is that of the last program. What only reads finds such words in files.
fn why_unreached(facts: &SandboxFacts, written: [&str; 2]) -> Option<String> {
    if facts.network == NetworkMode::On || facts.profile == Profile::ReadOnly {
        return None;
    }
    let speaks = |text: &str| {
        let lower = text.to_ascii_lowercase();
        UNREACHED_SIGNS.iter().any(|sign| stands_alone(&lower, sign))
    };
    written.into_iter().any(speaks).then(|| {
        "the network is off for this command, so it finds no host, however often it runs. A person can fetch what is \
         missing, or add a rule with its words and `network = true` to the policy"
            .to_owned()
    })
}

/// Says that its loopback interface is its own where a command wrote that nobody listens there.
fn why_refused(facts: &SandboxFacts, written: [&str; 2]) -> Option<String> {
    let is_apart = facts.network == NetworkMode::Off && facts.tier == Tier::Full;
    if !is_apart || facts.profile != Profile::WorkspaceWrite {
        return None;
    }
    let speaks = |text: &str| {
        text.to_ascii_lowercase().lines().any(|line| {
            let has = |signs: &[&str]| signs.iter().any(|sign| line.contains(sign));
            has(&REFUSED_SIGNS) && has(&LOOPBACK)
        })
    };
    written.into_iter().any(speaks).then(|| {
        "each command and each job has a loopback interface of its own while its network is off: a server is reached \
         only by what the same command starts. Start it and what asks it in one command (`server & … ; client`), or a \
         person adds a rule with `network = true` for both"
            .to_owned()
    })
}

/// Says why memory that was not given back cannot be looked for.
fn why_no_leak_check(facts: &SandboxFacts, written: [&str; 2]) -> Option<String> {
    let is_refused = facts.tier > Tier::None && facts.profile != Profile::DangerFull;
    let speaks = |text: &str| text.to_ascii_lowercase().contains(NO_LEAK_CHECK);
    (is_refused && written.into_iter().any(speaks)).then(|| {
        "LeakSanitizer looks into its own process as a debugger does (ptrace), which no command may: run it with \
         `ASAN_OPTIONS=detect_leaks=0`, and all other checks of AddressSanitizer work"
            .to_owned()
    })
}

/// What else a result says of how a command ended.
fn notes(end: &CommandEnd, output: &CollectedOutput, timeout: Duration) -> Vec<String> {
    let mut notes = Vec::new();
    match end.cause {
        EndCause::Ended => {}
        EndCause::Timeout => notes.push(format!(
            "it ran for {} s and was ended: split it, or give the call more time",
            timeout.as_secs()
        )),
        EndCause::Stopped => notes.push("it was stopped".to_owned()),
        EndCause::Limit(limit) => notes.push(format!("it was ended at a limit: {limit}")),
        EndCause::Disturbed => {}
    }
    notes.extend(end.disturbance.iter().map(|found| format!("it was ended: {found}")));
    let has_failed = end.exit != ProcessExit::Exited(0);
    if let Some(asked) = output.prompt().filter(|_| has_failed) {
        notes.push(format!(
            "it asked `{asked}` and nobody can reply: standard input is closed. Pass the reply as an option \
             (`-y`, `--yes`, `--batch` …), or have a person run it"
        ));
    }
    let goes_on = end.cause == EndCause::Ended && !has_failed;
    if let Some(asked) = output.waited_for.as_deref().filter(|_| goes_on) {
        notes.push(format!(
            "`{asked}` looked like a question; without a terminal, and with an empty standard input, nothing waits for a reply"
        ));
    }
    let more = end.left_running_count.saturating_sub(end.left_running.len());
    if more > 0 {
        notes.push(format!("{more} more processes were left running, and ended"));
    }
    if end.may_run_on {
        notes.push(RUNS_ON.to_owned());
    }
    notes.extend(end.facts.warning().map(str::to_owned));
    if end.is_output_cut {
        notes.push("a process kept the output open: its end may be missing".to_owned());
    }
    if !end.restored.is_empty() {
        notes.push("protected files that it changed are as before".to_owned());
    }
    let names = |paths: &[std::path::PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    if !end.changed.is_empty() {
        let changed = names(&end.changed);
        notes.push(format!("protected files that it changed could not be restored: {changed}"));
    }
    if !end.facts.unmasked.is_empty() {
        let count = end.facts.unmasked.len();
        notes.push(format!(
            "this machine could not hide {count} files that the policy keeps from reading"
        ));
    }
    notes
}

/// Lists what a command changed; none where that is not known.
pub(super) fn list_changed(report: &mut CommandReport, changed: Option<ChangedFiles>) {
    if changed.is_none() {
        report.notes.push(format!(
            "the workspace has more than {COMPARED_MAX} entries: what it changed is not listed"
        ));
    }
    let ChangedFiles { listed: mut changed, hidden_count, ignored_count, unignored_count, odd } =
        changed.unwrap_or_default();
    if !changed.is_empty() || !odd.is_empty() {
        report.notes.push("what the command changed cannot be undone".to_owned());
    }
    if changed.len() > CHANGED_MAX {
        let more = changed.len() - CHANGED_MAX;
        changed.truncate(CHANGED_MAX);
        report.notes.push(format!("{more} more files changed"));
    }
    if hidden_count > 0 {
        report.notes.push(format!(
            "{hidden_count} more files changed meanwhile whose names the policy does not show"
        ));
    }
    if ignored_count > 0 {
        report.notes.push(format!(
            "an ignore file names {ignored_count} more files than before the command: `changed` no longer shows what \
             becomes of them"
        ));
    }
    if unignored_count > 0 {
        report.notes.push(format!(
            "no ignore file names {unignored_count} files and directories that one named before the command: `changed` \
             shows what becomes of them from now on"
        ));
    }
    if !odd.is_empty() {
        let named: Vec<_> = odd.iter().take(ODD_MAX).map(|path| format!("{path:?}")).collect();
        let more = if odd.len() > named.len() { ", …" } else { "" };
        report.notes.push(format!(
            "{} files changed with names that no path can have, so that `changed` does not list them: {}{more}",
            odd.len(),
            named.join(", ")
        ));
    }
    report.changed = changed;
}

/// The error of a command that was ended because it waited for a reply, with what it wrote and changed until then.
pub(super) fn needs_input(asked: &str, report: &CommandReport) -> ToolError {
    let seconds = PROMPT_PATIENCE.as_secs();
    let mut message = format!(
        "the command asked `{asked}` and waited for a reply that nobody can give it: it was ended after {seconds} s"
    );
    for (stream, text) in [("standard output", &report.stdout), ("standard error", &report.stderr)]
    {
        let text = text.trim_end();
        if !text.is_empty() {
            let start = text.ceil_char_boundary(text.len().saturating_sub(ATTACHED_BYTES));
            let mark = if start > 0 { "…" } else { "" };
            let _ = write!(message, "\n{stream}:\n{mark}{}", &text[start..]);
        }
    }
    if let Some(artifact) = &report.artifact {
        let _ = write!(message, "\nall of its output: {artifact}");
    }
    if !report.changed.is_empty() {
        let changed: Vec<_> = report.changed.iter().map(|altered| altered.path.as_str()).collect();
        let _ = write!(message, "\nit changed, which cannot be undone: {}", changed.join(", "));
    }
    if !report.sandbox.restored.is_empty() {
        let _ = write!(message, "\nas before: {}", report.sandbox.restored.join(", "));
    }
    ToolError::new(ErrorCode::NeedsInput, message).hint(
        "pass the reply as an option (`-y`, `--yes`, `--batch` …), start it by `terminal_job` and write the reply there, \
         or have a person run it",
    )
}

#[cfg(test)]
mod tests {
    use moss_sandbox::{GitOutside, HinderingPaths};

    use super::*;

    fn facts(network: NetworkMode, profile: Profile) -> SandboxFacts {
        SandboxFacts {
            tier: Tier::Full,
            profile,
            network,
            environment_removed: Vec::new(),
            environment_granted: Vec::new(),
            sockets: Vec::new(),
            compared_afterwards: Vec::new(),
            hindering: HinderingPaths::default(),
            unmasked: Vec::new(),
            tracked_masks: Vec::new(),
            left_alone: Vec::new(),
            git_outside: GitOutside::default(),
            has_abstract_sockets: false,
        }
    }

    fn why(network: NetworkMode, profile: Profile, stderr: &str) -> Option<String> {
        why_unreached(&facts(network, profile), ["", stderr])
    }

    #[test]
    fn a_server_of_another_command_that_is_not_reached_is_explained() {
        let (off, writes) = (NetworkMode::Off, Profile::WorkspaceWrite);
        for text in [
            "curl: (7) Failed to connect to localhost port 8123 after 0 ms: Couldn't connect to server",
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "dial tcp [::1]:8080: connect: connection refused",
        ] {
            assert!(why_refused(&facts(off, writes), ["", text]).is_some(), "{text}");
            assert!(why_refused(&facts(NetworkMode::On, writes), ["", text]).is_none());
        }
        let other = "connection refused by db.example\nlistening on localhost";
        assert_eq!(why_refused(&facts(off, writes), ["", other]), None);
    }

    #[test]
    fn a_search_for_leaks_that_fails_is_explained() {
        let text = "==2==LeakSanitizer has encountered a fatal error.\n==2==HINT: ptrace";
        let of = |profile| why_no_leak_check(&facts(NetworkMode::Off, profile), ["", text]);
        assert!(of(Profile::WorkspaceWrite).unwrap().contains("detect_leaks=0"));
        assert_eq!(of(Profile::DangerFull), None);
    }

    #[test]
    fn a_host_that_was_not_found_is_explained_where_the_network_is_off() {
        let (off, writes) = (NetworkMode::Off, Profile::WorkspaceWrite);
        for text in [
            "npm error request failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org",
            "Failed to establish a new connection: [Errno -3] Temporary failure in name resolution",
            "[6] Could not resolve hostname (Could not resolve host: index.crates.io)",
            "dial tcp: lookup proxy.golang.org: dial udp 10.0.0.1:53: connect: network is unreachable",
            "Temporary failure resolving 'deb.debian.org'",
            "java.net.UnknownHostException: repo.maven.apache.org",
            "Error: getaddrinfo ENOTFOUND docs.example",
        ] {
            assert!(why(off, writes, text).is_some(), "{text}");
            assert_eq!(why(NetworkMode::On, writes, text), None);
            assert_eq!(why(off, Profile::ReadOnly, text), None, "it may stand in a file");
        }
        for text in [
            "error: could not find `Cargo.toml`",
            "ModuleNotFoundError: No module named 'a'",
            "FileNotFoundError: [Errno 2] No such file or directory: 'nope'",
            "java.io.FileNotFoundException: nope",
        ] {
            assert_eq!(why(off, writes, text), None, "{text}");
        }
    }
}
