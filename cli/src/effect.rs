//! An effect as a person is shown it before answering: what, exactly, and which rule asks.

use std::fmt::Write as _;

use moss_proto::v1;
use moss_sdk::edit::MatchLevel;

use super::plugin::described;
use super::ui::{bold, dim, yellow};
use super::{diff, text};

/// Shows a confirmation.
pub(super) fn confirmation(confirmation: &v1::Confirmation) -> String {
    let mut shown = String::new();
    let plugin = match confirmation.plugin.as_str() {
        "" => String::new(),
        plugin => format!(" of the plugin {}", text::line(plugin)),
    };
    let consent = confirmation.consent.as_ref();
    let fetches = consent.is_some_and(|consent| consent.kind() == v1::ConsentKind::Fetch);
    let what = match confirmation.changes.len() {
        _ if fetches => "wants to fetch a plugin".to_owned(),
        _ if confirmation.registers => "wants to change a list of plugins".to_owned(),
        0 => "needs a confirmation".to_owned(),
        1 => "wants to change 1 file".to_owned(),
        count => format!("wants to change {count} files"),
    };
    let heading = format!("{}{plugin} {what}", text::line(&confirmation.tool));
    let _ = writeln!(shown, "{}\n", bold(heading));
    shown.push_str(&changes(&confirmation.changes));
    if let Some(consent) = consent {
        shown.push_str(&described::change(consent));
    } else if !confirmation.arguments_json.is_empty() {
        let _ = writeln!(shown, "arguments: {}", text::json(&confirmation.arguments_json));
    }
    if confirmation.protected {
        let _ = writeln!(shown, "{}", yellow("includes a protected name"));
    }
    if confirmation.truncated {
        let told = match confirmation.id.as_str() {
            "" => "not all of it is shown".to_owned(),
            id => format!("not all of it is shown: `moss confirm show {} --full`", text::line(id)),
        };
        let _ = writeln!(shown, "{}", yellow(told));
    }
    let _ = writeln!(shown, "rule: {}", text::line(&confirmation.rule));
    let _ = write!(shown, "digest: {}", text::line(&confirmation.digest));
    shown
}

/// Shows file changes: first the lines that are not as an edit says, then the diff of each, or what
/// there is in its place.
pub(super) fn changes(changes: &[v1::FileChange]) -> String {
    let mut shown: String = changes.iter().map(drift).collect();
    for change in changes {
        if let Some(found) = found(&change.match_level) {
            let _ = writeln!(shown, "{}", dim(format!("the text was found {found}")));
        }
        if !change.real_path.is_empty() {
            let (path, real) = (text::line(&change.path), text::line(&change.real_path));
            let _ = writeln!(shown, "{}", yellow(format!("{path} is a link: the file is {real}")));
        }
        if !change.diff.starts_with("---") {
            let _ = writeln!(shown, "{} {}", verb(change), bold(text::line(&change.path)));
        }
        shown.push_str(&diff::colored(&change.diff));
        if change.unsaved {
            let note = match change.status() {
                v1::ChangeStatus::Committed => "changed in an editor, not saved",
                _ => "not saved: its editor is asked to apply the change, the file stays as it is",
            };
            let _ = writeln!(shown, "{}", yellow(note));
        }
        shown.push('\n');
    }
    shown
}

/// Whether something of changes was left out because it is too long.
pub(super) fn is_cut(changes: &[v1::FileChange]) -> bool {
    changes.iter().any(|change| change.diff_omitted_bytes > 0 || change.drift_omitted > 0)
}

/// Shows the lines of a change that are not as its edit says; nothing where all are.
fn drift(change: &v1::FileChange) -> String {
    let mut shown = String::new();
    let total = change.drift.len() as u64 + change.drift_omitted;
    if total == 0 {
        return shown;
    }
    let path = text::line(&change.path);
    let what = match total {
        1 => "1 line that differs from what it expects".to_owned(),
        _ => format!("{total} lines that differ from what it expects"),
    };
    let _ = writeln!(shown, "{}", yellow(bold(format!("{path}: the edit changes {what}"))));
    for v1::Drift { line, expected, found } in &change.drift {
        let _ = writeln!(shown, "  line {line}");
        let _ = writeln!(shown, "    expected: {}", text::line(expected));
        let _ = writeln!(shown, "    found:    {}", text::line(found));
    }
    match change.drift_omitted {
        0 => {}
        more => {
            let _ = writeln!(shown, "  and {more} more, not shown");
        }
    }
    shown.push('\n');
    shown
}

