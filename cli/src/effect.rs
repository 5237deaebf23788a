//! An effect as a person is shown it before deciding: what, exactly, and which rule asks.

use std::fmt::Write as _;

use moss_proto::v1;
use moss_sdk::edit::MatchLevel;

use super::plugin::described;
use super::ui::{bold, dim, yellow};
use super::wording::{ChangeVerbs, EffectWording, Wording};
use super::{diff, text};

/// The source of diagnostics of the parser.
const SYNTAX_SOURCE: &str = "syntax";

/// Shows what is asked, to be read before it is decided.
pub(super) fn confirmation(wording: &Wording, confirmation: &v1::Confirmation) -> String {
    let words = &wording.effect;
    let mut shown = String::new();
    let plugin = match confirmation.plugin.as_str() {
        "" => String::new(),
        plugin => (words.of_plugin)(&text::line(plugin)),
    };
    let consent = confirmation.consent.as_ref();
    let fetches = consent.is_some_and(|consent| consent.kind() == v1::ConsentKind::Fetch);
    let asked = confirmation.command.as_ref();
    let what = match confirmation.changes.len() {
        _ if fetches => words.wants_to_fetch.to_owned(),
        _ if confirmation.registers => words.wants_to_change_list.to_owned(),
        _ if asked.is_some_and(|asked| asked.input) => words.wants_to_write_input.to_owned(),
        _ if asked.is_some() => words.wants_to_run.to_owned(),
        _ if confirmation.embedding.is_some() => words.wants_to_embed.to_owned(),
        0 => words.needs_confirmation.to_owned(),
        count => (words.wants_to_change_files)(count),
    };
    let heading = format!("{}{plugin} {what}", text::line(&confirmation.tool));
    let _ = writeln!(shown, "{}\n", bold(heading));
    shown.push_str(&changes(wording, &confirmation.changes));
    if let Some(consent) = consent {
        shown.push_str(&described::change(&wording.plugin, consent));
    } else if let Some(asked) = asked {
        shown.push_str(&command(words, asked));
    } else if let Some(asked) = &confirmation.embedding {
        let (url, model) = (text::line(&asked.url), text::line(&asked.model));
        let _ =
            writeln!(shown, "  {}\n{}\n", bold(&url), (words.embeds)(&model, asked.this_machine));
    } else if !confirmation.arguments_json.is_empty() {
        let _ = writeln!(shown, "{} {}", words.arguments, text::json(&confirmation.arguments_json));
    }
    if confirmation.protected {
        let _ = writeln!(shown, "{}", yellow(words.protected));
    }
    if confirmation.for_person {
        let _ = writeln!(shown, "{}", yellow(words.for_person));
    }
    if confirmation.truncated {
        let told = match confirmation.id.as_str() {
            "" => words.truncated.to_owned(),
            id => (words.truncated_see)(&text::line(id)),
        };
        let _ = writeln!(shown, "{}", yellow(told));
    }
    let _ =
        writeln!(shown, "{} {}", words.rule, text::line(&(words.rule_text)(&confirmation.rule)));
    let _ = write!(shown, "{}", digest(wording, &confirmation.digest));
    shown
}

/// Shows a command: the text, where it runs and what it may do, then each simple command in it.
fn command(words: &EffectWording, asked: &v1::CommandQuestion) -> String {
    let mut shown = String::new();
    for line in asked.command.lines() {
        let _ = writeln!(shown, "  {}", bold(text::line(line)));
    }
    let (directory, profile) = (text::line(&asked.directory), text::line(&asked.profile));
    let surroundings =
        (words.runs_in)(&directory, &profile, asked.network, &text::line(&asked.tier));
    let _ = writeln!(shown, "{surroundings}");
    for (granted, names) in
        [(words.is_given, &asked.environment), (words.connects_to, &asked.sockets)]
    {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(|name| text::line(name)).collect();
            let _ = writeln!(shown, "{}", yellow(format!("{granted} {}", names.join(", "))));
        }
    }
    if asked.background && !asked.input {
        let _ = writeln!(shown, "{}", words.in_background);
    }
    shown.push('\n');
    for part in &asked.parts {
        let mark = if part.asks { yellow("?") } else { " ".to_owned() };
        let via: String = part.via.iter().map(|via| format!("{} → ", text::line(via))).collect();
        let _ = writeln!(shown, "{mark} {via}{}", text::line(&part.text));
        for file in &part.writes {
            let _ = writeln!(shown, "    {} {}", words.writes, text::line(file));
        }
        if part.asks {
            let _ = writeln!(shown, "    {}", dim(text::line(&(words.rule_text)(&part.rule))));
        }
    }
    shown.push('\n');
    shown
}

