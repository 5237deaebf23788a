//! Whether bash reads a text as it is read here: what it writes down of it, compared with what it writes down of a
//! rendering of what was read, and read once more.
//!
//! Bash writes a text down without running it, each command on a line of its own and one blank between words. Of a text
//! and of its [rendering](crate::rendering) it writes the same, byte for byte, only where it finds the same words,
//! comments, redirections and lines in both. What was taken for one word, and is more to bash, it writes down with other
//! blanks and lines than the text can have: so that is seen where its form is read once more.
//!
//! What bash copies and does not read at that time is compared for itself: texts for other shells, in backticks, and
//! substitutions in here-documents.

use std::collections::{BTreeMap, BTreeSet};

use crate::reader::{ReadText, read_text};
use crate::rendering::{longest_run, opaque_pieces, rendered};
use crate::{
    RedirectionMode, SCRIPT_BYTES_MAX, ShellWord, SimpleCommand, Unparsed, is_plain, read,
};

/// Most texts that stand in one and are compared for themselves.
const TEXTS_MAX: usize = 64;
/// Most pieces of one text that are looked for in what bash writes down of it.
const PIECES_MAX: usize = 1024;
/// Longest script for bash, in bytes.
const COMPARED_BYTES_MAX: usize = 512 * 1024;
/// Longest form in which bash writes down one text, in bytes: with blanks of its own before each line.
const PRINTED_BYTES_MAX: usize = 1 << 20;
/// What newer versions of bash write down anew, and older ones as it is.
const SUBSTITUTION: &str = ": $(:   :)";
const SUBSTITUTION_ANEW: &str = ": $(: :)";
/// The blanks by which bash writes what is in braces further in.
const INDENT: &str = "    ";

/// What bash is to write down of a text, to be compared with what was read in it.
#[derive(Debug, Clone)]
pub struct SecondReading {
    /// The texts: the whole one, and those in it.
    texts: Vec<ComparedText>,
    /// A name that stands in none of them.
    mark: String,
    /// Braces around each, so many that bash writes each line further in than one of a text begins.
    braces: usize,
}

/// A text with renderings of it.
#[derive(Debug, Clone)]
struct ComparedText {
    text: String,
    /// With substitutions as they are.
    flat: String,
    /// With what is in them rendered, too.
    anew: String,
    /// What bash has to write down as it is, and how often.
    pieces: BTreeMap<String, usize>,
}

/// What is known of a word: its text, or how all that it becomes begins and whether that is one word.
type Known<'a> = (Option<&'a str>, &'a str, bool);

/// What a command comes to, but for where its input comes from: into a function anything may be piped.
#[derive(Debug, PartialEq, Eq)]
struct BareCommand<'a> {
    words: Vec<Known<'a>>,
    assignments: Vec<(&'a str, Option<Known<'a>>)>,
    redirections: Vec<(RedirectionMode, Known<'a>, bool)>,
    input: Option<Known<'a>>,
}

/// Whether two texts have the same commands, whatever blanks and quotes they are written with. The second is one as bash
/// writes it: with a here-document before what stands behind it in its line, so that commands in it come first.
fn is_like(text: &str, printed: &str) -> bool {
    let one = read_text(text, 0, SCRIPT_BYTES_MAX);
    let other = read_text(printed, 0, PRINTED_BYTES_MAX);
    let (Ok(one), Ok(other)) = (one, other) else { return false };
    sorted(&one.commands) == sorted(&other.commands)
}

fn sorted(commands: &[SimpleCommand]) -> Vec<BareCommand<'_>> {
    let mut commands: Vec<_> = commands.iter().map(BareCommand::of).collect();
    commands.sort_by_cached_key(|command| format!("{command:?}"));
    commands
}

/// What is known of what a command is given to read. Here-documents, which end with a line, bash writes down as they are.
fn known_input(word: &ShellWord) -> Known<'_> {
    match word {
        ShellWord::Unknown { text, .. } if text.ends_with('\n') => (Some(text), "", true),
        word => known(word),
    }
}

fn known(word: &ShellWord) -> Known<'_> {
    (word.fixed(), word.starts(), word.is_exactly_one())
}

// === impl SecondReading ===

impl SecondReading {
    /// Reads a text once more, for bash.
    ///
    /// # Errors
    ///
    /// Where it is not read, or is too much to be compared.
    pub fn of(text: &str) -> Result<Self, Unparsed> {
        let commands = read(text)?.commands;
        let scripts = commands.into_iter().filter_map(|command| command.script);
        let mut known = BTreeSet::from([text.to_owned()]);
        let mut texts = Vec::new();
        let mut left = vec![text.to_owned()];
        left.extend(scripts.filter(|script| !is_plain(script)));
        while let Some(text) = left.pop() {
            let read = read_text(&text, 0, SCRIPT_BYTES_MAX)?;
            let inner = read.inner.iter().filter(|inner| !is_plain(inner));
            left.extend(inner.filter(|inner| known.insert((*inner).clone())).cloned());
            texts.push(ComparedText::of(text, &read)?);
            if texts.len() + left.len() > TEXTS_MAX {
                return Err(Unparsed::new(0, format!("more than {TEXTS_MAX} texts within it")));
            }
        }
        Self::with(texts)
    }

