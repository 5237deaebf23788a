//! What counts how much: chosen by hand, measured with `cargo xtask bench search-quality` on repositories
//! of other people; `docs/search.md` has the figures.

/// The fields of a chunk.
pub(crate) const FIELDS: usize = 5;
/// The name of what it declares.
pub(crate) const SYMBOL: usize = 0;
/// The names of what that lies in.
pub(crate) const CONTAINER: usize = 1;
/// The path of its file.
pub(crate) const PATH: usize = 2;
/// The comment that documents it.
pub(crate) const DOCUMENTATION: usize = 3;
/// All of its text besides.
pub(crate) const BODY: usize = 4;

/// How the fields and the signs of a chunk are weighed.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// How late more occurrences of a word count no more.
    pub k1: f32,
    /// How much a word counts in each field: name, containers, path, documentation, the rest.
    pub fields: [f32; FIELDS],
    /// How far that depends on the length of each field, from 0 to 1.
    pub lengths: [f32; FIELDS],
    /// How much two words of a question count that are one identifier.
    pub joined: f32,
    /// How much it counts that a name has no words but those of the question.
    pub whole_name: f32,
    /// How much more is worth what has more of the question's words.
    pub covered: f32,
    /// How much more a function is worth where the question says what something does, a type where it says
    /// what something is.
    pub shape: f32,
    /// What the score of a test is multiplied with.
    pub test: f32,
    /// What that of a document is multiplied with.
    pub document: f32,
    /// Of what is vendored or generated.
    pub vendored: f32,
    /// Of configuration and data.
    pub data: f32,
    /// Of a file that mostly passes on what others declare.
    pub barrel: f32,
    /// How much more is worth a file that has more of the question's words, in whichever of its chunks.
    pub file_covered: f32,
    /// How much the next two chunks of a file add to the best.
    pub next_chunks: f32,
    /// How much the name of something counts that a question spells out.
    pub definition: f32,
    /// How much it counts that others use what is declared.
    pub centrality: f32,
    /// What each further chunk of one file is multiplied with.
    pub repeated: f32,
    /// How much the subjects of commits count against all else, of the file that fits best in both.
    pub commits: f32,
    /// How much single commits count that are like the question, against all else, of the file that fits best in both.
    pub similar_commits: f32,
    /// What commits are multiplied with where the question describes something, as documentation does.
    pub described_commits: f32,
    /// How late more commits with a word count no more.
    pub commits_k1: f32,
    /// How far that depends on how much was committed to a file, from 0 to 1.
    pub commits_length: f32,
}

// === impl Weights ===

impl Default for Weights {
    fn default() -> Self {
        Self {
            k1: 3.5,
            fields: [10.0, 2.0, 5.0, 1.3, 1.0],
            lengths: [0.9, 0.5, 0.3, 0.5, 0.8],
            joined: 0.5,
            whole_name: 0.4,
            covered: 0.8,
            shape: 0.25,
            test: 0.4,
            document: 0.5,
            vendored: 0.4,
            data: 0.6,
            barrel: 0.7,
            file_covered: 0.6,
            next_chunks: 0.3,
            definition: 1.5,
            centrality: 0.03,
            repeated: 0.85,
            commits: 0.4,
            similar_commits: 0.4,
            described_commits: 0.4,
            commits_k1: 1.5,
            commits_length: 0.5,
        }
    }
}
