//! What a person at the terminal is asked, and what became of it, in the person's language: one table for
//! each. Help, errors, logs and everything that programs read stay English.

mod en;
mod zh;

use moss_sdk::edit::MatchLevel;

pub(super) use self::en::EN;
use self::zh::ZH;

/// The variables that name the language of messages, the strongest first, as POSIX orders them.
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// All that is said in one language.
#[derive(Debug)]
pub(super) struct Wording {
    pub(super) effect: EffectWording,
    pub(super) prompt: PromptWording,
    pub(super) plugin: PluginWording,
    pub(super) setup: SetupWording,
    pub(super) job: JobWording,
}

/// An effect, and what became of it.
#[derive(Debug)]
pub(super) struct EffectWording {
    /// Of a tool: the plugin that has it.
    pub(super) of_plugin: fn(&str) -> String,
    pub(super) wants_to_fetch: &'static str,
    pub(super) wants_to_change_list: &'static str,
    pub(super) wants_to_run: &'static str,
    pub(super) wants_to_embed: &'static str,
    /// By which model, and whether on this machine.
    pub(super) embeds: fn(&str, bool) -> String,
    /// Of a text for the standard input of a command that runs.
    pub(super) wants_to_write_input: &'static str,
    pub(super) in_background: &'static str,
    /// The directory, what may be written, whether the network is on, how well it is isolated.
    pub(super) runs_in: fn(&str, &str, bool, &str) -> String,
    /// Before the variables that a command is given by a rule.
    pub(super) is_given: &'static str,
    /// Before the sockets that a rule lets it connect to.
    pub(super) connects_to: &'static str,
    /// Before a file that the shell writes.
    pub(super) writes: &'static str,
    pub(super) needs_confirmation: &'static str,
    pub(super) wants_to_change_files: fn(usize) -> String,
    pub(super) arguments: &'static str,
    pub(super) protected: &'static str,
    pub(super) for_person: &'static str,
    pub(super) truncated: &'static str,
    /// As `truncated`, with the command that shows all.
    pub(super) truncated_see: fn(&str) -> String,
    pub(super) rule: &'static str,
    /// The text of a rule as the policy has it.
    pub(super) rule_text: fn(&str) -> String,
    pub(super) digest: &'static str,
    /// How a searched text was found; none where it was there character for character.
    pub(super) found: fn(MatchLevel) -> Option<&'static str>,
    /// As `found`, for a level that only a newer moss knows.
    pub(super) found_by: fn(&str) -> String,
    pub(super) is_link: fn(&str, &str) -> String,
    pub(super) verbs: ChangeVerbs,
    pub(super) done: ChangeVerbs,
    pub(super) unsaved: &'static str,
    pub(super) changed_unsaved: &'static str,
    /// Lines of a file that differ from what an edit expects.
    pub(super) drift: fn(&str, u64) -> String,
    pub(super) line: fn(u64) -> String,
    pub(super) expected: &'static str,
    pub(super) actual: &'static str,
    pub(super) more_lines: fn(u64) -> String,
    /// Places of a file that do not parse after a change.
    pub(super) breaks: fn(&str, usize) -> String,
    /// What may not parse in a file after a change.
    pub(super) may_break: fn(&str, usize) -> String,
    /// What linters find in a file after a change.
    pub(super) lints: fn(&str, usize) -> String,
    /// A linter that did not check a file, and why.
    pub(super) unchecked: fn(&str, &str) -> String,
    pub(super) nothing_changed: &'static str,
    pub(super) undo_with: fn(u64) -> String,
    /// Of an image beside the output: its kind, its size in pixels and in bytes.
    pub(super) shows_image: fn(&str, (u32, u32), &str) -> String,
}

/// What is done to a file.
#[derive(Debug)]
pub(super) struct ChangeVerbs {
    pub(super) create: &'static str,
    pub(super) modify: &'static str,
    pub(super) delete: &'static str,
}

/// Questions and how they are decided. The letters in brackets are the same in every language.
#[derive(Debug)]
pub(super) struct PromptWording {
    pub(super) apply: &'static str,
    pub(super) proceed: &'static str,
    pub(super) yes_or_no: &'static str,
    pub(super) with_a_reason: &'static str,
    pub(super) for_session: &'static str,
    pub(super) always: &'static str,
    /// What is asked when the rule of a standing approval was shown.
    pub(super) remember: &'static str,
    pub(super) remembered: fn(&str) -> String,
    pub(super) applies_once: fn(&str) -> String,
    pub(super) warning: &'static str,
    pub(super) more: &'static str,
    pub(super) rest_not_shown: &'static str,
    pub(super) reply: &'static str,
    pub(super) choose: &'static str,
    pub(super) waiting_for: fn(&str) -> String,
    pub(super) decided_elsewhere: &'static str,
    pub(super) cannot_decide: &'static str,
    pub(super) confirmation: &'static str,
    /// The workspace, the caller, the expiry.
    pub(super) origin: fn(&str, &str, &str) -> String,
    pub(super) remember_allows: fn(&str) -> String,
}

