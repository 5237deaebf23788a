//! Questions over the code of a workspace, and the locations that are relevant to them.

use std::fmt;
use std::sync::Arc;

use crate::path::RelPath;

/// Which files a question is put to.
pub type FileChoice = Arc<dyn Fn(&RelPath) -> bool + Send + Sync>;

/// A question over code.
#[derive(Clone)]
pub struct CodeSearch {
    /// What is asked for.
    pub goal: CodeSearchGoal,
    /// Which files are wanted.
    pub wants: FileChoice,
    /// Most hits of all files together, the best of them.
    pub hits_max: usize,
    /// Most hits of one file.
    pub hits_of_file_max: usize,
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSearchGoal {
    /// A question: words, names, English or Chinese.
    Question(String),
    /// What declares one of some names, exactly: of each as many as of any other, where there are too many.
    Declared {
        /// Each as it is written where it is declared.
        names: Vec<String>,
        /// Declarations that are near to this file come first.
        near: Option<RelPath>,
    },
    /// What belongs to a place.
    RelatedTo {
        /// The file that it lies in.
        path: RelPath,
        /// Its line, from 1.
        line: u32,
        /// What the file holds.
        text: Arc<str>,
    },
}

/// What a question found.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeSearchFound {
    /// The places, the best first.
    pub hits: Vec<CodeHit>,
    /// How many files were asked.
    pub files: u64,
    /// How many are not read yet, so that what is in them is not found.
    pub pending: u64,
    /// Of how many only a part is known: they do not parse within bounds, or have more than is kept of one.
    pub incomplete: u64,
    /// How they were ranked; none where nobody configured more than words.
    pub ranking: Option<CodeRanking>,
}

/// How the places that are relevant to a question are ranked, where embeddings are configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeRanking {
    /// By words alone: there is no vector of the question, or too few of the texts.
    Lexical,
    /// By words and by the nearness of vectors.
    Hybrid,
}

/// A location that is relevant to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeHit {
    /// The file that it lies in.
    pub path: RelPath,
    /// Its first and its last line, from 1.
    pub lines: (u32, u32),
    /// The name of what it declares; none where it declares nothing.
    pub name: Option<String>,
    /// What that lies in.
    pub container: Option<String>,
    /// What kind of declaration it is, such as `function`.
    pub kind: Option<&'static str>,
    /// How relevant it is, more being better; only comparable within one result.
    pub score: f32,
    /// Whether the question spells out its name.
    pub is_named: bool,
    /// Whether a model of embeddings says that it is near to the question.
    pub is_near: bool,
    /// Which words of the question it has.
    pub matched: Vec<MatchedWord>,
}

/// A word of a question that a place has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedWord {
    /// The word as the question has it.
    pub word: String,
    /// What of it the place has: the stem of a word, which may be of another language.
    pub term: String,
    /// Where it counts most.
    pub place: MatchField,
}

/// Where a place has a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchField {
    /// In the name of what it declares.
    Name,
    /// In the name of what that lies in.
    Container,
    /// In the path of its file.
    Path,
    /// In what documents it.
    Documentation,
    /// Elsewhere in its text.
    Text,
    /// In the subject of a commit that changed its file.
    Commits,
}

impl fmt::Debug for CodeSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeSearch").field("goal", &self.goal).finish_non_exhaustive()
    }
}
