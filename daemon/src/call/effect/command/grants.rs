//! What rules grant a command beyond what every command may, and what that is on this machine.

use std::collections::BTreeSet;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use moss_commands::SimpleCommand;
use moss_policy::{CommandGrants, CommandPart};
use moss_sandbox::{NetworkMode, Profile, SandboxedCommand, Tier};

use super::PlannedCommand;
use crate::call::effect::Effects;

/// Programs that stand beside git in the text of a job and are over at once.
const BESIDE_GIT: &[&str] = &[
    "[", "cat", "cd", "cp", "date", "echo", "false", "grep", "head", "ls", "mkdir", "mv", "printf",
    "pwd", "rm", "set", "sort", "test", "touch", "true", "wc",
];

// === impl Effects ===

impl Effects {
    /// Returns what rules grant a text as a whole.
    ///
    /// The network and sockets are granted where each part is that does more than read, or that the shell may connect.
    /// The profile and variables need that of every part: outside of its profile the sandbox holds nothing to reading,
    /// and what only reads could show a variable.
    pub(super) fn grants_of(&self, planned: &PlannedCommand) -> CommandGrants {
        let (policy, tool) = (self.scope.workspace.policy.load_full(), self.tool());
        let directory = planned.known_directory();
        let (mut of_all, mut of_doing) = (None, None);
        for part in &planned.parts {
            let granted = self.part_grants(&policy, &tool, directory, part);
            if does_more(part) {
                narrow(&mut of_doing, &granted);
            }
            narrow(&mut of_all, &granted);
        }
        let (of_all, of_doing) = (of_all.unwrap_or_default(), of_doing.unwrap_or_default());
        if planned.only_reads() {
            return CommandGrants { network: of_doing.network, ..CommandGrants::default() };
        }
        let CommandGrants { network, sockets, .. } = of_doing;
        CommandGrants { network, sockets, ..of_all }
    }
}

/// Whether a part does more than read, or may, or the shell may connect it.
fn does_more(part: &CommandPart) -> bool {
    let connects = || part.command.as_ref().is_some_and(|command| command.may_connect());
    !part.only_reads || part.runs_configured() || connects()
}

fn narrow(of_all: &mut Option<CommandGrants>, granted: &CommandGrants) {
    *of_all = Some(of_all.as_ref().map_or_else(|| granted.clone(), |all| all.common(granted)));
}

// === impl PlannedCommand ===

impl PlannedCommand {
    pub(super) fn only_reads(&self) -> bool {
        self.parts.iter().all(|part| part.only_reads)
    }

    /// Whether git runs in it, as far as its text says: by whichever program, with whichever words. In a job nothing else
    /// may run that lasts: as long as it does, the person's own git leaves hidden files alone.
    fn runs_git(&self) -> bool {
        let is_git = |part: &CommandPart| part.command.as_ref().is_some_and(SimpleCommand::is_git);
        let is_brief = |part: &CommandPart| {
            let program = part.command.as_ref().and_then(SimpleCommand::program);
            is_git(part) || program.is_some_and(|program| BESIDE_GIT.contains(&program))
        };
        self.parts.iter().any(is_git) && (!self.is_background || self.parts.iter().all(is_brief))
    }

    /// Lets it have these grants, and no others.
    pub(super) fn grant(&mut self, mut grants: CommandGrants) {
        // Without any tier nothing keeps a command from the network; beneath the full tier what does keeps it from
        // more, which it may do then.
        grants.network |= match self.tier {
            Tier::None => true,
            tier => grants.danger_full && tier < Tier::Full,
        };
        self.profile = match (grants.danger_full, self.only_reads()) {
            (true, _) => Profile::DangerFull,
            (false, true) => Profile::ReadOnly,
            (false, false) => Profile::WorkspaceWrite,
        };
        self.grants = grants;
    }

    /// Lets it have the network at most.
    pub(super) fn grant_network_alone(&mut self) {
        let network = self.grants.network;
        self.grant(CommandGrants { network, ..CommandGrants::default() });
    }

