//! Reads one text: its chunks, and which words each has in which field.

use hashbrown::HashMap;
use moss_sdk::RelPath;
use moss_sdk::ranking::PathRank;
use moss_symbols::{DeclarationKind, Language, Outline, Outliner, TextRange};

use crate::chunk::{self, TextChunk};
use crate::weights::{BODY, CONTAINER, DOCUMENTATION, FIELDS, PATH, SYMBOL};
use crate::words::{WordReader, pair, parts};

/// Most of a text without an outline that is read: data of that size are nobody's words.
const UNOUTLINED_BYTES_MAX: usize = 256 << 10;
/// Longest name of a declaration that is kept.
const NAME_BYTES_MAX: usize = 200;
/// How a term begins that stands for what a chunk declares.
pub(crate) const DECLARES: char = '=';

/// A text as the index takes it.
#[derive(Debug)]
pub struct AnalyzedText {
    pub(crate) path: RelPath,
    pub(crate) role: FileRole,
    pub(crate) terms: Vec<Box<str>>,
    pub(crate) chunks: Vec<AnalyzedChunk>,
    /// Whether only a part of it is known: it does not parse within bounds, or has more than is kept of one text.
    pub(crate) is_incomplete: bool,
}

/// A chunk and its words.
#[derive(Debug)]
pub(crate) struct AnalyzedChunk {
    pub(crate) lines: (u32, u32),
    pub(crate) name: Option<Box<str>>,
    pub(crate) container: Option<Box<str>>,
    pub(crate) kind: Option<DeclarationKind>,
    pub(crate) is_test: bool,
    /// Whether it is a further part of the declaration that the chunk before it begins.
    pub(crate) is_continued: bool,
    /// How long each field is, in words.
    pub(crate) lengths: [u16; FIELDS],
    /// How often each term is in each field, by its place among those of the text.
    pub(crate) counts: Vec<(u32, [u16; FIELDS])>,
}

/// What a file is for, as far as it matters to its rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileRole {
    Source,
    /// Source that mostly passes on what other files declare.
    Barrel,
    Test,
    Document,
    Data,
    Vendored,
}

/// Reads texts one after the other.
#[derive(Debug, Default)]
pub struct TextAnalyzer {
    outliner: Outliner,
    words: WordReader,
}

/// The words of the chunk that is being read.
#[derive(Debug, Default)]
struct WordCounts {
    places: HashMap<Box<str>, u32>,
    terms: Vec<Box<str>>,
    counts: HashMap<u32, [u16; FIELDS]>,
    lengths: [u16; FIELDS],
}

// === impl TextAnalyzer ===

impl TextAnalyzer {
    /// Finds the chunks of a text and the words of each, with its language where there is one.
    pub fn analyze(&mut self, path: &RelPath, text: &str) -> AnalyzedText {
        let (outline, is_unparsed) = self.outline(path, text);
        self.outlined(path, text, outline.as_ref(), is_unparsed)
    }

    /// The outline of a text, and whether it has none though there is a grammar: it does not parse within bounds.
    pub(crate) fn outline(&mut self, path: &RelPath, text: &str) -> (Option<Outline>, bool) {
        let language = Language::of_text(path.as_str(), text);
        let outlined = language.map(|language| self.outliner.outline(language, text));
        let is_unparsed = matches!(outlined, Some(Err(_)));
        (outlined.and_then(Result::ok), is_unparsed)
    }

