//! The decision: which sentence of a reply makes it what it is.

use super::phrases::{Phrases, REPLY};
use super::request::{RequestNeed, UserRequest};
use super::sentences::{Sentence, sentences};
use super::{LastRole, RefusalContext, ReplyClass};

/// In how many sentences from the beginning a reply that needs no workspace may excuse itself;
/// later ones are notes on a reply.
const OPENING_SENTENCES: usize = 2;

/// What before a verb says that nobody asks for it.
const DENIALS: [&str; 2] = ["not ", "never "];

/// How verbs begin that nobody says of himself.
const OF_ANOTHER: [&str; 2] = ["does ", "has "];

struct Judge {
    request: UserRequest,
    sentences: Vec<Sentence>,
    follows_tool: bool,
    failed: bool,
    has_results: bool,
}

type Judgement = Option<(ReplyClass, Option<String>)>;

/// Says what a reply without calls is, and by which words.
pub(super) fn judge(context: &RefusalContext<'_>, text: &str) -> (ReplyClass, Option<String>) {
    let sentences = sentences(text);
    let follows_tool = context.last_role == LastRole::Tool;
    let reports = || sentences.iter().any(|sentence| REPLY.reports.are_in(&sentence.text));
    let judge = Judge {
        request: UserRequest::of(&context.request),
        failed: follows_tool && context.result_failed.unwrap_or_else(reports),
        follows_tool,
        has_results: context.has_results,
        sentences,
    };
    let right = if follows_tool { ReplyClass::FinalAfterTool } else { ReplyClass::Answer };
    judge.decide().unwrap_or((right, None))
}

// === impl Judge ===

impl Judge {
    fn decide(&self) -> Judgement {
        if self.sentences.is_empty() {
            return (!self.follows_tool).then_some((ReplyClass::NoCall, None));
        }
        if self.request.is_about_text {
            return if self.request.harms { self.safety() } else { None };
        }
        self.safety()
            .or_else(|| self.excuse())
            .or_else(|| self.delegation())
            .or_else(|| self.guess())
            .or_else(|| self.announcement())
            .or_else(|| self.claim())
            .or_else(|| self.evasion())
    }

    fn safety(&self) -> Judgement {
        let opening = || self.sentences.iter().take(OPENING_SENTENCES + 1);
        let found = opening().map(|sentence| sentence.text.as_str()).find_map(|text| {
            let declines = || self.request.harms.then(|| REPLY.refuses.find(text)).flatten();
            REPLY.safety.find(text).or_else(declines)
        });
        // That it will not, and why, may be two sentences.
        let is_wrong = || opening().any(|sentence| REPLY.wrong.are_in(&sentence.text));
        let unwilling = || {
            let willing = [&REPLY.unwilling, &REPLY.declines];
            let found = willing.into_iter().find_map(|no| self.first(no, OPENING_SENTENCES));
            found.filter(|_| is_wrong())
        };
        judgement(
            ReplyClass::SafetyRefusal,
            found.or_else(unwilling).or_else(|| self.unwillingness()),
        )
    }

    /// The model says what it cannot do: as the point of a sentence, or on the way to talk.
    fn excuse(&self) -> Judgement {
        if self.failed {
            return None;
        }
        let has_code = self.sentences.iter().any(|sentence| sentence.is_code);
        let opening = match self.request.need {
            RequestNeed::Workspace => usize::MAX,
            RequestNeed::Words if has_code => 0,
            RequestNeed::Unknown | RequestNeed::Words => OPENING_SENTENCES,
        };
        self.sentences.iter().take(opening).enumerate().find_map(|(place, sentence)| {
            if REPLY.not_capability.are_in(&sentence.text) {
                return None;
            }
            // Whoever thinks that another cannot is not the one who cannot.
            let text = &*REPLY.views.removed_from(&sentence.text);
            let is_late = self.follows_tool && place > 0;
            let soft = if is_late || self.request.need == RequestNeed::Words {
                None
            } else {
                REPLY.soft.find(text)
            };
            let hard = (!is_late).then(|| REPLY.capability.find(text)).flatten().or_else(|| {
                let is_asked = self.request.need != RequestNeed::Words;
                is_asked.then(|| REPLY.declines.find(text)).flatten()
            });
            let hard = hard.or_else(|| soft.is_none().then(|| self.inability(text)).flatten());
            let hard = hard.filter(|_| !self.is_of_matter(text));
            match (soft, hard) {
                (Some(soft), Some(hard)) if soft.0 < hard.0 => {
                    judgement(ReplyClass::SoftLimitation, Some(soft))
                }
                (_, Some(hard)) => judgement(ReplyClass::CapabilityRefusal, Some(hard)),
                (soft, None) => judgement(ReplyClass::SoftLimitation, soft),
            }
        })
    }

