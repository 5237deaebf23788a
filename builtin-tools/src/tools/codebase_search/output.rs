//! What the tool returns.

use moss_ranking::spelled;
use moss_sdk::code_search::{CodeHit, CodeRanking, CodeSearchFound, MatchField, MatchedWord};
use schemars::JsonSchema;
use serde::Serialize;

use super::snippet;

/// Most bytes of all results, as they are returned: about 5,000 tokens.
const RESULTS_BYTES_MAX: usize = 20_000;
/// Most bytes of all snippets among them: about 3,000 tokens.
const SNIPPETS_BYTES_MAX: usize = 12_000;
/// What the names of the fields of a snippet take, and the number of its line.
const SNIPPET_KEYS_BYTES: usize = 40;
/// Most bytes of why a result was found.
const WHY_BYTES_MAX: usize = 240;
/// Most words of a question that are named of a result.
const WORDS_MAX: usize = 8;

/// The parts of the code that are relevant to a question.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CodebaseSearchOutput {
    /// The places, best first.
    results: Vec<CodeResult>,
    /// How many files were searched, as they are now.
    files_searched: u64,
    /// How many files are still to be read: what is in them is not found yet. 0 where the results are
    /// up to date.
    files_pending: u64,
    /// Where embeddings are configured: `hybrid`, by words and by the vectors of a model, or `lexical`, by words
    /// alone, because there are none. Missing where none are configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<&'static str>,
    /// Whether snippets or results are missing because of the bound on all of them.
    truncated: bool,
    /// What is missing, and how to see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A location that is relevant to a question.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CodeResult {
    /// Relative to the workspace root.
    path: String,
    /// Its first line, from 1.
    line: u32,
    /// Its last line, which is part of it.
    end_line: u32,
    /// The name of what it declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<String>,
    /// What that is: `function`, `method`, `struct`, `section` …
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    /// The type or module that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// How relevant it is, against the first result, which has 1.
    score: f64,
    /// Which words of the question it has, and where; of a Chinese word what stands there for it. `meaning` where
    /// the vectors of a model say so.
    why: String,
    /// The lines of it that have most of them; missing where there was no room for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
    /// The line that the snippet begins with.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet_line: Option<u32>,
}

/// What fits in a response: first every place, then as many snippets as there is room for, those of the best first.
#[derive(Debug, Default)]
pub(super) struct ResultBudget {
    results: Vec<CodeResult>,
    /// The snippet of each, and the line that it begins with.
    snippets: Vec<(u32, String)>,
    used: usize,
    /// How many results had no room.
    left_out: usize,
}

// === impl ResultBudget ===

impl ResultBudget {
    /// Takes a hit with the text of its file, the best one first.
    pub(super) fn take(&mut self, hit: &CodeHit, text: &str, best: f32) {
        let found: Vec<FoundWord<'_>> =
            hit.matched.iter().map(|matched| FoundWord::of(matched, hit, text)).collect();
        let words: Vec<&str> = found.iter().map(|word| word.written).collect();
        let result = CodeResult {
            path: hit.path.to_string(),
            line: hit.lines.0,
            end_line: hit.lines.1,
            symbol: hit.name.clone(),
            kind: hit.kind,
            container: hit.container.clone(),
            score: (f64::from(hit.score / best.max(f32::MIN_POSITIVE)) * 100.0).round() / 100.0,
            why: cut(why(hit, &found)),
            snippet: None,
            snippet_line: None,
        };
        let bytes = written_bytes(&result);
        // After the first that has no room none is shown: they would come in another order.
        if self.left_out > 0 || self.used + bytes > RESULTS_BYTES_MAX {
            self.left_out += 1;
            return;
        }
        self.used += bytes;
        self.results.push(result);
        self.snippets.push(snippet::snippet(text, hit.lines, &words));
    }

    /// Adds the snippets for which there is room.
    fn finish(self) -> (Vec<CodeResult>, usize) {
        let Self { mut results, snippets, used, left_out } = self;
        let room = SNIPPETS_BYTES_MAX.min(RESULTS_BYTES_MAX - used);
        let mut used = 0;
        for (result, (line, lines)) in results.iter_mut().zip(snippets) {
            let bytes = written_bytes(&lines) + SNIPPET_KEYS_BYTES;
            if used + bytes <= room {
                used += bytes;
                result.snippet = Some(lines);
                result.snippet_line = Some(line);
            }
        }
        (results, left_out)
    }
}