    /// What of a text is cut into chunks.
    pub(crate) fn read_part<'t>(text: &'t str, outline: Option<&Outline>) -> &'t str {
        match outline {
            Some(_) => text,
            None => head(text, UNOUTLINED_BYTES_MAX),
        }
    }

    fn outlined(
        &mut self,
        path: &RelPath,
        text: &str,
        outline: Option<&Outline>,
        is_unparsed: bool,
    ) -> AnalyzedText {
        let read = Self::read_part(text, outline);
        let mut counts = WordCounts::default();
        let path_words = self.path_words(path);
        let (chunks, is_cut) = chunk::chunks(read, outline);
        let is_incomplete = is_unparsed || is_cut || outline.is_some_and(|outline| outline.is_cut);
        let role = FileRole::of_chunks(path, outline, &chunks);
        let chunks = chunks
            .iter()
            .map(|chunk| self.chunk(chunk, (read, outline), &path_words, &mut counts))
            .collect();
        AnalyzedText { path: path.clone(), role, terms: counts.terms, chunks, is_incomplete }
    }

    /// The words of a path: of its last directories, and twice of its name without what follows the dot.
    fn path_words(&mut self, path: &RelPath) -> Vec<String> {
        let all: Vec<&str> = path.components().collect();
        let Some((name, directories)) = all.split_last() else { return Vec::new() };
        let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
        let mut words = Vec::new();
        for directory in directories.iter().rev().take(3) {
            words.extend(self.words.words(directory));
        }
        for _ in 0..2 {
            words.extend(self.words.words(stem));
        }
        words
    }

    /// The words of a name, and each two that stand beside each other.
    fn name(&mut self, field: usize, name: &str, counts: &mut WordCounts) {
        let mut stems: Vec<String> = Vec::new();
        for part in parts(name) {
            self.words.read(part, &mut |word| stems.push(word.to_owned()));
        }
        self.words.read(name, &mut |word| counts.add(field, word));
        for two in stems.windows(2) {
            counts.add_unmeasured(field, &pair(&two[0], &two[1]));
        }
    }

    fn chunk(
        &mut self,
        chunk: &TextChunk,
        (text, outline): (&str, Option<&Outline>),
        path_words: &[String],
        counts: &mut WordCounts,
    ) -> AnalyzedChunk {
        counts.begin();
        path_words.iter().for_each(|word| counts.add(PATH, word));
        let slice = |range: &TextRange| {
            text.get(range.start as usize..range.end as usize).unwrap_or_default()
        };
        let declaration =
            chunk.declaration.zip(outline).map(|(at, outline)| &outline.declarations[at]);
        let name = declaration.map(|declaration| slice(&declaration.name));
        let name = name.map(|name| head(name, NAME_BYTES_MAX)).filter(|name| !name.is_empty());
        if let Some(name) = name {
            self.name(SYMBOL, name, counts);
            if !chunk.is_continued {
                counts.mark(&format!("{DECLARES}{}", name.to_lowercase()));
            }
        }
        for container in &chunk.containers {
            let name = head(slice(container), NAME_BYTES_MAX);
            self.name(CONTAINER, name, counts);
        }
        if let Some(documentation) = &chunk.documentation {
            self.words.read(slice(documentation), &mut |word| counts.add(DOCUMENTATION, word));
        }
        let signs = outline.map_or(&[][..], |outline| comment_signs(outline.language));
        for piece in &chunk.pieces {
            for line in text[piece.clone()].split_inclusive('\n') {
                let start = line.trim_start();
                let is_comment = signs.iter().any(|sign| start.starts_with(sign));
                let field = if is_comment { DOCUMENTATION } else { BODY };
                self.words.read(line, &mut |word| counts.add(field, word));
            }
        }
        let container = chunk.containers.first();
        let container = container.map(|range| head(slice(range), NAME_BYTES_MAX));
        AnalyzedChunk {
            lines: chunk.lines,
            name: name.map(Into::into),
            container: container.filter(|name| !name.is_empty()).map(Into::into),
            kind: declaration.map(|declaration| declaration.kind),
            is_test: chunk.is_test,
            is_continued: chunk.is_continued,
            lengths: counts.lengths,
            counts: counts.take(),
        }
    }
}

/// How lines begin that are comments; nothing of a language where that is not sure.
fn comment_signs(language: Language) -> &'static [&'static str] {
    match language.name() {
        "python" | "ruby" | "bash" | "elixir" | "yaml" | "toml" => &["# "],
        "lua" | "sql" | "haskell" => &["--"],
        "json" | "markdown" | "html" => &[],
        _ => &["//", "/*", "* "],
    }
}

/// The first bytes of a text, up to a whole character.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

// === impl WordCounts ===

impl WordCounts {
    fn begin(&mut self) {
        self.counts.clear();
        self.lengths = [0; FIELDS];
    }

    fn place(&mut self, word: &str) -> u32 {
        if let Some(place) = self.places.get(word) {
            return *place;
        }
        let place = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        self.places.insert(word.into(), place);
        self.terms.push(word.into());
        place
    }

    fn add(&mut self, field: usize, word: &str) {
        let place = self.place(word);
        let counts = self.counts.entry(place).or_insert([0; FIELDS]);
        counts[field] = counts[field].saturating_add(1);
        self.lengths[field] = self.lengths[field].saturating_add(1);
    }

    /// Adds a term that does not make its field longer.
    fn add_unmeasured(&mut self, field: usize, term: &str) {
        let place = self.place(term);
        let counts = self.counts.entry(place).or_insert([0; FIELDS]);
        counts[field] = counts[field].saturating_add(1);
    }

    /// Notes a term that is in no field.
    fn mark(&mut self, term: &str) {
        let place = self.place(term);
        self.counts.entry(place).or_insert([0; FIELDS]);
    }

    fn take(&mut self) -> Vec<(u32, [u16; FIELDS])> {
        let mut counts: Vec<_> = self.counts.drain().collect();
        counts.sort_unstable_by_key(|(place, _)| *place);
        counts
    }
}

// === impl FileRole ===

impl FileRole {
    /// What a file is for that has these chunks.
    pub(crate) fn of_chunks(
        path: &RelPath,
        outline: Option<&Outline>,
        chunks: &[TextChunk],
    ) -> Self {
        let has_code = |chunk: &TextChunk| {
            let declaration = chunk.declaration.zip(outline);
            declaration.is_some_and(|(at, outline)| {
                outline.declarations[at].kind != DeclarationKind::Heading
            })
        };
        Self::of(path, outline, !chunks.iter().any(has_code))
    }

    fn of(path: &RelPath, outline: Option<&Outline>, is_barren: bool) -> Self {
        let name = path.file_name().unwrap_or_default();
        match PathRank::of(path) {
            PathRank::Test => Self::Test,
            PathRank::Document => Self::Document,
            PathRank::Vendored => Self::Vendored,
            PathRank::Source => match outline.map(|outline| outline.language) {
                Some(Language::Json | Language::Toml | Language::Yaml) => Self::Data,
                Some(Language::Markdown) => Self::Document,
                Some(_) if is_barren && is_index_file(name) => Self::Barrel,
                Some(_) if is_example(path) => Self::Test,
                Some(_) => Self::Source,
                None => Self::Data,
            },
        }
    }
}

fn is_index_file(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    matches!(stem, "__init__" | "mod" | "lib" | "index" | "main")
}

fn is_example(path: &RelPath) -> bool {
    path.components().any(|name| matches!(name, "examples" | "example" | "benches" | "bench"))
}
