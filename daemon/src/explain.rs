//! What the policy would say of a call, without running it: the effects that its arguments let
//! expect, each with the rules that speak about it.

mod command;
mod undo;

use std::sync::Arc;

use jiff::Timestamp;
use moss_sdk::RelPath;
use moss_sdk::spec::Effect;
use moss_workspace::Workspace;
use serde_json::{Map, Value};

pub use self::command::doubt;
use crate::approvals::Situation;
use crate::call::{ShellFile, files_of_parts, known_directory, protection};
use crate::state::WorkspaceState;
use moss_catalog::{CatalogEntry, Runner};
use moss_dispatch::{CallError, SessionKey, operations};
use moss_policy::explain::{Explanation, explain, explain_expecting, explain_search, stricter};
use moss_policy::standing::{Asker, StandingApproval};
use moss_policy::{Action, CommandPart, Layer, Policy, Protection, ReadingDoubt, Subject, Verdict};
use moss_schema::Violation;
use moss_workspace::names_on_way;

/// Parameters that name the file that a tool acts on.
const PATH_PARAMETERS: &[&str] = &["path", "filePath"];
/// Tools of moss that search for the locations of their edits.
const SEARCHING_TOOLS: &[&str] = &["replace_text", "patch", "editTool", "reapply"];
/// Tools of moss that list what is beneath a directory: names are shown, or left out, and nobody is asked.
const LISTING_TOOLS: &[&str] = &["list_directory", "get_project_structure", "file_search"];

/// Most sessions that are looked at for one that allows a call.
const SESSIONS_MAX: usize = 20;

/// What commands do to the lists of plugins, by the names that rules and records have for it.
const PLUGIN_CHANGES: &[&str] = &[
    operations::ADD_PLUGIN,
    operations::ACCEPT_PLUGIN,
    operations::REMOVE_PLUGIN,
    operations::TRUST_PLUGIN_LIST,
    operations::UNTRUST_PLUGIN_LIST,
];

/// Undoing changes, as rules and records call it.
const UNDO: &str = "undo";
/// Taking a change of the user's prompt back.
const UNDO_USER_PROMPT: &str = "undo_user_prompt";

/// Explains a call of a tool, a change of the lists of plugins, or undoing changes.
///
/// # Errors
///
/// Where there is no such tool, or the arguments do not fit.
pub fn call(
    (workspace, doubt): (&WorkspaceState, Option<&ReadingDoubt>),
    tool: &str,
    arguments: Map<String, Value>,
    caller: &str,
    session: Option<&SessionKey>,
) -> Result<Vec<Explanation>, CallError> {
    if PLUGIN_CHANGES.contains(&tool) {
        return Ok(vec![plugin_change(workspace, tool, caller, session)]);
    }
    match tool {
        UNDO => return undo::explain_undo(workspace, &arguments, caller),
        UNDO_USER_PROMPT => return Ok(vec![undo::explain_undo_user_prompt(workspace, caller)]),
        _ => {}
    }
    let catalog = workspace.installed.catalog.load();
    let entry = catalog.entry(tool).map_err(CallError::UnknownTool)?;
    let arguments = entry.arguments.bind(arguments).map_err(CallError::Invalid)?;
    let (policy, files) = (workspace.policy.load(), &workspace.files);
    let asker = Asker { tool, plugin: entry.plugin(), caller };
    let component = entry.component();
    let situation = Situation { asker, component: component.as_deref(), session };
    let answers = approvals_of(workspace, situation, &arguments);
    let subject = Subject {
        plugin: entry.plugin(),
        answers: &answers,
        ..Subject::of(Action::Read, (tool, entry.spec.effect), caller)
    };
    let find = |named| find(files, (&policy, &subject), named);
    let file = path_of(&arguments).map(find).transpose()?;
    let directory = directory_of(&arguments).map(find).transpose()?;
    let hidden = file.iter().chain(&directory).find(|file| file.is_hidden);
    let file = hidden.filter(|_| entry.plugin().is_none()).or(file.as_ref());
    let actions = actions(entry, file);
    let directory = directory.as_ref().map_or_else(RelPath::root, |found| found.path.clone());
    let parts = command::parts(files, entry, &arguments, &directory, doubt);
    let opened = files_of_parts(files, &parts, &directory);
    let known = known_directory(&parts, &directory);
    let parts = command::with_grants(files, &policy, &subject, parts, known);
    let parts: Vec<_> = parts.iter().zip(opened).collect();
    let steps = steps(files, &actions, file, (&parts, known));
    let expected = file.and_then(|file| expected_size(entry, &arguments, file));
    let searches = entry.plugin().is_none() && SEARCHING_TOOLS.contains(&tool);
    let explained = steps.into_iter().map(|step| {
        let ExplainedStep { action, command, names } = step;
        let size_bytes = size_of(entry, &arguments).filter(|_| action.is_write());
        let of_name = |path: Option<&RelPath>, protection: Option<Protection>| {
            let subject = Subject { action, path, protection, size_bytes, command, ..subject };
            if searches && action == Action::Modify {
                explain_search(&policy, &subject, expected)
            } else {
                explain_expecting(&policy, &subject, expected.filter(|_| action == Action::Modify))
            }
        };
        let each = names.iter().map(|(path, protection)| of_name(Some(path), *protection));
        each.reduce(stricter).unwrap_or_else(|| of_name(None, None))
    });
    Ok(explained.collect())
}

