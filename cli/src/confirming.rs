//! Who decides a confirmation, and how: chosen before a call, applied to each question.

use std::str::FromStr;

use moss_proto::v1;
use moss_sdk::ContentHash;

use super::text;
use super::ui::yellow;
use super::wording::PromptWording;

/// How `--confirm` resolves questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Confirm {
    /// Ask on the terminal.
    Ask,
    /// Yes to ordinary questions of this call.
    Allow,
    /// No to every question of this call.
    Deny,
    /// Yes to exactly this effect.
    Digest(ContentHash),
}

/// How the questions of one call are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DecisionMode {
    /// By the person at this terminal.
    Prompt,
    /// Yes, protected files and drift aside.
    Allow,
    /// No to every question.
    Deny,
    /// By an approver somewhere else.
    Elsewhere,
    /// Not at all: the call ends at the first question.
    Nobody,
}

/// What happens to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConfirmAction {
    /// The person is asked.
    Ask,
    /// An approver somewhere else is waited for.
    Wait,
    /// Exactly what the question shows is approved.
    Approve,
    /// It is denied, with what the caller is shown.
    Deny(String),
    /// Nobody may decide here, and why.
    GiveUp(&'static str),
}

/// Chooses who decides. `alone` means that nobody else can reach the daemon.
pub(super) fn decision_mode(
    confirm: &[Confirm],
    wait: bool,
    interactive: bool,
    alone: bool,
) -> DecisionMode {
    match confirm.first().unwrap_or(&Confirm::Ask) {
        Confirm::Allow => DecisionMode::Allow,
        Confirm::Deny => DecisionMode::Deny,
        Confirm::Digest(_) => DecisionMode::Nobody,
        Confirm::Ask if interactive => DecisionMode::Prompt,
        Confirm::Ask if wait && !alone => DecisionMode::Elsewhere,
        Confirm::Ask => DecisionMode::Nobody,
    }
}

/// Refuses several decisions where they are not all digests.
pub(super) fn check(confirm: &[Confirm]) -> Result<(), &'static str> {
    let is_digest = |confirm: &Confirm| matches!(confirm, Confirm::Digest(_));
    if confirm.len() > 1 && !confirm.iter().all(is_digest) {
        return Err("--confirm can be repeated for digests only; ask, allow and deny stand alone");
    }
    Ok(())
}

/// The digests that are approved, in their wire form.
pub(super) fn approved_digests(confirm: &[Confirm]) -> Vec<String> {
    let digests = confirm.iter().filter_map(|confirm| match confirm {
        Confirm::Digest(digest) => Some(digest.to_string()),
        Confirm::Ask | Confirm::Allow | Confirm::Deny => None,
    });
    digests.collect()
}

/// Decides what happens to a question.
pub(super) fn reply(mode: DecisionMode, confirmation: &v1::Confirmation) -> ConfirmAction {
    match mode {
        DecisionMode::Prompt => ConfirmAction::Ask,
        DecisionMode::Elsewhere => ConfirmAction::Wait,
        DecisionMode::Deny => ConfirmAction::Deny("--confirm deny".to_owned()),
        DecisionMode::Allow if confirmation.protected => {
            ConfirmAction::GiveUp("`--confirm allow` does not cover a protected name")
        }
        DecisionMode::Allow if confirmation.for_person => ConfirmAction::GiveUp(
            "`--confirm allow` does not cover what a rule wants a person to look at",
        ),
        DecisionMode::Allow if confirmation.drift => ConfirmAction::GiveUp(
            "`--confirm allow` does not cover lines that differ from what the edit expects",
        ),
        DecisionMode::Allow if confirmation.registers => {
            ConfirmAction::GiveUp("`--confirm allow` does not cover the registration of plugins")
        }
        DecisionMode::Allow => ConfirmAction::Approve,
        DecisionMode::Nobody => ConfirmAction::GiveUp("nobody can decide here"),
    }
}

/// Returns the standing approvals that make sense here: a session ends with a daemon that is
/// `alone`.
pub(super) fn offers(confirmation: &v1::Confirmation, alone: bool) -> Vec<v1::OfferedApproval> {
    let lasts =
        |offer: &&v1::OfferedApproval| !alone || offer.scope() != v1::ApprovalScope::Session;
    confirmation.offers.iter().filter(lasts).cloned().collect()
}

