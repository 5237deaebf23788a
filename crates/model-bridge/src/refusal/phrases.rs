//! The phrases of both languages, compiled once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

/// The largest a compiled group of phrases may get, in bytes.
const COMPILED_BYTES_MAX: usize = 64 << 20;
/// How often words may stand for words.
const WORD_DEPTH_MAX: usize = 3;

/// The phrases of one language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseTable<P> {
    words: BTreeMap<String, String>,
    request: RequestPhrases<P>,
    reply: ReplyPhrases<P>,
}

/// What requests are distinguished by.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestPhrases<P = Phrases> {
    pub(super) path: P,
    pub(super) local: P,
    pub(super) act: P,
    pub(super) deed: P,
    pub(super) sure: P,
    pub(super) free: P,
    pub(super) asks: P,
    pub(super) howto: P,
    pub(super) imagined: P,
    pub(super) look: P,
    pub(super) why: P,
    pub(super) plan: P,
    pub(super) meta: P,
    pub(super) chat: P,
    pub(super) harm: P,
    pub(super) probes: P,
    pub(super) given: P,
    pub(super) ours: P,
    pub(super) within: P,
    pub(super) how: P,
    pub(super) whether: P,
    pub(super) artefact: P,
    pub(super) state: P,
    pub(super) hands: P,
}

/// What replies are distinguished by.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyPhrases<P = Phrases> {
    pub(super) capability: P,
    pub(super) declines: P,
    pub(super) not_capability: P,
    pub(super) soft: P,
    pub(super) guess: P,
    pub(super) delegates: P,
    pub(super) instructs: P,
    pub(super) not_delegates: P,
    pub(super) announces: P,
    pub(super) not_announces: P,
    pub(super) claims: P,
    pub(super) filler: P,
    pub(super) safety: P,
    pub(super) refuses: P,
    pub(super) unwilling: P,
    pub(super) reports: P,
    pub(super) clarifies: P,
    pub(super) weak_capability: P,
    pub(super) weak_delegates: P,
    pub(super) weak_announces: P,
    pub(super) will_not: P,
    pub(super) thing: P,
    pub(super) yours: P,
    pub(super) who: P,
    pub(super) place: P,
    pub(super) shared: P,
    pub(super) elided: P,
    pub(super) unable: P,
    pub(super) matter: P,
    pub(super) unsure: P,
    pub(super) views: P,
    pub(super) concludes: P,
    pub(super) material: P,
    pub(super) wrong: P,
}

/// A group of phrases, one expression for each language that has any.
#[derive(Debug)]
pub(super) struct Phrases(Vec<Regex>);

/// What requests are recognized by, in every language.
pub(super) static REQUEST: LazyLock<RequestPhrases> = LazyLock::new(|| LOADED.request());
/// What replies are recognized by, in every language.
pub(super) static REPLY: LazyLock<ReplyPhrases> = LazyLock::new(|| LOADED.reply());

type PhraseLines = PhraseTable<Vec<String>>;

struct LoadedPhrases([PhraseLines; 2]);

static LOADED: LazyLock<LoadedPhrases> = LazyLock::new(|| {
    let read = |text| toml::from_str::<PhraseLines>(text).expect("the committed table reads");
    LoadedPhrases([read(include_str!("en.toml")), read(include_str!("zh.toml"))])
});

// === impl LoadedPhrases ===

impl LoadedPhrases {
    fn group(&self, of: impl Fn(&PhraseLines) -> &Vec<String>) -> Phrases {
        let tables = self.0.iter().filter(|table| !of(table).is_empty());
        let built = tables.map(|table| {
            let each = of(table).iter().map(|line| format!("(?:{})", written_out(table, line)));
            let all = each.collect::<Vec<_>>().join("|");
            let built = RegexBuilder::new(&all).size_limit(COMPILED_BYTES_MAX).build();
            built.expect("the committed phrases compile")
        });
        Phrases(built.collect())
    }

    fn request(&self) -> RequestPhrases {
        RequestPhrases {
            path: self.group(|table| &table.request.path),
            local: self.group(|table| &table.request.local),
            act: self.group(|table| &table.request.act),
            deed: self.group(|table| &table.request.deed),
            sure: self.group(|table| &table.request.sure),
            free: self.group(|table| &table.request.free),
            asks: self.group(|table| &table.request.asks),
            howto: self.group(|table| &table.request.howto),
            imagined: self.group(|table| &table.request.imagined),
            look: self.group(|table| &table.request.look),
            why: self.group(|table| &table.request.why),
            plan: self.group(|table| &table.request.plan),
            meta: self.group(|table| &table.request.meta),
            chat: self.group(|table| &table.request.chat),
            harm: self.group(|table| &table.request.harm),
            probes: self.group(|table| &table.request.probes),
            given: self.group(|table| &table.request.given),
            ours: self.group(|table| &table.request.ours),
            within: self.group(|table| &table.request.within),
            how: self.group(|table| &table.request.how),
            whether: self.group(|table| &table.request.whether),
            artefact: self.group(|table| &table.request.artefact),
            state: self.group(|table| &table.request.state),
            hands: self.group(|table| &table.request.hands),
        }
    }