    /// A no of the will that no tools are named in.
    fn unwillingness(&self) -> Option<(usize, &str)> {
        let opening = self.sentences.iter().take(OPENING_SENTENCES);
        let of_deeds = opening.filter(|sentence| !REPLY.thing.are_in(&sentence.text));
        of_deeds.filter_map(|sentence| REPLY.will_not.find(&sentence.text)).next()
    }

    /// A sentence of whatever order that says who, that it cannot be, and what.
    fn inability<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let request = &self.request;
        if self.follows_tool || REPLY.unsure.are_in(text) {
            return None;
        }
        // Where words may do, only what is the user's is no subject of them.
        let takes_words = request.need == RequestNeed::Words;
        if (takes_words && request.asks_how)
            || ((takes_words || request.asks_how) && !REPLY.yours.are_in(text))
        {
            return None;
        }
        let is_probe = request.need == RequestNeed::Workspace || request.probes;
        let names_speaker = REPLY.who.are_in(text);
        let found = clauses(text).find_map(|clause| {
            let around = [&REPLY.place, &REPLY.shared, &REPLY.elided];
            // Surroundings in one clause cannot be what another clause speaks of.
            let is_said_here = REPLY.who.are_in(clause)
                || (is_probe && around.into_iter().any(|phrases| phrases.are_in(clause)));
            let is_of_another = |verb: &str| OF_ANOTHER.iter().any(|form| verb.starts_with(form));
            REPLY
                .unable
                .find(clause)
                .filter(|(_, unable)| is_said_here || (names_speaker && !is_of_another(unable)))
        })?;
        REPLY.matter.are_in(text).then_some(found)
    }

    /// Whether what a sentence denies is a property of its subject matter, and none of the speaker.
    fn is_of_matter(&self, text: &str) -> bool {
        // What cannot be concluded from what is there is said of what is there.
        if REPLY.concludes.are_in(text) && REPLY.material.are_in(text) {
            return true;
        }
        // Where it was asked whether something can be, a no is the reply, unless it is the speaker
        // who cannot, or surroundings of which the request did not speak.
        let request = &self.request;
        request.asks_whether
            && !REPLY.who.are_in(text)
            && clauses(text)
                .filter(|clause| REPLY.unable.are_in(clause))
                .filter_map(|clause| REPLY.place.find(clause))
                .all(|(_, place)| request.names(place))
    }

    /// The user is to do what the model has tools for.
    fn delegation(&self) -> Judgement {
        if self.failed {
            return None;
        }
        let wants_deed = self.request.acts
            && self.request.need == RequestNeed::Workspace
            && !self.request.asks_how
            && !self.request.wants_plan
            && !self.follows_tool;
        let opening = match self.request.need {
            _ if self.follows_tool => 1,
            RequestNeed::Words if self.request.asks_how => 0,
            RequestNeed::Words => usize::from(self.sentences.len() <= OPENING_SENTENCES),
            RequestNeed::Workspace | RequestNeed::Unknown => usize::MAX,
        };
        self.sentences.iter().enumerate().find_map(|(place, sentence)| {
            let text = sentence.text.as_str();
            let asks = (place < opening && !REPLY.not_delegates.are_in(text))
                .then(|| REPLY.delegates.find(text))
                .flatten()
                .filter(|(start, _)| !DENIALS.iter().any(|no| text[..*start].ends_with(no)));
            let instructs = || wants_deed.then(|| REPLY.instructs.find(text)).flatten();
            judgement(ReplyClass::DelegatesToUser, asks.or_else(instructs))
        })
    }

    /// Talk of what is probably there.
    fn guess(&self) -> Judgement {
        let request = &self.request;
        let is_asked =
            (request.need == RequestNeed::Workspace && request.is_ours) || request.probes;
        if self.follows_tool || !is_asked || request.asks_how || request.wants_plan {
            return None;
        }
        judgement(ReplyClass::SoftLimitation, self.first(&REPLY.guess, OPENING_SENTENCES))
    }

    /// The reply ends in saying what comes next.
    fn announcement(&self) -> Judgement {
        if self.request.wants_plan {
            return None;
        }
        let is_filler = |sentence: &Sentence| {
            !sentence.is_code && (sentence.is_item || REPLY.filler.are_in(&sentence.text))
        };
        let last = self.sentences.iter().rposition(|sentence| announced_in(sentence).is_some())?;
        if !self.sentences[last + 1..].iter().all(is_filler) {
            return None;
        }
        let says_nothing_else = self.sentences[..last]
            .iter()
            .all(|sentence| is_filler(sentence) || announced_in(sentence).is_some());
        let counts =
            self.request.need != RequestNeed::Words || says_nothing_else || self.follows_tool;
        let found = counts.then(|| announced_in(&self.sentences[last])).flatten();
        judgement(ReplyClass::AnnouncedNotCalled, found)
    }

    /// The reply says that it is done, and nothing was called.
    fn claim(&self) -> Judgement {
        let request = &self.request;
        let could_be = match request.need {
            RequestNeed::Workspace => request.acts || request.probes,
            // Code may be all that was asked for.
            RequestNeed::Unknown => request.acts && !self.sentences.iter().any(|one| one.is_code),
            RequestNeed::Words => false,
        };
        if self.follows_tool || !could_be || request.wants_plan {
            return None;
        }
        judgement(ReplyClass::AnnouncedNotCalled, self.first(&REPLY.claims, OPENING_SENTENCES))
    }

    /// What was asked for takes a call, and words came that ask nothing back: what kind of words
    /// weak signs show.
    fn evasion(&self) -> Judgement {
        let request = &self.request;
        let asks_back = || {
            let asks = |text: &str| text.ends_with('?') || REPLY.clarifies.are_in(text);
            self.sentences.iter().any(|sentence| asks(&sentence.text))
        };
        let is_looked_for = request.wants_look && !self.has_results;
        let is_deed = request.wants_deed || is_looked_for;
        let is_asked = (is_deed || request.takes_hands) && !request.asks_how;
        if self.follows_tool || !is_asked || request.wants_plan || asks_back() {
            return None;
        }
        let signs = [
            (ReplyClass::CapabilityRefusal, &REPLY.weak_capability),
            (ReplyClass::DelegatesToUser, &REPLY.weak_delegates),
            (ReplyClass::AnnouncedNotCalled, &REPLY.weak_announces),
        ];
        let weak = signs
            .into_iter()
            .find_map(|(class, phrases)| judgement(class, self.first(phrases, OPENING_SENTENCES)));
        weak.or_else(|| is_deed.then_some((ReplyClass::SoftLimitation, None)))
    }

    fn first(&self, phrases: &Phrases, sentences: usize) -> Option<(usize, &str)> {
        self.sentences.iter().take(sentences).find_map(|sentence| phrases.find(&sentence.text))
    }
}

/// What a sentence is put together from.
pub(super) fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
}

/// What a sentence says will be done.
fn announced_in(sentence: &Sentence) -> Option<(usize, &str)> {
    let text = sentence.text.as_str();
    let counts = !text.ends_with('?') && !REPLY.not_announces.are_in(text);
    counts.then(|| REPLY.announces.find(text)).flatten()
}

fn judgement(class: ReplyClass, found: Option<(usize, &str)>) -> Judgement {
    found.map(|(_, phrase)| (class, Some(phrase.to_owned())))
}