/// Says how a searched text was found; nothing where it was there character for character, or
/// nothing was searched for.
fn found(level: &str) -> Option<String> {
    let words = match MatchLevel::parse(level) {
        Some(MatchLevel::Exact) => return None,
        Some(MatchLevel::LineTrimmed) => "without the white space around its lines",
        Some(MatchLevel::WhitespaceNormalized) => "with other white space",
        Some(MatchLevel::IndentFlexible) => "with other indentation, or blank lines more or fewer",
        Some(MatchLevel::EscapeNormalized) => "once its escape sequences were undone",
        Some(MatchLevel::TrimmedBoundary) => "without the white space around it",
        Some(MatchLevel::UnicodeNormalized) => "with other quotes, dashes or blanks",
        Some(MatchLevel::BlockAnchor) => {
            "by its first and last line; the lines between are only alike"
        }
        Some(MatchLevel::ContextAware) => "where its lines are only alike",
        None if level.is_empty() => return None,
        None => return Some(format!("by {}", text::line(level))),
    };
    Some(words.to_owned())
}

/// Says in one line what became of a change, for example `modified src/a.rs (+1 -2)`.
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
                match_level: evil.clone(),
                drift: vec![v1::Drift { line: 1, expected: evil.clone(), found: evil }],
                ..v1::FileChange::default()
            }],
            ..v1::Confirmation::default()
        });
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
    }

    #[test]
    fn lines_that_are_not_as_an_edit_says_come_before_all_diffs() {
        let diff = |path: &str| format!("--- a/{path}\n+++ b/{path}\n");
        let drift = v1::Drift { line: 3, expected: "\ty := 99".into(), found: "\ty := 2".into() };
        let plain = v1::FileChange {
            path: "a".into(),
            diff: diff("a"),
            match_level: "exact".into(),
            ..v1::FileChange::default()
        };
        let drifted = v1::FileChange {
            path: "b".into(),
            diff: diff("b"),
            match_level: "block_anchor".into(),
            drift: vec![drift],
            ..v1::FileChange::default()
        };
        let cut = v1::FileChange { path: "c".into(), drift_omitted: 2, ..drifted.clone() };
        let shown = changes(&[plain.clone(), drifted, cut]);
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert_eq!(
            shown,
            "b: the edit changes 1 line that differs from what it expects\n  \
               line 3\n    \
                 expected: \\ty := 99\n    \
                 found:    \\ty := 2\n\n\
             c: the edit changes 3 lines that differ from what it expects\n  \
               line 3\n    \
                 expected: \\ty := 99\n    \
                 found:    \\ty := 2\n  \
               and 2 more, not shown\n\n\
             --- a/a\n+++ b/a\n\n\
             the text was found by its first and last line; the lines between are only alike\n\
             --- a/b\n+++ b/b\n\n\
             the text was found by its first and last line; the lines between are only alike\n\
             --- a/b\n+++ b/b\n\n"
        );
        assert_eq!(
            super::changes(&[plain]),
            super::changes(&[v1::FileChange {
                path: "a".into(),
                diff: diff("a"),
                ..v1::FileChange::default()
            }])
        );
    }

    #[test]
    fn every_weaker_level_has_its_words() {
        for level in MatchLevel::ALL {
            let words = found(level.as_str());
            assert_eq!(words.is_none(), level == MatchLevel::Exact, "{level}");
            assert!(words.is_none_or(|words| !words.contains('_')), "{level}");
        }
        assert_eq!(found("of_tomorrow").as_deref(), Some("by of_tomorrow"));
    }
}
