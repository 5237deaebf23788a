//! What belongs to a place: a question made of the names and the words that stand there.

use hashbrown::HashMap;
use moss_sdk::RelPath;
use moss_symbols::{DeclarationKind, Language, Outline, Outliner};

use crate::chunk::{self, LineStarts, TextChunk};
use crate::question::{CodeQuestion, SymbolWord, TermGroup, TermKind};
use crate::words::{WordReader, parts, runs, spelled};

/// Most words of a place that are asked for.
const WORDS_MAX: usize = 60;
/// Most names that are looked up.
const NAMES_MAX: usize = 12;
/// How much the name of what the place declares counts, which its callers have.
const NAME_WEIGHT: f32 = 4.0;

// === impl CodeQuestion ===

impl CodeQuestion {
    /// Asks for what belongs to a line of a text: who uses what is declared there, what that uses, what
    /// has the same words. Also says which lines the place has; none where the text has no such line.
    pub fn related(path: &RelPath, text: &str, line: u32) -> Option<(Self, (u32, u32))> {
        let language = Language::of_text(path.as_str(), text);
        let outline =
            language.and_then(|language| Outliner::default().outline(language, text).ok());
        let (chunks, _) = chunk::chunks(text, outline.as_ref());
        let holds = |chunk: &&TextChunk| (chunk.lines.0..=chunk.lines.1).contains(&line);
        let around =
            chunks.iter().filter(holds).min_by_key(|chunk| chunk.lines.1 - chunk.lines.0)?;
        Some((question(text, outline.as_ref(), around), around.lines))
    }
}

fn question(text: &str, outline: Option<&Outline>, around: &TextChunk) -> CodeQuestion {
    let mut words = WordReader::default();
    let mut question = CodeQuestion { asks_tests: around.is_test, ..CodeQuestion::default() };
    let declaration =
        around.declaration.zip(outline).map(|(at, outline)| &outline.declarations[at]);
    if let Some(declaration) = declaration.filter(|one| one.kind != DeclarationKind::Heading) {
        let name = &declaration.name;
        let name = &text[name.start as usize..name.end as usize];
        let whole: String = parts(name).map(str::to_lowercase).collect();
        question.groups.push(group(name, whole, NAME_WEIGHT));
    }
    question.symbols = used_names(text, outline, around);
    let mut counts: HashMap<String, f32> = HashMap::new();
    let mut add = |text: &str, weight: f32| {
        words.read(text, &mut |word| {
            *counts.entry(word.to_owned()).or_default() += weight;
        });
    };
    for piece in &around.pieces {
        add(&text[piece.clone()], 1.0);
    }
    if let Some(documentation) = &around.documentation {
        add(&text[documentation.start as usize..documentation.end as usize], 1.0);
    }
    let mut counts: Vec<(String, f32)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    counts.truncate(WORDS_MAX);
    let documentation = around.documentation.iter();
    let documentation = documentation.map(|range| range.start as usize..range.end as usize);
    let texts: Vec<&str> =
        around.pieces.iter().cloned().chain(documentation).map(|piece| &text[piece]).collect();
    for (word, count) in counts {
        let written = texts.iter().find_map(|text| spelled(text, &word)).map(str::to_owned);
        question.groups.push(group(
            written.as_ref().unwrap_or(&word),
            word.clone(),
            1.0 + count.ln(),
        ));
    }
    question
}

fn group(shown: &str, term: String, weight: f32) -> TermGroup {
    TermGroup { shown: shown.to_owned(), terms: vec![term], weight, kind: TermKind::Word }
}

/// The names that a place calls and the types that it names, the first of each.
fn used_names(text: &str, outline: Option<&Outline>, around: &TextChunk) -> Vec<SymbolWord> {
    let mut names: Vec<SymbolWord> = Vec::new();
    let mut add = |name: &str| {
        let symbol = SymbolWord { name: name.to_lowercase(), container: None };
        if name.len() > 3 && names.len() < NAMES_MAX && !names.contains(&symbol) {
            names.push(symbol);
        }
    };
    match outline {
        Some(outline) => {
            let starts = LineStarts::new(text);
            for used in &outline.uses {
                let line = starts.line(used.name.start as usize);
                let is_here = (around.lines.0..=around.lines.1).contains(&line);
                let is_name =
                    matches!(used.kind, moss_symbols::UseKind::Call | moss_symbols::UseKind::Type);
                if is_here && is_name {
                    add(&text[used.name.start as usize..used.name.end as usize]);
                }
            }
        }
        None => {
            let pieces = around.pieces.iter().flat_map(|piece| runs(&text[piece.clone()]));
            pieces.filter(|(_, run)| run.contains('_')).for_each(|(_, run)| add(run));
        }
    }
    names
}