    fn with(texts: Vec<ComparedText>) -> Result<Self, Unparsed> {
        let run = texts.iter().map(|one| longest_run(&one.text, '_')).max().unwrap_or_default();
        let mark = format!("text{}", "_".repeat(run + 1));
        let deepest = texts.iter().flat_map(|one| one.text.lines());
        let deepest = deepest.map(|line| line.len() - line.trim_start_matches(' ').len()).max();
        let braces = deepest.unwrap_or_default() / INDENT.len() + 1;
        let second = Self { texts, mark, braces };
        let bytes: usize = second.bodies().map(|body| body.len() + 2 * braces * INDENT.len()).sum();
        match bytes <= COMPARED_BYTES_MAX {
            true => Ok(second),
            false => Err(Unparsed::new(0, "too long to be compared")),
        }
    }

    /// The texts that bash is to write down, in their order.
    fn bodies(&self) -> impl Iterator<Item = &str> {
        let of_texts = self.texts.iter().flat_map(|one| [&*one.text, &*one.flat, &*one.anew]);
        [SUBSTITUTION].into_iter().chain(of_texts)
    }

    /// The script that bash is to write down: each text as the body of a function.
    pub fn script(&self) -> String {
        self.script_of(self.bodies())
    }

    /// The same without renderings, for bash to say whether it reads the texts at all.
    pub fn script_alone(&self) -> String {
        self.script_of(self.texts.iter().map(|one| &*one.text))
    }

    fn script_of<'a>(&self, bodies: impl Iterator<Item = &'a str>) -> String {
        let (open, close) = ("{\n".repeat(self.braces), "\n}".repeat(self.braces));
        let mark = &self.mark;
        let function = |(at, body)| format!("{mark}{at} ()\n{open}{body}{close}\n");
        bodies.enumerate().map(function).collect()
    }

    /// Whether bash has read all texts as they were read here, by what it has written down of the script.
    pub fn is_same(&self, printed: &str) -> bool {
        let Some(parts) = self.parts(printed) else { return false };
        let [probe, texts @ ..] = parts.as_slice() else { return false };
        let is_anew = *probe == SUBSTITUTION_ANEW;
        let (printed, left) = texts.as_chunks::<3>();
        let mut all = self.texts.iter().zip(printed);
        let is_same = |(one, [text, flat, anew]): (&ComparedText, &[&str; 3])| {
            text == flat && (!is_anew || text == anew) && one.holds(text)
        };
        left.is_empty() && printed.len() == self.texts.len() && all.all(is_same)
    }

    /// What bash has written down, text by text; none where it has not one function for each.
    fn parts<'p>(&self, printed: &'p str) -> Option<Vec<&'p str>> {
        let mut parts = printed.split(&*self.mark);
        if parts.next() != Some("") {
            return None;
        }
        let part = |(at, part): (usize, &'p str)| {
            let depths = 0..self.braces;
            let open: String = depths.clone().map(|depth| INDENT.repeat(depth) + "{ \n").collect();
            let close: String =
                depths.rev().map(|depth| format!("\n{}}}", INDENT.repeat(depth))).collect();
            let body =
                part.strip_prefix(&format!("{at} () \n{open}{}", INDENT.repeat(self.braces)))?;
            body.trim_end_matches('\n').strip_suffix(&close)
        };
        parts.enumerate().map(part).collect()
    }
}

// === impl ComparedText ===

impl ComparedText {
    fn of(text: String, read: &ReadText) -> Result<Self, Unparsed> {
        let flat = rendered(&text, &read.gaps, 0);
        let anew = rendered(&text, &read.gaps, usize::MAX);
        let mut pieces = BTreeMap::new();
        for piece in opaque_pieces(&text, &read.gaps) {
            *pieces.entry(piece.to_owned()).or_default() += 1;
        }
        if pieces.len() > PIECES_MAX {
            return Err(Unparsed::new(0, format!("more than {PIECES_MAX} quoted words")));
        }
        Ok(Self { text, flat, anew, pieces })
    }

    /// Whether what bash has written down has the same commands, and each quoted word as it is: bash begins lines where the
    /// text does not, so it would not be there if bash made more than a word of it.
    fn holds(&self, printed: &str) -> bool {
        let is_there =
            |(piece, count): (&String, &usize)| printed.matches(piece.as_str()).count() >= *count;
        self.pieces.iter().all(is_there) && is_like(&self.text, printed)
    }
}

// === impl BareCommand ===

impl<'a> BareCommand<'a> {
    fn of(command: &'a SimpleCommand) -> Self {
        // bash writes `[[ -n a ]]` where the text has `[[ a ]]`.
        let is_test = command.words.first().and_then(ShellWord::fixed) == Some("[[");
        let words = command.words.iter().filter(|word| !is_test || word.fixed() != Some("-n"));
        let assigned = command.assignments.iter();
        let opened = command.redirections.iter();
        Self {
            words: words.map(known).collect(),
            assignments: assigned
                .map(|one| (one.name.as_str(), one.value.as_ref().map(known)))
                .collect(),
            redirections: opened.map(|one| (one.mode, known(&one.target), one.is_output)).collect(),
            input: command.input.as_ref().map(known_input),
        }
    }
}

#[cfg(test)]
mod tests;
