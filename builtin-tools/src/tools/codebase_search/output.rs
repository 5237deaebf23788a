//! What the tool returns.

use moss_ranking::ShownHit;
use moss_sdk::code_search::{CodeHit, CodeRanking, CodeSearchFound};
use schemars::JsonSchema;
use serde::Serialize;

/// Most bytes of all results, as they are returned: about 5,000 tokens.
const RESULTS_BYTES_MAX: usize = 20_000;
/// Most bytes of all snippets among them: about 3,000 tokens.
const SNIPPETS_BYTES_MAX: usize = 12_000;
/// What the names of the fields of a snippet take, and the number of its line.
const SNIPPET_KEYS_BYTES: usize = 40;

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
    /// Which words of the question, or of the place that is asked about, it has, and where; `used there` where that
    /// place names it; of a Chinese word what stands there for it. `meaning` where
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
    /// Whether a place is asked about, and not a question put.
    is_related: bool,
}

// === impl ResultBudget ===

impl ResultBudget {
    pub(super) fn new(is_related: bool) -> Self {
        Self { is_related, ..Self::default() }
    }

    /// Takes a hit with the text of its file, the best one first.
    pub(super) fn take(&mut self, hit: &CodeHit, text: &str, best: f32) {
        let ShownHit { why, line, lines } = ShownHit::of(hit, text, self.is_related);
        let result = CodeResult {
            path: hit.path.to_string(),
            line: hit.lines.0,
            end_line: hit.lines.1,
            symbol: hit.name.clone(),
            kind: hit.kind,
            container: hit.container.clone(),
            score: (f64::from(hit.score / best.max(f32::MIN_POSITIVE)) * 100.0).round() / 100.0,
            why,
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
        self.snippets.push((line, lines));
    }

    /// Adds the snippets for which there is room.
    fn finish(self) -> (Vec<CodeResult>, usize) {
        let Self { mut results, snippets, used, left_out, .. } = self;
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
        if found.incomplete > 0 {
            notes.push(format!(
                "of {} files only a part is known, as they are too large or too long to parse: grep_search reads them",
                found.incomplete
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
