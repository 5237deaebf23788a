//! Standing approvals: what a person allowed, as narrow as the question was.
//!
//! A permission names one tool of one plugin or of moss, one caller, one kind of effect and exact
//! paths. Its text is a rule of a policy file, so that people read what they know; nothing in it is
//! a glob, and it is looked at without globs. It beats what the user's own rules and the defaults
//! ask, nothing else: see [`super::layers`]. Protected names are never covered, nor are edits of lines
//! that are not as the edit says.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use moss_commands::SimpleCommand;
use moss_sdk::RelPath;

use super::format::{GLOB_BYTES_MAX, GLOBS_MAX};
use super::{Action, CommandPart, Layer, RuleRef, Subject};
use moss_sdk::deceptive::is_deceptive;

pub mod file;

/// How much larger than what was shown the next content may be.
const SIZE_FACTOR: u64 = 2;
/// The content that is allowed at least, in bytes.
const SIZE_BYTES_MIN: u64 = 64 * 1024;
/// Characters that mean something in a glob, or at its start.
const GLOB_CHARACTERS: &[char] = &['\\', '*', '?', '[', ']', '{', '}', '~'];
/// The effects that can be allowed for longer than once: those whose question shows all of them.
const ACTIONS: &[Action] = &[Action::Read, Action::Create, Action::Modify, Action::Delete];

/// One approval and how long it applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingApproval {
    /// Names it, for lists and to revoke it.
    pub id: String,
    /// What it allows: one permission for each kind of effect.
    pub permissions: Vec<Permission>,
    /// The SHA-256 digest of the plugin's component: another one is another plugin.
    pub component: Option<String>,
    /// When it was given.
    pub approved_at: Timestamp,
    /// When it expires, in UTC.
    pub expires_at: Timestamp,
    /// How decisions name it.
    pub rule: Arc<RuleRef>,
}

/// What is allowed: one kind of effect of one tool on exact paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// Name of the tool.
    pub tool: String,
    /// The plugin that provides it; none for a tool of moss.
    pub plugin: Option<String>,
    /// The credential that calls.
    pub caller: String,
    /// The kind of effect.
    pub action: Action,
    /// The files, as they are written.
    pub paths: BTreeSet<RelPath>,
    /// Largest new content, in bytes; none where there is no new content.
    pub size_bytes_max: Option<u64>,
    /// All words of the command, for `Exec`; its paths are the one directory in which it runs.
    pub argv: Option<Vec<String>>,
    /// Whether the command may be left running as a job, and only so.
    pub is_job: bool,
}

/// Who asks, as permissions name it.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    /// Name of the tool.
    pub tool: &'a str,
    /// The plugin that provides it; none for a tool of moss.
    pub plugin: Option<&'a str>,
    /// Name of the credential.
    pub caller: &'a str,
}

/// One effect that was asked about.
#[derive(Debug, Clone, Copy)]
pub struct AskedEffect<'a> {
    /// The kind of effect.
    pub action: Action,
    /// One of the names of the file: its real path, or the one that it was asked for under.
    pub path: &'a RelPath,
    /// The size of the new content.
    pub size_bytes: Option<u64>,
}

/// Returns the narrowest permissions that cover effects, one for each kind; none where a
/// standing approval could not be written as a rule that reads as what it is.
pub fn narrowest(asker: Asker<'_>, effects: &[AskedEffect<'_>]) -> Option<Vec<Permission>> {
    if effects.iter().any(|effect| !ACTIONS.contains(&effect.action)) {
        return None;
    }
    let permission = |&action: &Action| {
        let of_kind = || effects.iter().filter(move |effect| effect.action == action);
        let size = of_kind().filter_map(|effect| effect.size_bytes).max();
        let has_content = matches!(action, Action::Create | Action::Modify);
        Permission {
            tool: asker.tool.to_owned(),
            plugin: asker.plugin.map(ToOwned::to_owned),
            caller: asker.caller.to_owned(),
            action,
            paths: of_kind().map(|effect| effect.path.clone()).collect(),
            size_bytes_max: size
                .filter(|_| has_content)
                .map(|size| size.saturating_mul(SIZE_FACTOR).max(SIZE_BYTES_MIN)),
            argv: None,
            is_job: false,
        }
    };
    let permissions: Vec<_> =
        ACTIONS.iter().map(permission).filter(|permission| !permission.paths.is_empty()).collect();
    let is_told = !permissions.is_empty() && permissions.iter().all(Permission::is_showable);
    is_told.then_some(permissions)
}

