//! Who lists the tools and carries calls out, as this front sees it: values in, values out.

use std::fmt;
use std::sync::Arc;

use moss_sdk::content::ContentPart;
use moss_sdk::context::BoxFuture;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};

use crate::fault::CallFault;
use crate::form::{ClientForm, FormReply};

/// Lists tools and carries calls out, for one workspace.
pub trait ToolBackend: fmt::Debug + Send + Sync {
    /// Returns every tool as the protocol has it, in the order of the catalog.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Value>, CallFault>>;

    /// Calls a tool. Dropping the future cancels the call; what happens meanwhile goes to `notes`,
    /// and what finds no room there is lost.
    fn call(
        &self,
        request: ToolUse,
        notes: mpsc::Sender<CallNote>,
    ) -> BoxFuture<'_, Result<UseReply, CallFault>>;

    /// Records that the person said no to an effect that a call showed, without making the call, and returns how
    /// that ends.
    fn deny(&self, request: ToolUse, denied: DeniedEffect) -> BoxFuture<'_, CallFault>;

    /// Lists what commands wrote that no result had room for, the newest first.
    fn artifacts(&self) -> BoxFuture<'_, Result<Vec<CommandArtifact>, CallFault>>;

    /// Returns those of the files whose reading is denied, as far as that is cheaply known: of those with names of
    /// secrets.
    fn refused(&self, paths: Vec<String>) -> BoxFuture<'_, Result<Vec<String>, CallFault>>;

    /// Returns how some tools are best used, as models read it, and speaks of no others.
    fn notes(&self, tools: Vec<String>) -> BoxFuture<'_, Result<String, CallFault>>;

    /// Follows the tools: the number changes when they may be others than before.
    fn changes(&self) -> watch::Receiver<u64>;
}

/// Finds the workspace of a client and who serves it.
pub trait BackendOpener: fmt::Debug + Send + Sync {
    /// Whether the roots of the client decide about the workspace.
    fn wants_roots(&self) -> bool;

    /// The tools that every workspace has, as the protocol has them: what is listed where none can be
    /// opened. Nothing where one always can.
    fn native_tools(&self) -> Vec<Value> {
        Vec::new()
    }

    /// Opens the workspace; `roots` are the URIs of the client's own, where it has any.
    fn open(&self, roots: Vec<String>) -> BoxFuture<'_, Result<Arc<dyn ToolBackend>, CallFault>>;
}

/// One use of a tool, as a client asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// Name of the tool.
    pub name: String,
    /// Its arguments as they came: nobody has read them yet.
    pub arguments_json: String,
    /// Joins calls of one connection.
    pub session_id: String,
    /// Whether the person at the client can be shown forms at all.
    pub has_forms: bool,
    /// Whether a form of the client may decide about effects: the person said so.
    pub decides_by_form: bool,
    /// Where questions are put to the person by results, so that nothing waits: what the person approved
    /// so far. None where questions are put otherwise.
    pub in_rounds: Option<ApprovedEffects>,
    /// The span that the call is a part of, as the client names it: a `traceparent` that nobody has
    /// looked at yet.
    pub trace_parent: Option<String>,
}

/// The effects of a call that the person approved, by their digests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovedEffects {
    /// In the order of the questions.
    pub digests: Vec<String>,
    /// Whether the last is allowed for the rest of the session; those before it were then, where they were.
    pub for_session: bool,
}

/// An effect that the person said no to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeniedEffect {
    /// Of the effect as it was shown.
    pub digest: String,
    /// Why; may be empty.
    pub reason: String,
}

/// What happens while a call runs.
#[derive(Debug)]
pub enum CallNote {
    /// Something is to be put to the person at the client. Where nobody replies, the sender is dropped.
    Form {
        /// The question with its choices, as the client shows it.
        form: ClientForm,
        /// Where the reply goes.
        answer: oneshot::Sender<FormReply>,
    },
    /// How far it is.
    Progress {
        /// What is being done, for a person.
        message: String,
        /// How much is done.
        done: u64,
        /// How much there is, where that is known.
        total: Option<u64>,
    },
}

/// What a command wrote, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandArtifact {
    /// What `read_file` reads it by: `artifact:…`.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// How a call ended that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct UseReply {
    /// Id of the call, as in the journal.
    pub call_id: String,
    /// The JSON text of what the tool returned, or why it failed.
    pub result: Result<String, CallFault>,
    /// What it shows beside that, where it succeeded.
    pub content: Vec<ContentPart>,
    /// Each file that it changed or would have changed.
    pub changes: Vec<ReplyChange>,
    /// The digest of its effect; empty where it had none.
    pub digest: String,
    /// The number of its change in the history; 0 where nothing was changed.
    pub history: u64,
}

/// A file that a call changed or would have changed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ReplyChange {
    /// Path from the root of the workspace.
    pub path: String,
    /// `committed`, `unconfirmed` or `conflict`.
    pub status: String,
    /// From the content before to that after; empty if it is not shown.
    pub diff: String,
}

// === impl UseReply ===

impl UseReply {
    /// Makes the reply of a call that showed and changed nothing.
    pub fn of(call_id: &str, result: Result<String, CallFault>) -> Self {
        Self {
            call_id: call_id.to_owned(),
            result,
            content: Vec::new(),
            changes: Vec::new(),
            digest: String::new(),
            history: 0,
        }
    }
}
