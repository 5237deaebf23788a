//! Results of calls as a turn that a chat model reads and continues from (requirement B4).
//!
//! Each result says which call it belongs to and how that went, and stands in a fence that its content
//! cannot close. A wrapper begins with words that the reader of replies takes for made up where a
//! model writes them itself.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::block::{fill, longest_run};
use crate::conversation::{MessagePart, ToolCall, ToolResult};
use crate::language::{InLanguages, Language};

/// The most characters of one result that are passed on.
const RESULT_CHARS_MAX: usize = 30_000;
/// The share of a cut result that is its beginning, in percent; the rest is its end.
const HEAD_PERCENT: usize = 70;
/// Backticks of the shortest fence.
const FENCE_MIN: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContinuationTexts {
    ok: String,
    error: String,
    empty: String,
    missing: String,
    cut: String,
    unnamed: String,
    files: String,
    go_on: String,
    go_on_error: String,
}

static TEXTS: LazyLock<InLanguages<ContinuationTexts>> = LazyLock::new(|| {
    InLanguages::read(include_str!("continuation/en.toml"), include_str!("continuation/zh.toml"))
});

/// Reports the results of a turn, in the order of its calls; results of calls that the turn did not
/// make come last. Calls without a result are reported as such. `goes_on` asks the model to
/// continue: for the results that end a conversation.
///
/// Long text is cut in its middle to [`RESULT_CHARS_MAX`], with a mark there; images and the like
/// are passed on behind the text of their result.
pub(crate) fn continuation(
    calls: &[ToolCall],
    results: &[&ToolResult],
    language: Language,
    goes_on: bool,
) -> Vec<MessagePart> {
    let texts = TEXTS.of(language);
    let mut parts = Parts::default();
    let mut told = vec![false; results.len()];
    // Of results with one id the first.
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, result) in results.iter().enumerate() {
        places.entry(result.call_id.as_str()).or_insert(place);
    }
    for call in calls {
        match places.get(call.id.as_str()).copied() {
            Some(place) => {
                told[place] = true;
                parts.result(texts, Some(&call.name), results[place]);
            }
            None => {
                let values = [("id", call.id.as_str()), ("tool", call.name.as_str())];
                parts.line(&fill(&texts.missing, &values));
            }
        }
    }
    let others = results.iter().zip(&told).filter(|(_, told)| !**told);
    for (result, _) in others {
        parts.result(texts, None, result);
    }
    if goes_on {
        parts.line("");
        parts.line(&texts.go_on);
        if results.iter().any(|result| result.is_error) {
            parts.line(&texts.go_on_error);
        }
    }
    parts.done()
}

/// Parts of a message as they grow: lines of text, and what is no text.
#[derive(Default)]
struct Parts {
    done: Vec<MessagePart>,
    text: String,
}

// === impl Parts ===

impl Parts {
    fn line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    fn result(&mut self, texts: &ContinuationTexts, called: Option<&str>, result: &ToolResult) {
        let tool = called.or(result.name.as_deref()).unwrap_or(&texts.unnamed);
        let mut text = String::new();
        let mut opaque = Vec::new();
        for part in &result.content {
            match part {
                MessagePart::Text(piece) => text.push_str(piece),
                MessagePart::Opaque(_) => opaque.push(part.clone()),
            }
        }
        let is_blank = text.trim().is_empty();
        let head = match (result.is_error, is_blank && opaque.is_empty()) {
            (true, _) => &texts.error,
            (false, true) => &texts.empty,
            (false, false) => &texts.ok,
        };
        self.line(&fill(head, &[("id", &result.call_id), ("tool", tool)]));
        if !is_blank {
            let text = cut(&text, &texts.cut);
            let fence = "`".repeat((longest_run(&text, '`') + 1).max(FENCE_MIN));
            let end = if text.ends_with('\n') { "" } else { "\n" };
            self.line(&format!("{fence}\n{text}{end}{fence}"));
        }
        if !opaque.is_empty() {
            self.line(&format!("[{}]", texts.files));
            self.flush();
            self.done.append(&mut opaque);
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.done.push(MessagePart::Text(std::mem::take(&mut self.text)));
        }
    }

    fn done(mut self) -> Vec<MessagePart> {
        self.flush();
        self.done
    }
}

/// Leaves out the middle of a long text, with a mark there.
fn cut(text: &str, mark: &str) -> String {
    let all = text.chars().count();
    if all <= RESULT_CHARS_MAX {
        return text.to_owned();
    }
    let head = RESULT_CHARS_MAX * HEAD_PERCENT / 100;
    let tail = RESULT_CHARS_MAX - head;
    let place = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (left, all) = ((all - RESULT_CHARS_MAX).to_string(), all);
    let mark = fill(mark, &[("left", &left), ("all", &all.to_string())]);
    format!("{}\n{mark}\n{}", &text[..place(head)], &text[place(all - tail)..])
}

#[cfg(test)]
mod tests;