    pub(super) fn network(&self) -> NetworkMode {
        if self.grants.network { NetworkMode::On } else { NetworkMode::Off }
    }

    /// Gives a command what is granted, as far as it is there.
    pub(super) fn give(&self, command: &mut SandboxedCommand) {
        command.profile = self.profile;
        command.network = self.network();
        command.runs_git = self.runs_git();
        command.environment.granted = self.grants.environment.iter().cloned().collect();
        let home = std::env::home_dir();
        for named in &self.grants.sockets {
            let value = std::env::var_os(named).map(PathBuf::from);
            let (variable, path) = match place(named, home.as_deref()) {
                Some(path) => (None, Some(path)),
                None => (Some(named), value),
            };
            let Some(path) = path.filter(|path| path.is_absolute() && is_socket(path)) else {
                continue;
            };
            command.environment.granted.extend(variable.cloned());
            command.files.sockets.push(path);
        }
    }
}

fn is_socket(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.file_type().is_socket())
}

/// A path that a policy names; none where it names something else.
fn place(named: &str, home: Option<&Path>) -> Option<PathBuf> {
    match named.strip_prefix("~/") {
        Some(beneath) => Some(home?.join(beneath)),
        None => named.starts_with('/').then(|| PathBuf::from(named)),
    }
}

/// The directories that a policy names as caches. Which of them a command is given, the sandbox chooses.
pub(super) fn named_caches<'a>(
    named: impl Iterator<Item = &'a str>,
    home: Option<&Path>,
) -> BTreeSet<PathBuf> {
    named.filter_map(|named| place(named, home)).collect()
}

#[cfg(test)]
mod tests {
    use moss_sdk::RelPath;

    use super::super::parts::{CommandSetting, parts_of};
    use super::*;

    fn planned(tier: Tier) -> PlannedCommand {
        PlannedCommand {
            command: String::new(),
            directory: RelPath::root(),
            parts: Vec::new(),
            profile: Profile::WorkspaceWrite,
            grants: CommandGrants::default(),
            tier,
            is_background: false,
            has_terminal: false,
        }
    }

    #[test]
    fn a_command_runs_git_where_its_text_says_so() {
        let runs_git = |text: &str, is_background| {
            let setting = CommandSetting { is_isolated: true, has_terminal: false };
            let parts = parts_of(text, setting);
            PlannedCommand { parts, is_background, ..planned(Tier::Full) }.runs_git()
        };
        for (text, in_job) in [
            ("git add -A", true),
            ("cd sub && echo 'a b' > a; git commit -qam x && git log -1 | head", true),
            ("sh -c 'git st'", false),
            ("timeout 60 /usr/bin/git stash", false),
            ("echo \"$(git rev-parse HEAD)\"", true),
            ("ls | xargs git add", false),
            ("npm test && git -C sub commit -qam x", false),
            ("git pull && npm run dev", false),
            ("npm run dev & git add -A", false),
            ("git status; $PROGRAM", false),
            ("git log; tail -f log", false),
            ("while true; do git fetch; sleep 60; done", false),
        ] {
            assert_eq!([runs_git(text, false), runs_git(text, true)], [true, in_job], "{text}");
        }
        for text in ["npm version patch", "echo git add", "git --version", "cat .git/index"] {
            assert!(!runs_git(text, false) && !runs_git(text, true), "{text}");
        }
    }

    #[test]
    fn the_network_is_said_to_be_on_where_nothing_keeps_a_command_from_it() {
        let network = |tier, danger_full| {
            let mut planned = planned(tier);
            planned.grant(CommandGrants { danger_full, ..CommandGrants::default() });
            (planned.grants.network, planned.sandbox().network)
        };
        assert_eq!(network(Tier::Full, false), (false, false));
        assert_eq!(network(Tier::Landlock, false), (false, false));
        assert_eq!(network(Tier::None, false), (true, true));
        assert_eq!(network(Tier::Full, true), (false, false));
        assert_eq!(network(Tier::Landlock, true), (true, true));
    }
}