/// Reports what became of a standing approval.
pub(super) fn remembered(
    words: &PromptWording,
    remembered: &Result<v1::StandingApproval, String>,
) -> String {
    match remembered {
        Ok(approval) => (words.remembered)(&text::line(&approval.id)),
        Err(problem) => {
            let once = (words.applies_once)(&text::line(problem));
            format!("{} {once}", yellow(words.warning))
        }
    }
}

// === impl Confirm ===

impl FromStr for Confirm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ask" => Ok(Self::Ask),
            "allow" => Ok(Self::Allow),
            "deny" => Ok(Self::Deny),
            digest => digest.parse().map(Self::Digest).map_err(|_| {
                "expected ask, allow, deny, or a digest of 64 hexadecimal digits".to_owned()
            }),
        }
    }
}

// === impl DecisionMode ===

impl DecisionMode {
    /// Whether whoever calls decides, too.
    pub(super) fn is_here(self) -> bool {
        matches!(self, Self::Prompt | Self::Allow | Self::Deny)
    }

    /// What the daemon does when a decision is needed.
    pub(super) fn mode(self) -> v1::ConfirmMode {
        match self {
            Self::Prompt | Self::Allow | Self::Deny | Self::Elsewhere => v1::ConfirmMode::Wait,
            Self::Nobody => v1::ConfirmMode::Refuse,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirm_is_a_word_or_a_digest() {
        let digest = "ab".repeat(32);
        assert_eq!("allow".parse(), Ok(Confirm::Allow));
        let parsed: Confirm = digest.parse().unwrap();
        assert_eq!(approved_digests(&[parsed, parsed]), [digest.clone(), digest]);
        assert!(approved_digests(&[Confirm::Allow]).is_empty());
        assert!(check(&[parsed, parsed]).is_ok() && check(&[Confirm::Deny]).is_ok());
        assert!(check(&[parsed, Confirm::Allow]).is_err());
        for wrong in ["", "yes", "ALLOW", "abab", &"g".repeat(64)] {
            assert!(wrong.parse::<Confirm>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn who_decides() {
        let digest = Confirm::Digest("ab".repeat(32).parse().unwrap());
        for (confirm, wait, interactive, alone, expected) in [
            (Confirm::Ask, false, true, false, DecisionMode::Prompt),
            (Confirm::Ask, true, true, true, DecisionMode::Prompt),
            (Confirm::Ask, false, false, false, DecisionMode::Nobody),
            (Confirm::Ask, true, false, false, DecisionMode::Elsewhere),
            (Confirm::Ask, true, false, true, DecisionMode::Nobody),
            (Confirm::Allow, false, false, true, DecisionMode::Allow),
            (Confirm::Allow, false, true, false, DecisionMode::Allow),
            (Confirm::Deny, true, true, false, DecisionMode::Deny),
            (digest, true, true, false, DecisionMode::Nobody),
        ] {
            let found = decision_mode(&[confirm], wait, interactive, alone);
            assert_eq!(found, expected, "{confirm:?}");
        }
    }

    #[test]
    fn blanket_yes_does_not_cover_protected_names_and_drift() {
        let ordinary = v1::Confirmation::default();
        let protected = v1::Confirmation { protected: true, ..v1::Confirmation::default() };
        let drift = v1::Confirmation { drift: true, ..v1::Confirmation::default() };
        assert_eq!(reply(DecisionMode::Allow, &ordinary), ConfirmAction::Approve);
        let registers = v1::Confirmation { registers: true, ..v1::Confirmation::default() };
        let for_person = v1::Confirmation { for_person: true, ..v1::Confirmation::default() };
        for special in [&protected, &drift, &registers, &for_person] {
            assert!(matches!(reply(DecisionMode::Allow, special), ConfirmAction::GiveUp(_)));
            assert_eq!(reply(DecisionMode::Prompt, special), ConfirmAction::Ask);
            assert_eq!(reply(DecisionMode::Elsewhere, special), ConfirmAction::Wait);
        }
        for confirmation in [&ordinary, &protected, &drift] {
            assert!(matches!(reply(DecisionMode::Deny, confirmation), ConfirmAction::Deny(_)));
            assert!(matches!(reply(DecisionMode::Nobody, confirmation), ConfirmAction::GiveUp(_)));
        }
    }

    #[test]
    fn only_what_somebody_can_decide_waits() {
        assert_eq!(DecisionMode::Nobody.mode(), v1::ConfirmMode::Refuse);
        assert_eq!(DecisionMode::Prompt.mode(), v1::ConfirmMode::Wait);
        assert_eq!(DecisionMode::Elsewhere.mode(), v1::ConfirmMode::Wait);
    }
}
