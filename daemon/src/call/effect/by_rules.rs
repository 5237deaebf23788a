//! What the rules of a workspace say of a file by themselves, where no call asks.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use moss_sandbox::ProtectedKind;
use moss_sdk::RelPath;
use moss_workspace::{HistoryFile, Protection};

use super::decide::protection;
use crate::state::WorkspaceState;
use moss_dispatch::Role;
use moss_dispatch::operations::EMBEDDINGS;
use moss_live_index::text_index::IndexRules;
use moss_policy::{Action, Decision, Policy, Subject, Verdict};

/// The tool in whose name the index reads.
const SEARCHING_TOOL: &str = "grep_search";
/// The tools that show what is in files, and what sends it.
const READING_TOOLS: [&str; 4] = [SEARCHING_TOOL, "codebase_search", "read_file", EMBEDDINGS];
/// The tool in whose name commands run.
const COMMAND_TOOL: &str = "run_terminal_cmd";
/// What package managers write at every installation, as they do a directory of packages.
const WRITTEN_BY_INSTALLS: [&str; 3] = [".pnp.cjs", ".pnp.js", ".pnp.loader.mjs"];
/// Directories of packages: what their authors named so nobody runs there.
pub(crate) const PACKAGES: [&str; 6] =
    ["node_modules", "site-packages", "target", "vendor", "venv", ".venv"];

/// A question about a file that nobody has decided before.
fn by_rules<'a>(
    action: Action,
    tool: (&'a str, moss_sdk::Effect),
    caller: &'a str,
    (path, named): (&'a RelPath, Option<Protection>),
) -> Subject<'a> {
    let protection = named.map(protection);
    Subject { path: Some(path), protection, ..Subject::of(action, tool, caller) }
}

/// Whether a caller may see the content of a file that the history holds, by a tool or by the
/// service of that name.
pub fn may_show(workspace: &WorkspaceState, caller: &str, tool: &str, file: &HistoryFile) -> bool {
    let policy = workspace.policy.load();
    [&file.real, &file.path].into_iter().all(|name| {
        let named = workspace.files.protection(name);
        let subject = by_rules(Action::Read, (tool, moss_sdk::Effect::Read), caller, (name, named));
        moss_policy::decide(&policy, &subject).verdict == Verdict::Allow
    })
}

/// Files that every caller may read and nobody excluded: what the index of a workspace may know. A single call
/// may be let see less.
pub(crate) struct ReadableByAll<'a>(pub(crate) &'a WorkspaceState);

// === impl ReadableByAll ===

impl IndexRules for ReadableByAll<'_> {
    fn policy(&self) -> Arc<Policy> {
        self.0.policy.load_full()
    }

    fn admits(&self, policy: &Policy, path: &RelPath) -> bool {
        if self.0.live.get().is_some_and(|kept| kept.excludes(path)) {
            return false;
        }
        let (named, caller) = (self.0.files.protection(path), Role::Caller.as_str());
        let subject =
            by_rules(Action::Read, (SEARCHING_TOOL, moss_sdk::Effect::Read), caller, (path, named));
        moss_policy::decide(policy, &subject).verdict == Verdict::Allow
    }
}

/// What may be sent to an endpoint of embeddings, by rules alone.
pub(crate) struct EmbeddingRules<'a>(pub(crate) &'a WorkspaceState);

// === impl EmbeddingRules ===

impl EmbeddingRules<'_> {
    /// In whose name texts are sent that no call asks for.
    pub(crate) fn caller(&self) -> &'static str {
        Role::Caller.as_str()
    }

    /// Whether an endpoint may be asked at all for a caller.
    pub(crate) fn decide(&self, policy: &Policy, caller: &str) -> Decision {
        let subject = Subject::of(Action::Network, (EMBEDDINGS, moss_sdk::Effect::Read), caller);
        moss_policy::decide(policy, &subject)
    }

    /// Whether the text of a file may be sent: every caller may read it by every tool that shows texts, and no rule
    /// keeps it from embeddings alone.
    pub(crate) fn may_send(&self, policy: &Policy, path: &RelPath) -> bool {
        let (named, caller) = (self.0.files.protection(path), self.caller());
        READING_TOOLS.into_iter().all(|tool| {
            let tool = (tool, moss_sdk::Effect::Read);
            let subject = by_rules(Action::Read, tool, caller, (path, named));
            moss_policy::decide(policy, &subject).verdict == Verdict::Allow
        })
    }
}

/// What commands may do with files by rules alone, whoever started them.
pub(crate) struct CommandRules<'a>(pub(crate) &'a WorkspaceState);

// === impl CommandRules ===

impl CommandRules<'_> {
    /// What a path is to commands; none where it is a file like any other.
    pub(crate) fn kind(&self, policy: &Policy, relative: &Path) -> Option<ProtectedKind> {
        let Some(path) = decidable(relative) else { return Some(ProtectedKind::Masked) };
        let named = self.0.files.protection(&path);
        let verdict_on = |action| {
            let caller = Role::Caller.as_str();
            let subject =
                by_rules(action, (COMMAND_TOOL, moss_sdk::Effect::Exec), caller, (&path, named));
            moss_policy::decide(policy, &subject).verdict
        };
        protected_kind(verdict_on, &path, named)
    }
}