/// Returns the permissions that cover commands that were asked about, one for each, in the directory in
/// which they run; none where one of them is not the same words each time, cannot be shown, or runs what its words
/// do not say.
pub fn narrowest_commands(
    asker: Asker<'_>,
    directory: &RelPath,
    asked: &[&CommandPart],
) -> Option<Vec<Permission>> {
    let mut permissions: Vec<Permission> = Vec::new();
    for part in asked {
        let is_by_words = part.asking_rule().is_none() && !part.runs_configured();
        let command = part.command.as_ref().filter(|_| is_by_words)?;
        let argv: Vec<String> = command.fixed_words()?.into_iter().map(ToOwned::to_owned).collect();
        if argv.is_empty() || !command.is_exactly(&argv) {
            return None;
        }
        let permission = Permission {
            tool: asker.tool.to_owned(),
            plugin: asker.plugin.map(ToOwned::to_owned),
            caller: asker.caller.to_owned(),
            action: Action::Exec,
            paths: BTreeSet::from([directory.clone()]),
            size_bytes_max: None,
            argv: Some(argv),
            is_job: part.is_job(),
        };
        if !permissions.contains(&permission) {
            permissions.push(permission);
        }
    }
    let is_told = !permissions.is_empty() && permissions.iter().all(Permission::is_showable);
    is_told.then_some(permissions)
}

/// Writes a name as a glob that matches that name alone.
fn escape(name: &str) -> String {
    let mut glob = String::with_capacity(name.len());
    for c in name.chars() {
        if GLOB_CHARACTERS.contains(&c) {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

/// Reads a glob that matches one name alone; none where it matches more.
fn unescape(glob: &str) -> Option<String> {
    let mut name = String::with_capacity(glob.len());
    let mut characters = glob.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => name.push(characters.next()?),
            c if GLOB_CHARACTERS.contains(&c) => return None,
            c => name.push(c),
        }
    }
    Some(name)
}

// === impl StandingApproval ===

impl StandingApproval {
    /// Makes an approval that nobody gave, to see what would follow from it.
    pub fn imagined(permissions: Vec<Permission>) -> Self {
        Self {
            id: String::new(),
            permissions,
            component: None,
            approved_at: Timestamp::MIN,
            expires_at: Timestamp::MAX,
            rule: Self::rule_of("", "imagined", None, Timestamp::MAX),
        }
    }

    /// Whether it allows an effect.
    pub fn allows(&self, subject: &Subject<'_>) -> bool {
        self.permissions.iter().any(|permission| permission.allows(subject))
    }

    /// Whether it allows something of a kind of effect.
    pub fn is_of(&self, action: Action) -> bool {
        self.permissions.iter().any(|permission| permission.action == action)
    }

    /// Returns the sizes from which on it ceases to allow.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> {
        let max = self.permissions.iter().filter_map(|permission| permission.size_bytes_max);
        max.filter_map(|max| max.checked_add(1))
    }

    /// Whether it is about somebody's calls at all.
    pub fn is_for(&self, asker: Asker<'_>) -> bool {
        self.permissions.iter().any(|permission| {
            permission.tool == asker.tool
                && permission.plugin.as_deref() == asker.plugin
                && permission.caller == asker.caller
        })
    }

    /// Returns how decisions name an approval: `kind` says how long such approvals apply.
    pub fn rule_of(id: &str, kind: &str, file: Option<String>, until: Timestamp) -> Arc<RuleRef> {
        Arc::new(RuleRef {
            layer: Layer::User,
            file,
            line: None,
            name: Some(format!("{kind} approval {id}")),
            reason: Some(format!("a person allowed it until {until}")),
            for_person: false,
            answer: Some(id.to_owned()),
        })
    }
}

// === impl Permission ===

impl Permission {
    /// Whether it covers an effect.
    fn allows(&self, subject: &Subject<'_>) -> bool {
        let fits = match (self.size_bytes_max, subject.size_bytes) {
            (None, _) => true,
            (Some(max), Some(size)) => size <= max,
            (Some(_), None) => false,
        };
        let is_command = match (&self.argv, subject.command) {
            (None, None) => true,
            (Some(argv), Some(part)) => {
                let is_same = |command: &SimpleCommand| command.is_exactly(argv);
                part.is_job() == self.is_job && part.command.as_ref().is_some_and(is_same)
            }
            (Some(_), None) | (None, Some(_)) => false,
        };
        fits && is_command
            && !subject.is_guarded()
            && !subject.drift
            && subject.action == self.action
            && subject.tool == self.tool
            && subject.plugin == self.plugin.as_deref()
            && subject.caller == self.caller
            && subject.path.is_some_and(|path| self.paths.contains(path))
    }

    /// Whether a person who reads its rule sees what it says, and a policy file could hold it.
    fn is_showable(&self) -> bool {
        let names = [Some(&self.tool), self.plugin.as_ref(), Some(&self.caller)];
        let texts = || {
            let paths = self.paths.iter().map(RelPath::as_str);
            let argv = self.argv.iter().flatten().map(String::as_str);
            names.into_iter().flatten().map(String::as_str).chain(paths).chain(argv)
        };
        let argv_words = self.argv.as_ref().map_or(0, Vec::len);
        self.paths.len() <= GLOBS_MAX
            && argv_words <= GLOBS_MAX
            && texts().all(|text| !text.chars().any(is_deceptive))
            && texts().all(|text| escape(text).len() <= GLOB_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests;
