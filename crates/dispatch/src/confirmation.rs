//! Questions to a person, as every front shows them.

use std::sync::Arc;

use jiff::Timestamp;
use moss_sdk::ContentHash;

use crate::change::FileChange;
use crate::command::CommandQuestion;
use crate::consent::Consent;
use crate::embedding::EmbeddingQuestion;
use crate::offer::Offer;

/// Most bytes of text on one page.
pub const PAGE_BYTES_MAX: usize = 256 * 1024;

/// A page of all that a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Pieces of text, each with the index of its change.
    pub parts: Vec<(usize, String)>,
    /// Where the next page begins; none on the last one.
    pub next: Option<usize>,
    /// Bytes of all pages together.
    pub total: usize,
}

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The call that asks.
    pub call_id: String,
    /// Root directory of its workspace.
    pub workspace: String,
    /// Name of the tool.
    pub tool: String,
    /// The plugin that provides it, if one does.
    pub plugin: Option<String>,
    /// The credential that called.
    pub caller: String,
    /// The session that the call names.
    pub session: Option<String>,
    /// Whether whoever calls decides, too, with the approver's credential.
    pub is_attended: bool,
    /// How much memory is held for it until it is resolved, in bytes.
    pub held_bytes: usize,
    /// The proposed file changes; none where the call itself is asked about.
    pub changes: Vec<FileChange>,
    /// The arguments as they came, where the call itself is asked about.
    pub arguments: Option<String>,
    /// What a decision is bound to.
    pub digest: ContentHash,
    /// The rule that asks.
    pub rule: String,
    /// Whether a protected name is touched: a blanket decision does not cover it.
    pub protected: bool,
    /// Whether a rule wants that a person decides in moss: no form of a client and no blanket yes.
    pub for_person: bool,
    /// Whether lines are changed that are not as the edit says: a blanket decision does not cover it.
    pub drift: bool,
    /// What becomes of a plugin list, or is fetched for one, where that is asked about: a blanket
    /// decision does not cover it. The arguments are its JSON.
    pub consent: Option<Arc<Consent>>,
    /// The command that would run, where one is asked about. The arguments are its JSON.
    pub command: Option<Arc<CommandQuestion>>,
    /// The endpoint of embeddings that would be sent texts, where one is asked about. The arguments are its JSON.
    pub embedding: Option<Arc<EmbeddingQuestion>>,
    /// The standing approvals that may be given.
    pub offers: Vec<Offer>,
}

/// A question with its state.
#[derive(Debug, Clone)]
pub struct Confirmation {
    /// Names it; not guessable.
    pub id: String,
    /// The effect as people see it; it never changes while the question waits.
    pub question: Question,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When it stops waiting.
    pub expires_at: Timestamp,
    /// Whether and how it was resolved.
    pub state: ConfirmationState,
}

/// Whether and how a question was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmationState {
    /// No decision was made yet.
    Pending,
    /// An approver approved it.
    Approved,
    /// Somebody said no, and why.
    Denied(String),
    /// Nobody decided in time.
    Expired,
    /// The caller went away.
    Withdrawn,
}

// === impl Question ===

impl Question {
    /// Whether something of it was cut or left out.
    pub fn is_cut(&self) -> bool {
        self.changes.iter().any(|change| change.is_cut())
    }

    /// How long all of it is, in bytes.
    pub fn text_bytes(&self) -> usize {
        self.texts().map(|(_, text)| text.len()).sum()
    }

    /// Makes the page that begins at an offset; `None` after the end.
    pub fn page(&self, offset: usize) -> Option<Page> {
        let total = self.text_bytes();
        if offset > total {
            return None;
        }
        let (mut skip, mut room, mut parts) = (offset, PAGE_BYTES_MAX, Vec::new());
        for (change, text) in self.texts() {
            if skip >= text.len() {
                skip -= text.len();
                continue;
            }
            let rest = text.get(skip..)?;
            let end = rest.floor_char_boundary(room);
            if end == 0 {
                break;
            }
            parts.push((change, rest[..end].to_owned()));
            room -= end;
            skip = 0;
            if end < rest.len() {
                break;
            }
        }
        let next = offset + parts.iter().map(|(_, text)| text.len()).sum::<usize>();
        Some(Page { parts, next: Some(next).filter(|next| *next < total), total })
    }

    /// All texts in their order, each with the index of its change.
    fn texts(&self) -> impl Iterator<Item = (usize, &str)> {
        self.changes.iter().enumerate().flat_map(|(index, change)| {
            let texts = match &change.whole {
                Some(whole) => [&*whole.drift, &*whole.diff],
                None => ["", &*change.diff],
            };
            texts.map(|text| (index, text))
        })
    }
}

// === impl ConfirmationState ===

impl ConfirmationState {
    /// Returns the state as a word, for example `approved`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied(_) => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
        }
    }
}