/// What a call does, one after the other: to its file, or by the parts of its command, of which it is known in which
/// directory they run.
fn steps<'p>(
    files: &Workspace,
    actions: &[Action],
    file: Option<&ExplainedFile>,
    (parts, known): (&[(&'p CommandPart, Vec<ShellFile>)], Option<&RelPath>),
) -> Vec<ExplainedStep<'p>> {
    let mut steps = Vec::new();
    for &action in actions {
        if action == Action::Exec && !parts.is_empty() {
            steps.extend(
                parts.iter().flat_map(|(part, opened)| part_steps(files, (*part, known), opened)),
            );
            continue;
        }
        let named = file.filter(|_| action != Action::Call);
        let names = named.map(|file| file.names(files, action)).unwrap_or_default();
        steps.push(ExplainedStep { action, command: None, names });
    }
    steps
}

/// Whether a rule keeps a path out of sight, whatever is there: it denies it to readers.
fn is_hidden((policy, subject): (&Policy, &Subject<'_>), path: &RelPath) -> bool {
    let read = Subject { action: Action::Read, path: Some(path), ..*subject };
    !path.is_root() && explain(policy, &read).decision.verdict == Verdict::Deny
}

/// Lists the sessions of a caller in which standing approvals allow a call that is asked about without them.
pub fn allowing_sessions(
    (workspace, doubt): (&WorkspaceState, Option<&ReadingDoubt>),
    tool: &str,
    arguments: &Map<String, Value>,
    caller: &str,
) -> Vec<String> {
    let allows = |session_id: &String| {
        let session = SessionKey { caller: caller.to_owned(), session_id: session_id.clone() };
        let explained = call((workspace, doubt), tool, arguments.clone(), caller, Some(&session));
        let is_allowed = |step: &Explanation| step.decision.verdict == Verdict::Allow;
        explained.is_ok_and(|steps| steps.iter().all(is_allowed))
    };
    let approved = workspace.answers.sessions_of(tool, caller, Timestamp::now());
    approved.into_iter().take(SESSIONS_MAX).filter(allows).collect()
}

/// The standing approvals that count for a call. What cannot be undone is asked about each time.
fn approvals_of(
    workspace: &WorkspaceState,
    situation: Situation<'_>,
    arguments: &Value,
) -> Vec<Arc<StandingApproval>> {
    let is_permanent = arguments.get("permanent") == Some(&Value::Bool(true));
    workspace.answers.reload();
    let answers = workspace.answers.in_effect(situation, Timestamp::now());
    if is_permanent { Vec::new() } else { answers }
}

/// Running a part of a command in its directory, as far as that is known, and what the shell does to the files that it opens for it, under each of their
/// names.
fn part_steps<'p>(
    files: &Workspace,
    (part, directory): (&'p CommandPart, Option<&RelPath>),
    opened: &[ShellFile],
) -> Vec<ExplainedStep<'p>> {
    let names = directory.map(|directory| (directory.clone(), None)).into_iter().collect();
    let mut steps = vec![ExplainedStep { action: Action::Exec, command: Some(part), names }];
    for file in opened {
        let other = Some(&file.asked).filter(|asked| **asked != file.real);
        steps.extend([Some(&file.real), other].into_iter().flatten().map(|path| {
            let protection = files.protection(path).map(self::protection);
            let names = vec![(path.clone(), protection)];
            ExplainedStep { action: file.action, command: None, names }
        }));
    }
    steps
}

fn plugin_change(
    workspace: &WorkspaceState,
    tool: &str,
    caller: &str,
    session: Option<&SessionKey>,
) -> Explanation {
    let asker = Asker { tool, plugin: None, caller };
    let situation = Situation { asker, component: None, session };
    workspace.answers.reload();
    let answers = workspace.answers.in_effect(situation, Timestamp::now());
    let subject = Subject {
        answers: &answers,
        ..Subject::of(Action::Register, (tool, Effect::Write), caller)
    };
    explain(&workspace.policy.load(), &subject)
}

/// One effect of a call.
struct ExplainedStep<'a> {
    action: Action,
    command: Option<&'a CommandPart>,
    /// The names of what it is done to, each with what protects it: rules for any of them count.
    names: Vec<(RelPath, Option<Protection>)>,
}