/// Putting moss into the configuration of a client.
#[derive(Debug)]
pub(super) struct SetupWording {
    /// The title of the client.
    pub(super) forms: fn(&str) -> String,
    pub(super) use_forms: &'static str,
    pub(super) write: &'static str,
    pub(super) nobody: &'static str,
}

/// Commands in the background.
#[derive(Debug)]
pub(super) struct JobWording {
    pub(super) running: &'static str,
    pub(super) waits: &'static str,
    pub(super) exited: fn(i32) -> String,
    pub(super) killed: fn(i32) -> String,
    pub(super) ended: &'static str,
    /// Before what it asks.
    pub(super) asks: &'static str,
    /// What ended it, where it did not end by itself.
    pub(super) ended_by: fn(&str) -> String,
    pub(super) stopped: fn(&str) -> String,
    pub(super) does_not_end: fn(&str) -> String,
}

/// Changes of a list of plugins.
#[derive(Debug)]
pub(super) struct PluginWording {
    pub(super) add: fn(&str, &str) -> String,
    pub(super) replace: fn(&str, &str) -> String,
    pub(super) accept: fn(&str, &str) -> String,
    pub(super) remove: fn(&str, &str) -> String,
    pub(super) trust: fn(&str) -> String,
    pub(super) untrust: fn(&str) -> String,
    pub(super) fetch: fn(&str, &str) -> String,
    pub(super) of_newer_moss: fn(&str) -> String,
    pub(super) reason: &'static str,
    pub(super) stored_keys: fn(u64, bool) -> String,
    pub(super) since_trusted: &'static str,
    pub(super) list_unchanged: &'static str,
    pub(super) source: &'static str,
    pub(super) sha256: &'static str,
    pub(super) file_sha256: &'static str,
    pub(super) pinned: &'static str,
    pub(super) signed_by: &'static str,
    pub(super) problem: &'static str,
    pub(super) not_pinned: fn(&str) -> String,
    pub(super) granted: &'static str,
    pub(super) limits: &'static str,
    pub(super) settings: &'static str,
    pub(super) tools: &'static str,
    pub(super) left_out: &'static str,
    pub(super) requested: &'static str,
    pub(super) may: &'static str,
    pub(super) nothing: &'static str,
    pub(super) without_effect: &'static str,
    pub(super) may_not: &'static str,
    /// What an administrator cuts off.
    pub(super) capped: &'static str,
    /// Why something is not granted that was asked for, with a grant of all that is.
    pub(super) withheld: &'static str,
    pub(super) only_code: &'static str,
    pub(super) differences: &'static str,
    pub(super) texts_since: &'static str,
    /// The name that a tool has in its plugin.
    pub(super) own_name: fn(&str) -> String,
    pub(super) required: &'static str,
    pub(super) returns: &'static str,
    pub(super) grant_everything: &'static str,
    pub(super) not_loaded: fn(&str, &str) -> String,
    pub(super) removed: fn(&str) -> String,
    pub(super) store_deleted: &'static str,
    pub(super) store_kept: &'static str,
    pub(super) accepted: fn(&str) -> String,
    pub(super) untrusted: &'static str,
    pub(super) trusted: &'static str,
    /// The plugin, what it lacks, its source.
    pub(super) added_without: fn(&str, &str, &str) -> String,
    /// The plugin, one of its tools.
    pub(super) added: fn(&str, &str) -> String,
}

/// Returns the words of the person's language, as the environment names it.
pub(super) fn of_environment() -> &'static Wording {
    of(|name| std::env::var(name).ok())
}

fn of(variable: impl Fn(&str) -> Option<String>) -> &'static Wording {
    let locale = VARIABLES.iter().filter_map(|name| variable(name)).find(|value| !value.is_empty());
    let language = locale.unwrap_or_default();
    let language = language.split(['_', '.', '@', '-']).next().unwrap_or_default();
    if language.eq_ignore_ascii_case("zh") { &ZH } else { &EN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strongest_variable_that_says_something_decides() {
        let is_chinese = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, v)| v);
            std::ptr::eq(of(|name| value(name).map(ToString::to_string)), &ZH)
        };
        assert!(is_chinese(&[("LANG", "zh_CN.UTF-8")]));
        assert!(is_chinese(&[("LC_ALL", ""), ("LC_MESSAGES", "zh"), ("LANG", "C")]));
        assert!(is_chinese(&[("LANG", "zh-Hans")]));
        for other in [&[][..], &[("LANG", "zha")], &[("LC_ALL", "C"), ("LANG", "zh_CN.UTF-8")]] {
            assert!(!is_chinese(other), "{other:?}");
        }
    }

    #[test]
    fn every_level_but_the_exact_one_has_words_in_both() {
        for level in MatchLevel::ALL {
            for wording in [&EN, &ZH] {
                let words = (wording.effect.found)(level);
                assert_eq!(words.is_none(), level == MatchLevel::Exact, "{level}");
                assert!(words.is_none_or(|words| !words.contains('_')), "{level}");
            }
        }
    }
}
