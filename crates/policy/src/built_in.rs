//! The rules that are built in: the defaults, and what no ordinary rule takes away.

use std::sync::{Arc, LazyLock};

use super::{Action, CommandPart, Decision, Layer, Protection, RuleRef, Verdict};

/// Returns what happens where no rule says anything.
pub(super) fn default_verdict(
    action: Action,
    command: Option<&CommandPart>,
) -> (Verdict, &Arc<RuleRef>) {
    static READS: LazyLock<Arc<RuleRef>> =
        LazyLock::new(|| RuleRef::built_in(Layer::Default, "reading needs no rule"));
    static CALLS: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        RuleRef::built_in(Layer::Default, "what a call does is decided by effect")
    });
    static EFFECTS: LazyLock<Arc<RuleRef>> =
        LazyLock::new(|| RuleRef::built_in(Layer::Default, "no rule allows it"));
    static READING: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        RuleRef::built_in(
            Layer::Default,
            "the command only reads, and the sandbox holds it to that",
        )
    });
    match action {
        Action::Call => (Verdict::Allow, &CALLS),
        Action::Read => (Verdict::Allow, &READS),
        Action::Exec if command.is_some_and(CommandPart::is_harmless) => (Verdict::Allow, &READING),
        Action::Exec => {
            let running = command.and_then(CommandPart::running_rule);
            (Verdict::Ask, running.unwrap_or(&EFFECTS))
        }
        Action::Create
        | Action::Modify
        | Action::Delete
        | Action::Network
        | Action::Register
        | Action::Configure => (Verdict::Ask, &EFFECTS),
    }
}

/// Returns what happens to a protected name where no rule opens it.
pub(super) fn protection_verdict(protection: Protection) -> (Verdict, &'static Arc<RuleRef>) {
    static CODE: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        let text = "the file makes other programs run code; \
                    a rule with `protected = true` and its path can allow it unasked";
        RuleRef::built_in(Layer::Protected, text)
    });
    static METADATA: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        let text = "the file belongs to git or to moss; \
                    a rule with `protected = true` and its path can open it";
        RuleRef::built_in(Layer::Protected, text)
    });
    static SECRET: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        let text = "the file is likely to contain secrets; \
                    a rule with `protected = true` and its path can open it";
        RuleRef::built_in(Layer::Protected, text)
    });
    match protection {
        Protection::Code => (Verdict::Ask, &CODE),
        Protection::Metadata => (Verdict::Deny, &METADATA),
        Protection::Secret => (Verdict::Deny, &SECRET),
    }
}

/// Returns the rule that asks about lines that are not as an edit says.
pub(super) fn drift_rule() -> &'static Arc<RuleRef> {
    static DRIFT: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        let text = "the edit changes lines that differ from what it expects; \
                    no rule and no standing approval allows that unseen";
        RuleRef::built_in(Layer::Drift, text)
    });
    &DRIFT
}

/// Returns the rule that asks about every registration.
pub(super) fn register_rule() -> &'static Arc<RuleRef> {
    static REGISTER: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        let text = "a person looks at each plugin and at what it may do; no rule allows it unseen";
        RuleRef::built_in(Layer::Default, text)
    });
    &REGISTER
}

/// Decides about a part of a command whose words a list of plugins grants: where nothing but the default
/// asks, the grant is what allows a part that only reads. One that may write asks as it does for everybody.
/// A rule, and what asks whatever else allows, stay as they are.
#[must_use]
pub fn granted_command(decision: Decision, part: &CommandPart) -> Decision {
    static GRANTED: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        RuleRef::built_in(Layer::Default, "the list of plugins grants these words, which only read")
    });
    static WRITES: LazyLock<Arc<RuleRef>> = LazyLock::new(|| {
        let text = "the list of plugins grants these words, but the command may write, and no rule allows it";
        RuleRef::built_in(Layer::Default, text)
    });
    let is_default = decision.verdict == Verdict::Ask && decision.rule.layer == Layer::Default;
    let by_default = is_default && !part.runs_configured();
    match (by_default, part.only_reads) {
        (false, _) => decision,
        (true, false) => Decision { rule: Arc::clone(&WRITES), ..decision },
        (true, true) => {
            Decision { verdict: Verdict::Allow, rule: Arc::clone(&GRANTED), ..decision }
        }
    }
}