/// How many bytes something has in a response, a comma behind it included.
fn written_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(RESULTS_BYTES_MAX, |text| text.len() + 1)
}

fn cut(mut text: String) -> String {
    if text.len() > WHY_BYTES_MAX {
        text.truncate(text.floor_char_boundary(WHY_BYTES_MAX));
        text.push('…');
    }
    text
}

/// A word that a place has.
struct FoundWord<'a> {
    place: MatchField,
    /// As the question has it, or, where that is of another language, as the place has it.
    written: &'a str,
    /// The word of the question that this translates.
    translated: Option<&'a str>,
}

/// Says which words of a question a place has, by where it has them.
fn why(hit: &CodeHit, found: &[FoundWord<'_>]) -> String {
    const PLACES: [(MatchField, &str); 6] = [
        (MatchField::Name, "name"),
        (MatchField::Container, "container"),
        (MatchField::Path, "path"),
        (MatchField::Documentation, "documentation"),
        (MatchField::Text, "text"),
        (MatchField::Commits, "commits"),
    ];
    let mut reasons = Vec::new();
    if hit.is_named {
        reasons.push("declares the name in the query".to_owned());
    }
    let mut left = WORDS_MAX;
    for (place, name) in PLACES {
        let here = found.iter().filter(|word| word.place == place);
        let words: Vec<String> = here.map(FoundWord::shown).take(left).collect();
        left -= words.len();
        if !words.is_empty() {
            reasons.push(format!("{name}: {}", words.join(", ")));
        }
    }
    if hit.is_near {
        reasons.push("meaning".to_owned());
    }
    reasons.join("; ")
}

// === impl FoundWord ===

impl<'a> FoundWord<'a> {
    fn of(matched: &'a MatchedWord, hit: &'a CodeHit, text: &'a str) -> Self {
        let MatchedWord { word, term, place } = matched;
        if word.is_ascii() || word == term {
            return Self { place: *place, written: word, translated: None };
        }
        let written = match place {
            MatchField::Name => hit.name.as_deref().and_then(|name| spelled(name, term)),
            MatchField::Container => hit.container.as_deref().and_then(|own| spelled(own, term)),
            MatchField::Path => spelled(hit.path.as_str(), term),
            // Documentation stands right before what it is of.
            MatchField::Documentation | MatchField::Text => {
                spelled(lines_of(text, hit.lines), term).or_else(|| spelled(text, term))
            }
            MatchField::Commits => None,
        };
        Self { place: *place, written: written.unwrap_or(term), translated: Some(word) }
    }

    fn shown(&self) -> String {
        match self.translated {
            Some(word) => format!("{} ({word})", self.written),
            None => self.written.to_owned(),
        }
    }
}

fn lines_of(text: &str, (first, last): (u32, u32)) -> &str {
    let lines = text.split_inclusive('\n').map(str::len);
    let bytes = |count: u32| lines.clone().take(count as usize).sum::<usize>();
    &text[bytes(first.saturating_sub(1))..bytes(last)]
}

// === impl CodebaseSearchOutput ===

impl CodebaseSearchOutput {
    pub(super) fn new(
        budget: ResultBudget,
        found: &CodeSearchFound,
        mut notes: Vec<String>,
    ) -> Self {
        let (results, left_out) = budget.finish();
        let lacks_snippets = results.iter().any(|result| result.snippet.is_none());
        let truncated = lacks_snippets || left_out > 0;
        if found.pending > 0 {
            notes.push(format!(
                "{} files are still being read: ask again in a moment, or use grep_search",
                found.pending
            ));
        }
        if left_out > 0 {
            notes.push(format!(
                "{left_out} results were left out: there was no room for more, ask for less at once"
            ));
        }
        if lacks_snippets {
            notes
                .push("not all snippets are shown: read_file has them by path and line".to_owned());
        }
        if results.is_empty() {
            notes.push(
                "nothing has these words: try others, fewer, or grep_search with a part of one"
                    .to_owned(),
            );
        }
        Self {
            results,
            files_searched: found.files,
            files_pending: found.pending,
            ranking: found.ranking.map(|ranking| match ranking {
                CodeRanking::Lexical => "lexical",
                CodeRanking::Hybrid => "hybrid",
            }),
            truncated,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}
