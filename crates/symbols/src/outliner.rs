//! Parses texts within bounds.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};

use crate::allocation;
use crate::errors;
use crate::gaps;
use crate::grammar::grammar;
use crate::language::Language;
use crate::macros::without_macros;
use crate::outline::{Outline, SyntaxError};
use crate::walk;

/// Largest text that is parsed, in bytes.
const TEXT_BYTES_MAX: usize = 4 << 20;
/// Longest line of such a text, in bytes: a text that is for the most part in longer ones was written by a program.
const LINE_BYTES_MAX: usize = 20_000;
/// Longest time that a text may take to be parsed, and again to be walked over.
const PARSE_TIME_MAX: Duration = Duration::from_secs(2);
/// Most memory that a text may take, in bytes: many times what the largest one takes in a grammar that has one way to
/// read it.
const PARSE_BYTES_MAX: usize = 512 << 20;

/// Why a text has no outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutlineProblem {
    /// It is too large, or most of it is in lines that are too long.
    #[error("it is larger than {} MiB or for the most part in lines of more than {LINE_BYTES_MAX} bytes", TEXT_BYTES_MAX >> 20)]
    TooLarge,
    /// Its grammar took too long.
    #[error("its grammar took too long")]
    TimedOut,
    /// Its grammar took too much memory.
    #[error("its grammar took too much memory")]
    TooMuchMemory,
}

/// Parses one text after the other.
pub struct Outliner {
    parser: Option<(Language, Parser)>,
    /// Longest time that a text may take.
    time_max: Duration,
    /// Most memory that a text may take, in bytes.
    bytes_max: usize,
}

/// Whether a text is for the most part in lines that nobody writes.
fn is_minified(text: &str) -> bool {
    let long = text.lines().map(str::len).filter(|length| *length > LINE_BYTES_MAX);
    long.sum::<usize>() > text.len() / 2
}

// === impl Outliner ===

impl Outliner {
    /// Parses texts that may take so long each, in place of two seconds.
    pub fn within(time_max: Duration) -> Self {
        Self { parser: None, time_max, bytes_max: PARSE_BYTES_MAX }
    }

    /// Parses texts for which a grammar may take so many bytes each, in place of 512 MiB.
    pub fn with_bytes_max(self, bytes_max: usize) -> Self {
        Self { bytes_max, ..self }
    }

    /// Reads what a text declares and uses.
    ///
    /// # Errors
    ///
    /// Where the text passes a bound.
    pub fn outline(&mut self, language: Language, text: &str) -> Result<Outline, OutlineProblem> {
        let tree = self.parse(language, text)?;
        walk::outline(language, &tree, text, self.time_max).ok_or(OutlineProblem::TimedOut)
    }

    /// Finds where a text does not parse, and nothing else. What is known to be a gap of the grammar is left out.
    ///
    /// # Errors
    ///
    /// Where the text passes a bound.
    pub fn syntax_errors(
        &mut self,
        language: Language,
        text: &str,
    ) -> Result<Vec<SyntaxError>, OutlineProblem> {
        let tree = self.parse(language, text)?;
        self.errors_of(language, text, &tree)
    }

    /// Finds where a text does not parse whose tree is there.
    pub(crate) fn errors_of(
        &mut self,
        language: Language,
        text: &str,
        tree: &Tree,
    ) -> Result<Vec<SyntaxError>, OutlineProblem> {
        let found = errors::syntax_errors(language, tree, text);
        if found.is_empty() {
            return Ok(found);
        }
        let Some(filled) = gaps::filled(language, text) else { return Ok(found) };
        let tree = self.parse(language, &filled)?;
        let mut left = errors::syntax_errors(language, &tree, &filled);
        if left.len() > found.len() {
            return Ok(found);
        }
        // What was filled may have had characters of several bytes.
        let boundary = |at: u32| text.floor_char_boundary(at as usize) as u32;
        for error in &mut left {
            error.range = boundary(error.range.start)..boundary(error.range.end);
        }
        Ok(left)
    }

    /// Parses a text as a whole, within the time limit.
    pub(crate) fn parse(&mut self, language: Language, text: &str) -> Result<Tree, OutlineProblem> {
        self.parse_from(language, text, None)?.ok_or(OutlineProblem::TimedOut)
    }

    /// Parses what differs between a text and an earlier tree, which has the difference marked. Returns none where
    /// the text has an error.
    pub(crate) fn parse_changed(
        &mut self,
        language: Language,
        text: &str,
        earlier: &Tree,
    ) -> Result<Option<Tree>, OutlineProblem> {
        let tree = self.parse_from(language, text, Some(earlier))?;
        Ok(tree.filter(|tree| !tree.root_node().has_error()))
    }

    fn parse_from(
        &mut self,
        language: Language,
        text: &str,
        earlier: Option<&Tree>,
    ) -> Result<Option<Tree>, OutlineProblem> {
        if text.len() > TEXT_BYTES_MAX || is_minified(text) {
            return Err(OutlineProblem::TooLarge);
        }
        let (time_max, bytes_max) = (self.time_max, self.bytes_max);
        let parser = self.parser(language);
        let (started, is_wrong, is_large) = (Instant::now(), Cell::new(false), Cell::new(false));
        allocation::begin();
        let mut goes_on = |state: &ParseState| {
            // It is true once no way to read the text is left that is without an error.
            is_wrong.set(earlier.is_some() && state.has_error());
            is_large.set(allocation::taken_bytes() > bytes_max);
            match is_wrong.get() || is_large.get() || started.elapsed() > time_max {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let bytes = without_macros(language, text);
        let mut rest = |at: usize, _| bytes.get(at..).unwrap_or_default();
        let options = ParseOptions::new().progress_callback(&mut goes_on);
        let tree = parser.parse_with_options(&mut rest, earlier, Some(options));
        if tree.is_none() {
            // What it had begun would be continued with the next text.
            parser.reset();
        }
        match tree {
            None if is_large.get() => Err(OutlineProblem::TooMuchMemory),
            None if !is_wrong.get() => Err(OutlineProblem::TimedOut),
            tree => Ok(tree),
        }
    }

    fn parser(&mut self, language: Language) -> &mut Parser {
        self.parser.take_if(|(known, _)| *known != language);
        let (_, parser) = self.parser.get_or_insert_with(|| {
            allocation::count();
            let mut parser = Parser::new();
            parser.set_language(&grammar(language)).expect("a test loads each grammar");
            (language, parser)
        });
        parser
    }
}

impl Default for Outliner {
    fn default() -> Self {
        Self::within(PARSE_TIME_MAX)
    }
}

impl std::fmt::Debug for Outliner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let language = self.parser.as_ref().map(|(language, _)| language);
        f.debug_struct("Outliner").field("language", &language).finish_non_exhaustive()
    }
}
