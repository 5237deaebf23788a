//! English.

use moss_sdk::edit::MatchLevel;

use super::{
    ChangeVerbs, EffectWording, JobWording, PluginWording, PromptWording, SetupWording, Wording,
};

pub(in super::super) static EN: Wording = Wording {
    effect: EffectWording {
        of_plugin: |plugin| format!(" of the plugin {plugin}"),
        wants_to_fetch: "wants to fetch a plugin",
        wants_to_change_list: "wants to change a list of plugins",
        wants_to_run: "wants to run a command",
        wants_to_embed: "wants to send texts of this workspace, and its questions, to an endpoint of embeddings",
        embeds: |model, is_here| {
            let place = if is_here { "on this machine" } else { "another machine" };
            format!(
                "model {model}, {place}; files that the policy keeps from callers are never sent"
            )
        },
        wants_to_write_input: "wants to write to the standard input of a running command",
        in_background: "left running in the background",
        runs_in: |directory, profile, network, tier| {
            let network = if network { "with network" } else { "no network" };
            format!("in {directory}, {profile}, {network}, isolation: {tier}")
        },
        is_given: "is given",
        connects_to: "may connect to",
        writes: "writes",
        needs_confirmation: "needs a confirmation",
        wants_to_change_files: |count| match count {
            1 => "wants to change 1 file".to_owned(),
            count => format!("wants to change {count} files"),
        },
        arguments: "arguments:",
        protected: "includes a protected name",
        for_person: "a rule wants a person to decide in moss",
        truncated: "not all of it is shown",
        truncated_see: |id| format!("not all of it is shown: `moss confirm show {id} --full`"),
        rule: "rule:",
        rule_text: str::to_owned,
        digest: "digest:",
        found,
        found_by: |level| format!("the text was found by {level}"),
        is_link: |path, real| format!("{path} is a link: the file is {real}"),
        verbs: ChangeVerbs { create: "create", modify: "modify", delete: "delete" },
        done: ChangeVerbs { create: "created", modify: "modified", delete: "deleted" },
        unsaved: "not saved: its editor is asked to apply the change, the file stays as it is",
        changed_unsaved: "changed in an editor, not saved",
        drift: |path, lines| match lines {
            1 => format!("{path}: the edit changes 1 line that differs from what it expects"),
            _ => format!("{path}: the edit changes {lines} lines that differ from what it expects"),
        },
        line: |line| format!("line {line}"),
        expected: "expected:",
        actual: "found:   ",
        more_lines: |more| format!("and {more} more, not shown"),
        breaks: |path, count| match count {
            1 => format!("{path} does not parse after this change:"),
            _ => format!("{path} does not parse after this change, in {count} locations:"),
        },
        may_break: |path, count| match count {
            1 => format!("{path} may not parse after this change:"),
            _ => format!("{path} may not parse after this change, in {count} locations:"),
        },
        lints: |path, count| match count {
            1 => format!("a linter finds something new in {path} after this change:"),
            _ => format!("linters find {count} new things in {path} after this change:"),
        },
        unchecked: |path, why| format!("{path} was not checked by {why}"),
        nothing_changed: "nothing was changed",
        undo_with: |number| format!("undo it: moss history undo {number}"),
        shows_image: |kind, (width, height), size| {
            format!("shows an image: {kind}, {width} × {height}, {size}; --json has its bytes")
        },
    },
    prompt: PromptWording {
        apply: "apply?",
        proceed: "do it?",
        yes_or_no: "[y]es / [n]o",
        with_a_reason: "n with a reason",
        for_session: "for the [s]ession",
        always: "[a]lways",
        remember: "allow everything in this rule without asking?",
        remembered: |id| format!("remembered: `moss approvals revoke {id}` revokes it"),
        applies_once: |problem| format!("it applies only once: {problem}"),
        warning: "warning:",
        more: "[enter] next screen / [a]ll the rest / [q]uit:",
        rest_not_shown: "the rest was not shown",
        reply: "your reply, or [enter] for none:",
        choose: "a number, your own words, or [enter] for none:",
        waiting_for: |command| format!("waiting for `{command}`"),
        decided_elsewhere: "decided elsewhere, or expired",
        cannot_decide: "the credentials of this command cannot decide: an approver does, on the \
                        daemon's machine or with --approver-token-file",
        confirmation: "confirmation",
        origin: |workspace, caller, expiry| {
            format!("in {workspace}, called by {caller}, expires {expiry}")
        },
        remember_allows: |scope| format!("--remember {scope} allows without asking:"),
    },
    setup: SetupWording {
        forms: |client| {
            format!(
                "What your rules ask about can be put to you as a form in {client}, if it has forms. The \
                 client relays your decision: say yes only if you trust it to ask you. Otherwise you approve in \
                 moss."
            )
        },
        use_forms: "Use forms?",
        write: "Write it?",
        nobody: "nobody can be asked here; --yes does it without a question",
    },
    job: JobWording {
        running: "running",
        waits: "waits for input",
        exited: |code| format!("exited with {code}"),
        killed: |signal| format!("signal {signal}"),
        ended: "ended",
        asks: "it asks:",
        ended_by: |why| format!("ended by: {why}"),
        stopped: |id| format!("stopped {id}"),
        does_not_end: |id| format!("{id} was killed, and has not ended yet"),
    },
    plugin: PluginWording {
        add: |plugin, list| format!("add the plugin {plugin} to {list}"),
        replace: |plugin, list| format!("replace the plugin {plugin} in {list}"),
        accept: |plugin, list| format!("pin the plugin {plugin} in {list}"),
        remove: |plugin, list| format!("remove the plugin {plugin} from {list}"),
        trust: |list| format!("trust the list {list} as it is"),
        untrust: |list| format!("stop trusting the list {list}"),
        fetch: |host, source| format!("fetch from {host}: {source}"),
        of_newer_moss: |list| {
            format!("change the list {list} in a way that only a newer moss knows")
        },
        reason: "reason",
        stored_keys,
        since_trusted: "since it was trusted:",
        list_unchanged: "nothing changed in the list",
        source: "source",
        sha256: "sha256",
        file_sha256: "the file has sha256",
        pinned: "pinned",
        signed_by: "signed_by",
        problem: "problem",
        not_pinned: |source| {
            format!("not pinned: anyone who can write {source} can change its code unnoticed")
        },
        granted: "granted",
        limits: "one call may use",
        settings: "settings",
        tools: "tools",
        left_out: "functions that are not tools",
        requested: "asks for",
        may: "may",
        nothing: "nothing",
        without_effect: "granted without effect",
        may_not: "may not",
        capped: "granted, but more than `[plugin_maximum]` in the configuration allows",
        withheld: "not granted, because no list can grant this much at once; name the parts with \
                   --env, --tool, --http or --store",
        only_code: "only its code",
        differences: "differences from the version that serves",
        texts_since: "changes of its texts since the version that serves",
        own_name: |own| format!(", `{own}` in the plugin"),
        required: ", required",
        returns: "returns",
        grant_everything: "grant everything that it requests? (no: it gets nothing, and you are asked \
                           next)",
        not_loaded: |name, why| format!("{name} is written, but does not serve: {why}"),
        removed: |name| format!("{name} is removed from the list"),
        store_deleted: "; its store is deleted",
        store_kept: "; its store is kept for a later installation",
        accepted: |name| format!("{name} is pinned to its current file"),
        untrusted: "the list is no longer trusted: none of its plugins serves",
        trusted: "the list is trusted as it is; see `moss plugin list`",
        added_without: |name, lacks, source| {
            format!(
                "{name} is in the list and is granted nothing; it requests: {lacks}; `moss plugin \
                 add --replace --grant-requested {source}` grants everything, `--fs`, `--http` and \
                 the like a part"
            )
        },
        added: |name, tool| {
            format!(
                "{name} is in the list; try `moss call {tool}`, look with `moss plugin show {name}`"
            )
        },
    },
};

fn found(level: MatchLevel) -> Option<&'static str> {
    Some(match level {
        MatchLevel::Exact => return None,
        MatchLevel::LineTrimmed => "the text was found without the white space around its lines",
        MatchLevel::WhitespaceNormalized => "the text was found with other white space",
        MatchLevel::IndentFlexible => {
            "the text was found with other indentation, or blank lines more or fewer"
        }
        MatchLevel::EscapeNormalized => "the text was found once its escape sequences were undone",
        MatchLevel::TrimmedBoundary => "the text was found without the white space around it",
        MatchLevel::UnicodeNormalized => "the text was found with other quotes, dashes or blanks",
        MatchLevel::BlockAnchor => {
            "the text was found by its first and last line; the lines between are only alike"
        }
        MatchLevel::ContextAware => "the text was found where its lines are only alike",
    })
}

fn stored_keys(keys: u64, is_forgotten: bool) -> String {
    let keys = if keys == 1 { "1 key".to_owned() } else { format!("{keys} keys") };
    match is_forgotten {
        true => format!("it keeps {keys} in its store, which is forgotten"),
        false => {
            format!("it keeps {keys} in its store, which is kept; `--forget-store` deletes it")
        }
    }
}