    fn reply(&self) -> ReplyPhrases {
        ReplyPhrases {
            capability: self.group(|table| &table.reply.capability),
            declines: self.group(|table| &table.reply.declines),
            not_capability: self.group(|table| &table.reply.not_capability),
            soft: self.group(|table| &table.reply.soft),
            guess: self.group(|table| &table.reply.guess),
            delegates: self.group(|table| &table.reply.delegates),
            instructs: self.group(|table| &table.reply.instructs),
            not_delegates: self.group(|table| &table.reply.not_delegates),
            announces: self.group(|table| &table.reply.announces),
            not_announces: self.group(|table| &table.reply.not_announces),
            claims: self.group(|table| &table.reply.claims),
            filler: self.group(|table| &table.reply.filler),
            safety: self.group(|table| &table.reply.safety),
            refuses: self.group(|table| &table.reply.refuses),
            unwilling: self.group(|table| &table.reply.unwilling),
            reports: self.group(|table| &table.reply.reports),
            clarifies: self.group(|table| &table.reply.clarifies),
            weak_capability: self.group(|table| &table.reply.weak_capability),
            weak_delegates: self.group(|table| &table.reply.weak_delegates),
            weak_announces: self.group(|table| &table.reply.weak_announces),
            will_not: self.group(|table| &table.reply.will_not),
            thing: self.group(|table| &table.reply.thing),
            yours: self.group(|table| &table.reply.yours),
            who: self.group(|table| &table.reply.who),
            place: self.group(|table| &table.reply.place),
            shared: self.group(|table| &table.reply.shared),
            elided: self.group(|table| &table.reply.elided),
            unable: self.group(|table| &table.reply.unable),
            matter: self.group(|table| &table.reply.matter),
            unsure: self.group(|table| &table.reply.unsure),
            views: self.group(|table| &table.reply.views),
            concludes: self.group(|table| &table.reply.concludes),
            material: self.group(|table| &table.reply.material),
            wrong: self.group(|table| &table.reply.wrong),
        }
    }
}

/// Puts the words in that a phrase names as `<word>`.
fn written_out(table: &PhraseLines, line: &str) -> String {
    let mut line = line.to_owned();
    for _ in 0..WORD_DEPTH_MAX {
        for (word, meaning) in &table.words {
            line = line.replace(&format!("<{word}>"), meaning);
        }
    }
    line.replace(r"\b", r"(?-u:\b)").replace(r"\w", r"(?-u:\w)")
}

/// Phrases that are in none of some requests and none of some sentences.
#[cfg(test)]
pub(super) fn idle(requests: &[String], sentences: &[String]) -> Vec<String> {
    type Groups = BTreeMap<String, Vec<String>>;
    #[derive(Deserialize)]
    struct PhrasesByGroup {
        request: Groups,
        reply: Groups,
    }
    let mut idle = Vec::new();
    for (table, text) in LOADED.0.iter().zip([include_str!("en.toml"), include_str!("zh.toml")]) {
        let named: PhrasesByGroup = toml::from_str(text).expect("the committed table reads");
        for (groups, texts) in [(named.request, requests), (named.reply, sentences)] {
            for (group, lines) in groups {
                idle.extend(lines.into_iter().filter_map(|line| {
                    let phrase = RegexBuilder::new(&written_out(table, &line))
                        .size_limit(COMPILED_BYTES_MAX)
                        .build()
                        .expect("the committed phrases compile");
                    let is_idle = !texts.iter().any(|text| phrase.is_match(text));
                    is_idle.then(|| format!("{group}: {line}"))
                }));
            }
        }
    }
    idle
}

/// Words that phrases name and that no table has.
#[cfg(test)]
pub(super) fn unknown_words() -> Vec<String> {
    let texts = [include_str!("en.toml"), include_str!("zh.toml")];
    let mut unknown = Vec::new();
    for (table, text) in LOADED.0.iter().zip(texts) {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let words = lines.flat_map(|line| line.split('<').skip(1)).filter_map(|rest| {
            let (word, _) = rest.split_once('>')?;
            word.chars().all(|c| c.is_ascii_lowercase()).then_some(word)
        });
        let missing = words.filter(|word| !table.words.contains_key(*word));
        unknown.extend(missing.map(str::to_owned));
    }
    unknown
}

// === impl Phrases ===

impl Phrases {
    /// Whether one of them is in a text.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|phrases| phrases.is_match(text))
    }

    /// The first of them in a text: where it begins, and what it says.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let found = self.0.iter().filter_map(|phrases| phrases.find(text));
        found.map(|found| (found.start(), found.as_str())).min_by_key(|(start, _)| *start)
    }

    /// A text without them.
    pub(super) fn removed_from(&self, text: &str) -> String {
        let cut = |text: String, phrases: &Regex| phrases.replace_all(&text, "").into_owned();
        self.0.iter().fold(text.to_owned(), cut)
    }
}