struct ExplainedFile {
    path: RelPath,
    /// The name that it was asked for under.
    asked: RelPath,
    /// Why it is protected beside its names.
    beside: Option<moss_workspace::Protection>,
    /// Whether its content is known to be public: less holds against reading it then.
    is_public: bool,
    exists: bool,
    /// Whether a rule denies it to readers: a call of a tool of moss ends there, and the same whether it is there or
    /// not.
    is_hidden: bool,
    /// The size of its content; none where it is no file that can be opened.
    size_bytes: Option<u64>,
}

impl ExplainedFile {
    /// What holds against an action under one of its names.
    fn protection(&self, files: &Workspace, name: &RelPath, action: Action) -> Option<Protection> {
        let is_read = action == Action::Read;
        let named = match is_read && self.is_public {
            true => files.protection_of_public(name),
            false => files.protection(name),
        };
        // What is around a file is of no concern to readers.
        let is_secret = self.beside == Some(moss_workspace::Protection::Secret);
        named.max(self.beside.filter(|_| !is_read || is_secret)).map(protection)
    }

    /// Its names, the real one first, each with what holds against an action.
    fn names(&self, files: &Workspace, action: Action) -> Vec<(RelPath, Option<Protection>)> {
        let asked = Some(&self.asked).filter(|asked| **asked != self.path);
        let names = [Some(&self.path), asked].into_iter().flatten();
        names.map(|name| (name.clone(), self.protection(files, name, action))).collect()
    }
}

/// The directory in which a tool would run a command; none where it is the root.
fn directory_of(arguments: &Value) -> Option<(&'static str, &str)> {
    let named = arguments.get("cwd")?.as_str()?.trim_end_matches('/');
    (!named.is_empty()).then_some(("cwd", named))
}

/// The file that a tool acts on, with the parameter that names it.
fn path_of(arguments: &Value) -> Option<(&'static str, &str)> {
    PATH_PARAMETERS.iter().find_map(|name| Some((*name, arguments.get(name)?.as_str()?)))
}

/// The size of the new content, where the arguments determine it.
fn size_of(entry: &CatalogEntry, arguments: &Value) -> Option<u64> {
    let is_whole = entry.plugin().is_none() && entry.spec.name == "create_file";
    let content = arguments.get("content").filter(|_| is_whole)?.as_str()?;
    Some(content.len() as u64)
}

/// The size that a file of moss's tools would have once it is edited, as far as the arguments let expect it: its
/// own and that of every text in them. What a `reapply` brings back is in none.
fn expected_size(entry: &CatalogEntry, arguments: &Value, file: &ExplainedFile) -> Option<u64> {
    if entry.plugin().is_some() || entry.spec.name == "reapply" {
        return None;
    }
    let texts = arguments.as_object()?.values().filter_map(Value::as_str);
    Some(texts.fold(file.size_bytes?, |sum, text| sum.saturating_add(text.len() as u64)))
}