/// What a file is to commands by what may be done with it.
pub(super) fn protected_kind(
    verdict_on: impl Fn(Action) -> Verdict,
    path: &RelPath,
    named: Option<Protection>,
) -> Option<ProtectedKind> {
    if verdict_on(Action::Read) == Verdict::Deny {
        return Some(ProtectedKind::Masked);
    }
    let write = verdict_on(Action::Modify);
    let is_installed = || {
        let name = path.file_name();
        let is_code = named == Some(Protection::Code);
        let is_written = is_code
            && name.is_some_and(|name| WRITTEN_BY_INSTALLS.contains(&name))
            && path.parent().is_some_and(|above| moss_workspace::protection(&above).is_none());
        is_written || (is_code || name == Some(".gitmodules")) && is_shipped(path)
    };
    let asks = named.is_some() && write != Verdict::Allow && !is_installed();
    let is_protected = write == Verdict::Deny || asks;
    is_protected.then_some(ProtectedKind::Protected)
}

/// Whether a path lies in a directory of packages that is not protected itself.
pub(super) fn is_shipped(path: &RelPath) -> bool {
    let above = std::iter::successors(path.parent(), RelPath::parent);
    let mut packages =
        above.filter(|above| above.file_name().is_some_and(|name| PACKAGES.contains(&name)));
    packages.any(|above| moss_workspace::protection(&above).is_none())
}

/// The path by which a file is decided about: its own, or what is left of it without what no path of moss's has,
/// such as line breaks and bytes that are no text. A command opens such a file by its own name all the same.
pub(crate) fn decidable(relative: &Path) -> Option<RelPath> {
    let parse = |text: &str| RelPath::parse(text).ok();
    if let Some(path) = relative.to_str().and_then(parse) {
        return Some(path);
    }
    let names: Vec<String> = relative.iter().map(readable_name).collect();
    parse(&names.join("/")).or_else(|| parse(names.last()?))
}

fn readable_name(name: &OsStr) -> String {
    let text = name.to_string_lossy();
    let is_kept = |letter: &char| !letter.is_control() && *letter != char::REPLACEMENT_CHARACTER;
    let kept: String = text.chars().filter(is_kept).collect();
    match kept.as_str() {
        "" | "." | ".." => "_".to_owned(),
        _ => kept,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn installations_write_what_is_theirs_unless_a_rule_denies_it() {
        let kind = |path: &str, write| {
            let path = RelPath::parse(path).unwrap();
            let verdict_on = |action| match action {
                Action::Read => Verdict::Allow,
                _ => write,
            };
            protected_kind(verdict_on, &path, moss_workspace::protection(&path))
        };
        let protected = Some(ProtectedKind::Protected);
        for path in [".pnp.cjs", "packages/app/.pnp.loader.mjs"] {
            assert_eq!(kind(path, Verdict::Ask), None, "{path}");
            assert_eq!(kind(path, Verdict::Deny), protected, "{path}");
        }
        for path in [".yarnrc.yml", ".yarn/releases/yarn.cjs", ".husky/.pnp.cjs", ".git/.pnp.cjs"] {
            assert_eq!(kind(path, Verdict::Ask), protected, "{path}");
        }
        // What packages ship hinders nobody who installs or removes them.
        for path in [
            "node_modules/concat-map/.travis.yml",
            "app/node_modules/a/.github/workflows",
            ".venv/lib/python3/site-packages/a/.vscode/settings.json",
            "vendor/github.com/a/b/.gitmodules",
        ] {
            assert_eq!(kind(path, Verdict::Ask), None, "{path}");
            assert_eq!(kind(path, Verdict::Deny), protected, "{path}");
        }
        for path in [
            "node_modules/a/.git",
            "vendor/a/.git/config",
            "vendor/a/.hg/hgrc",
            "node_modules.old/.travis.yml",
            ".husky/node_modules/a",
            ".claude/vendor/.travis.yml",
            ".gitmodules",
        ] {
            assert_eq!(kind(path, Verdict::Ask), protected, "{path}");
        }
    }

    #[test]
    fn every_name_is_decided_about() {
        for (name, read) in [
            (&b"a/.env"[..], "a/.env"),
            (b"a\nb/.env", "ab/.env"),
            (b"a\xff/.env", "a/.env"),
            (b"a/.e\x1bnv\xff", "a/.env"),
            (b"\n/.\n./.env", "_/_/.env"),
            (b"hidden/\x07/a", "hidden/_/a"),
        ] {
            let path = decidable(Path::new(OsStr::from_bytes(name)));
            assert_eq!(path.as_ref().map(RelPath::as_str), Some(read), "{read}");
        }
        let long = format!("{}.env", "n/".repeat(3000));
        assert_eq!(decidable(Path::new(&long)).unwrap().as_str(), ".env");
    }
}