/// Shows the digest of an effect.
pub(super) fn digest(wording: &Wording, digest: &str) -> String {
    format!("{} {}", wording.effect.digest, text::line(digest))
}

/// Shows file changes: first the lines that are not as an edit says, then the diff of each, or what
/// there is in its place.
pub(super) fn changes(wording: &Wording, changes: &[v1::FileChange]) -> String {
    let words = &wording.effect;
    let mut shown: String = changes.iter().map(|change| drift(words, change)).collect();
    for change in changes {
        if let Some(found) = found(words, &change.match_level) {
            let _ = writeln!(shown, "{}", dim(found));
        }
        if !change.real_path.is_empty() {
            let (path, real) = (text::line(&change.path), text::line(&change.real_path));
            let _ = writeln!(shown, "{}", yellow((words.is_link)(&path, &real)));
        }
        if !change.diff.starts_with("---") {
            let verb = verb(&words.verbs, change);
            let _ = writeln!(shown, "{verb} {}", bold(text::line(&change.path)));
        }
        shown.push_str(&diff::colored(&change.diff));
        shown.push_str(&broken(words, change));
        if change.unsaved {
            let note = match change.status() {
                v1::ChangeStatus::Committed => words.changed_unsaved,
                _ => words.unsaved,
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

/// Shows what does not parse after a change, what linters find in it, and which of them did not look;
/// nothing where all is as before.
fn broken(words: &EffectWording, change: &v1::FileChange) -> String {
    let path = text::line(&change.path);
    let is_syntax = |found: &&v1::ChangeDiagnostic| found.source == SYNTAX_SOURCE;
    let (unparsed, linted): (Vec<_>, Vec<_>) = change.diagnostics.iter().partition(is_syntax);
    // What a grammar may only not know is a warning.
    let breaks = match unparsed.iter().any(|found| found.severity == "error") {
        true => words.breaks,
        false => words.may_break,
    };
    let mut shown = String::new();
    for (found, heading) in [(unparsed, breaks), (linted, words.lints)] {
        if !found.is_empty() {
            let _ = writeln!(shown, "{}", yellow(bold(heading(&path, found.len()))));
        }
        for found in found {
            let v1::ChangeDiagnostic { line, column, message, source, severity, code } = found;
            let message = text::line(message);
            let _ = match (source.as_str(), code.as_str()) {
                (SYNTAX_SOURCE, _) => writeln!(shown, "  {line}:{column}: {message}"),
                (_, "") => {
                    let source = text::line(source);
                    writeln!(shown, "  {line}:{column}: {severity}: {message} ({source})")
                }
                (_, code) => {
                    let (source, code) = (text::line(source), text::line(code));
                    writeln!(shown, "  {line}:{column}: {severity}: {message} ({source}: {code})")
                }
            };
        }
    }
    for unchecked in &change.unchecked {
        let _ = writeln!(shown, "{}", yellow((words.unchecked)(&path, &text::line(unchecked))));
    }
    shown
}

/// Shows the lines of a change that are not as its edit says; nothing where all are.
fn drift(words: &EffectWording, change: &v1::FileChange) -> String {
    let mut shown = String::new();
    let total = change.drift.len() as u64 + change.drift_omitted;
    if total == 0 {
        return shown;
    }
    let heading = (words.drift)(&text::line(&change.path), total);
    let _ = writeln!(shown, "{}", yellow(bold(heading)));
    for v1::Drift { line, expected, found } in &change.drift {
        let _ = writeln!(shown, "  {}", (words.line)(*line));
        let _ = writeln!(shown, "    {} {}", words.expected, text::line(expected));
        let _ = writeln!(shown, "    {} {}", words.actual, text::line(found));
    }
    match change.drift_omitted {
        0 => {}
        more => {
            let _ = writeln!(shown, "  {}", (words.more_lines)(more));
        }
    }
    shown.push('\n');
    shown
}

/// Says how a searched text was found; nothing where it was there character for character, or
/// nothing was searched for.
fn found(words: &EffectWording, level: &str) -> Option<String> {
    match MatchLevel::parse(level) {
        Some(level) => (words.found)(level).map(ToOwned::to_owned),
        None if level.is_empty() => None,
        None => Some((words.found_by)(&text::line(level))),
    }
}

/// Says in one line what became of a change, for example `modified src/a.rs (+1 -2)`.
pub(super) fn summary(wording: &Wording, change: &v1::FileChange) -> String {
    format!(
        "{} {} (+{} -{})",
        verb(&wording.effect.done, change),
        text::line(&change.path),
        change.lines_added,
        change.lines_removed
    )
}

fn verb(verbs: &ChangeVerbs, change: &v1::FileChange) -> &'static str {
    match change.action() {
        v1::ChangeAction::Create => verbs.create,
        v1::ChangeAction::Delete => verbs.delete,
        v1::ChangeAction::Modify | v1::ChangeAction::Unspecified => verbs.modify,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::EN;

    #[test]
    fn nothing_of_an_effect_reaches_the_terminal_unescaped() {
        let evil = "\u{1b}[2J\u{202e}".to_owned();
        let shown = confirmation(
            &EN,
            &v1::Confirmation {
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
            },
        );
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
    }

    #[test]
    fn a_command_is_shown_part_by_part_and_unescaped_nothing() {
        let evil = "\u{1b}[2J\u{202e}".to_owned();
        let part = |text: &str, asks| v1::AskedCommand {
            text: text.to_owned(),
            via: vec!["env".to_owned()],
            asks,
            rule: "because".to_owned(),
            writes: vec!["out".to_owned()],
        };
        let asked = v1::CommandQuestion {
            command: format!("ls\nrm x{evil}"),
            directory: ".".to_owned(),
            profile: "workspace-write".to_owned(),
            network: false,
            tier: "full".to_owned(),
            parts: vec![part("ls", false), part("rm x", true), part(&evil, true)],
            background: true,
            input: false,
            optional: false,
            environment: vec!["NPM_TOKEN".to_owned(), evil.clone()],
            sockets: vec!["SSH_AUTH_SOCK".to_owned()],
        };
        let shown = command(&EN.effect, &asked);
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert!(shown.contains("  env → ls\n    writes out\n? env → rm x\n"), "{shown}");
        assert!(shown.contains("no network") && shown.contains("because"), "{shown}");
        assert!(shown.contains("is given NPM_TOKEN, "), "{shown}");
        assert!(shown.contains("may connect to SSH_AUTH_SOCK\n"), "{shown}");
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
        let shown = changes(&EN, &[plain.clone(), drifted, cut]);
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
            super::changes(&EN, &[plain]),
            super::changes(
                &EN,
                &[v1::FileChange {
                    path: "a".into(),
                    diff: diff("a"),
                    ..v1::FileChange::default()
                }]
            )
        );
    }

    #[test]
    fn level_of_a_newer_moss_is_named() {
        let found = found(&EN.effect, "of_tomorrow");
        assert_eq!(found.as_deref(), Some("the text was found by of_tomorrow"));
    }
}
