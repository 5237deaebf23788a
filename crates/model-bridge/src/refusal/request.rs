//! What a request asks for, as far as it matters for the replies to it.

use super::phrases::REQUEST;
use super::sentences::flat;

/// What a request is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UserRequest {
    /// Its words in the form in which phrases are looked for.
    pub(super) text: String,
    /// Whether words alone are a reply to it.
    pub(super) need: RequestNeed,
    /// It wants something done, or looked at.
    pub(super) acts: bool,
    /// Something marks what it is about as a thing of the workspace.
    pub(super) is_ours: bool,
    /// It wants a deed, which words cannot be.
    pub(super) wants_deed: bool,
    /// It asks for what only a look at the workspace can show.
    pub(super) wants_look: bool,
    /// It asks how something is done.
    pub(super) asks_how: bool,
    /// It asks whether something can be, and not whether the model can.
    pub(super) asks_whether: bool,
    /// It wants to hear what would be done.
    pub(super) wants_plan: bool,
    /// It is about a text: a translation, a letter.
    pub(super) is_about_text: bool,
    /// It wants harm done.
    pub(super) harms: bool,
    /// It begins with what is likely a deed that takes a look or a hand.
    pub(super) probes: bool,
    /// It begins with what surely is one.
    pub(super) takes_hands: bool,
}

/// What it takes to reply to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestNeed {
    Workspace,
    /// Nothing says which of the two.
    Unknown,
    /// Words: it asks for nothing that is to be looked at or done.
    Words,
}

// === impl UserRequest ===

impl UserRequest {
    pub(super) fn of(text: &str) -> Self {
        let (text, has_code) = flat(text);
        let has_path = REQUEST.path.are_in(&text);
        let is_sure = REQUEST.sure.are_in(&text);
        let has_code = has_code || REQUEST.given.are_in(&text);
        let is_free = REQUEST.free.are_in(&text);
        let asks_state = !is_free && REQUEST.state.are_in(&text);
        let asks_how = REQUEST.how.are_in(&text) || (!asks_state && REQUEST.howto.are_in(&text));
        let takes_hands = !has_code && !asks_how && REQUEST.hands.are_in(&text);
        let probes = takes_hands || (!has_code && !asks_how && REQUEST.probes.are_in(&text));
        let is_ours = has_path || REQUEST.ours.are_in(&text);
        let is_done_to = probes && !is_free && REQUEST.artefact.are_in(&text);
        let need = if REQUEST.chat.are_in(&text) || REQUEST.imagined.are_in(&text) {
            RequestNeed::Words
        } else if has_path || is_sure || asks_state || is_done_to || REQUEST.local.are_in(&text) {
            RequestNeed::Workspace
        } else if is_free || (!probes && REQUEST.asks.are_in(&text)) {
            RequestNeed::Words
        } else {
            RequestNeed::Unknown
        };
        Self {
            need,
            is_ours: is_ours || asks_state,
            acts: REQUEST.act.are_in(&text),
            wants_deed: need == RequestNeed::Workspace
                && !has_code
                && (takes_hands || REQUEST.deed.are_in(&text))
                && !REQUEST.why.are_in(&text),
            wants_look: need == RequestNeed::Workspace
                && !has_code
                && (asks_state || (is_ours && REQUEST.look.are_in(&text))),
            asks_how,
            asks_whether: REQUEST.whether.are_in(&text),
            wants_plan: REQUEST.plan.are_in(&text),
            is_about_text: REQUEST.meta.are_in(&text) && !REQUEST.within.are_in(&text),
            harms: REQUEST.harm.are_in(&text),
            probes: probes && need != RequestNeed::Words,
            takes_hands: takes_hands && need != RequestNeed::Words,
            text,
        }
    }

    /// Whether some words are in it, as words.
    pub(super) fn names(&self, words: &str) -> bool {
        let is_letter = |c: char| c.is_ascii_alphanumeric();
        let words = words.trim();
        self.text.match_indices(words).any(|(start, _)| {
            let (before, after) = (&self.text[..start], &self.text[start + words.len()..]);
            !before.ends_with(is_letter) && !after.starts_with(is_letter)
        })
    }
}