/// What a parameter names. Of what a rule denies to readers nothing is said but its name.
fn find(
    files: &Workspace,
    (policy, subject): (&Policy, &Subject<'_>),
    (parameter, text): (&str, &str),
) -> Result<ExplainedFile, CallError> {
    let refused = |error: moss_workspace::Error| {
        CallError::Invalid(vec![Violation {
            pointer: format!("/{parameter}"),
            expected: "a path inside the workspace".to_owned(),
            got: moss_sdk::ToolError::from(error).to_string(),
            suggestion: None,
        }])
    };
    let asked = files.path(text).map_err(refused)?;
    let resolved = files.resolve(&asked);
    let real = resolved.as_ref().ok().map(|found| &found.path);
    let hides = |name: &&RelPath| is_hidden((policy, subject), name);
    let on_way = match &resolved {
        Ok(found) if found.kind.is_some() => Vec::new(),
        _ => names_on_way(files, &asked),
    };
    let hidden = [Some(&asked), real].into_iter().flatten().chain(&on_way).find(hides).cloned();
    let mut file = ExplainedFile {
        path: asked.clone(),
        asked,
        beside: None,
        is_public: false,
        exists: false,
        is_hidden: hidden.is_some(),
        size_bytes: None,
    };
    if let Some(path) = hidden {
        file.path = path;
        return Ok(file);
    }
    let resolved = resolved.map_err(refused)?;
    file.beside = files.protection_beside_names(&resolved);
    file.exists = resolved.kind.is_some();
    file.path = resolved.path;
    let opened = files.open_for_reading(&file.asked).ok();
    file.size_bytes = opened.as_ref().map(moss_workspace::OpenedFile::size_bytes);
    let names = file.names(files, Action::Read);
    let each = names.iter().map(|(path, protection)| {
        let named = Subject { path: Some(path), protection: *protection, ..*subject };
        explain(policy, &Subject { action: Action::Read, ..named })
    });
    let decision = each.reduce(stricter).expect("a file has a name").decision;
    // A call looks at the content of no other file to decide about it.
    let by_name = decision.verdict == Verdict::Deny && decision.rule.layer == Layer::Protected;
    let secret = Some(moss_workspace::Protection::Secret);
    let is_secret = |(name, _): &(RelPath, _)| files.protection_of_public(name) == secret;
    file.is_public = by_name
        && !names.iter().any(is_secret)
        && opened.as_ref().is_some_and(|opened| opened.is_public());
    Ok(file)
}

/// The effects that a call of this tool has, in their order. What a plugin reads is known by what was granted to it;
/// its edits are written by name, also where nobody reads, as if nothing were there.
fn actions(entry: &CatalogEntry, file: Option<&ExplainedFile>) -> Vec<Action> {
    let exists = file.is_some_and(|file| file.exists);
    let mut actions = vec![Action::Call];
    let (reads, is_hidden) = match &entry.runner {
        Runner::Native(_) => {
            let is_hidden = file.is_some_and(|file| file.is_hidden);
            let lists = LISTING_TOOLS.contains(&entry.spec.name.as_str());
            (file.is_some() && !lists, is_hidden)
        }
        Runner::Plugin(plugin) => {
            // What a link leads to has to be granted, too.
            let is_granted = |file: &ExplainedFile| {
                [&file.asked, &file.path].into_iter().all(|path| plugin.may_read(path))
            };
            (file.is_some_and(is_granted), false)
        }
    };
    match entry.spec.effect {
        _ if is_hidden => actions.push(Action::Read),
        Effect::Read if reads => actions.push(Action::Read),
        Effect::Read => {}
        Effect::Write => {
            if exists {
                actions.push(Action::Read);
            }
            actions.push(match entry.spec.name.as_str() {
                "moss_register_plugin_tool" => Action::Register,
                "moss_update_asi_user_prompt" => Action::Configure,
                "delete_file" => Action::Delete,
                _ if exists => Action::Modify,
                _ => Action::Create,
            });
        }
        Effect::Exec => actions.push(Action::Exec),
    }
    actions
}
