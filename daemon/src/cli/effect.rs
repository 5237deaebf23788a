//! An effect as a person is shown it before answering: what, exactly, and which rule asks.

use std::fmt::Write as _;

use moss_proto::v1;

use super::ui::{bold, yellow};
use super::{diff, text};

/// Shows what a confirmation is about.
pub(super) fn confirmation(confirmation: &v1::Confirmation) -> String {
    let mut shown = String::new();
    let plugin = match confirmation.plugin.as_str() {
        "" => String::new(),
        plugin => format!(" of the plugin {}", text::line(plugin)),
    };
    let what = match confirmation.changes.len() {
        0 => "needs a confirmation".to_owned(),
        1 => "wants to change 1 file".to_owned(),
        count => format!("wants to change {count} files"),
    };
    let heading = format!("{}{plugin} {what}", text::line(&confirmation.tool));
    let _ = writeln!(shown, "{}\n", bold(heading));
    shown.push_str(&changes(&confirmation.changes));
    if !confirmation.arguments_json.is_empty() {
        let _ = writeln!(shown, "arguments: {}", text::json(&confirmation.arguments_json));
    }
    if confirmation.protected {
        let _ = writeln!(shown, "{}", yellow("a protected name is among them"));
    }
    let _ = writeln!(shown, "rule: {}", text::line(&confirmation.rule));
    let _ = write!(shown, "digest: {}", text::line(&confirmation.digest));
    shown
}

/// Shows file changes: the diff of each, or what there is in its place.
pub(super) fn changes(changes: &[v1::FileChange]) -> String {
    let mut shown = String::new();
    for change in changes {
        if !change.diff.starts_with("---") {
            let _ = writeln!(shown, "{} {}", verb(change), bold(text::line(&change.path)));
        }
        shown.push_str(&diff::colored(&change.diff));
        if change.unsaved {
            let note = match change.status() {
                v1::ChangeStatus::Committed => "changed in an editor, where it was not saved",
                _ => "not saved: its editor is asked to change it, the file stays as it is",
            };
            let _ = writeln!(shown, "{}", yellow(note));
        }
        shown.push('\n');
    }
    shown
}

/// Tells in one line what became of a change, for example `modified src/a.rs (+1 -2)`.
pub(super) fn summary(change: &v1::FileChange) -> String {
    format!(
        "{} {} (+{} -{})",
        done(change),
        text::line(&change.path),
        change.lines_added,
        change.lines_removed
    )
}

fn verb(change: &v1::FileChange) -> &'static str {
    match change.action() {
        v1::ChangeAction::Create => "create",
        v1::ChangeAction::Delete => "delete",
        v1::ChangeAction::Modify | v1::ChangeAction::Unspecified => "modify",
    }
}

fn done(change: &v1::FileChange) -> &'static str {
    match change.action() {
        v1::ChangeAction::Create => "created",
        v1::ChangeAction::Delete => "deleted",
        v1::ChangeAction::Modify | v1::ChangeAction::Unspecified => "modified",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_an_effect_reaches_the_terminal_unescaped() {
        let evil = "\u{1b}[2J\u{202e}".to_owned();
        let shown = confirmation(&v1::Confirmation {
            tool: evil.clone(),
            plugin: evil.clone(),
            rule: evil.clone(),
            digest: evil.clone(),
            arguments_json: evil.clone(),
            changes: vec![v1::FileChange {
                path: evil.clone(),
                diff: format!("binary {evil}"),
                ..v1::FileChange::default()
            }],
            ..v1::Confirmation::default()
        });
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
    }
}
