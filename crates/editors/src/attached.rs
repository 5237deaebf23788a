//! What is known of one attached editor.

use std::collections::BTreeMap;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::editor::{Diagnostic, Position, Span};
use tokio::sync::mpsc;

use super::{Active, EditorFile, EditorRefusal, Overview, ToEditor, Unsaved};

/// Open files that are remembered, those included whose text could not be taken.
const LOST_MAX: usize = 4_096;

/// What an editor can do. It is asked nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EditorCapability {
    /// Knows the symbols of a file.
    DocumentSymbols,
    /// Knows where something is defined.
    Definitions,
    /// Knows where the type of something is defined.
    TypeDefinitions,
    /// Puts a question to the person.
    Clarify,
    /// Shows confirmations to the person.
    Confirm,
    /// Takes edits of unsaved buffers.
    ApplyEdit,
}

/// What an editor says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// What it calls itself.
    pub name: String,
    /// The version that it states of itself; it may be empty.
    pub version: String,
    /// What it can do.
    pub capabilities: Vec<EditorCapability>,
    /// Its own name for this window.
    pub instance: Option<String>,
}

/// Where the person is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditorView {
    /// The file that has the focus.
    pub path: RelPath,
    /// Where the cursor is.
    pub cursor: Position,
    /// What is selected; empty where nothing is.
    pub selection: Span,
    /// What is on the screen.
    pub visible: Option<Span>,
}

/// A file that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// The path that the editor knows it by.
    pub path: RelPath,
    /// The real path of the file, after all links, when it was reported.
    pub real: RelPath,
    /// Rises with every change of the text.
    pub version: u64,
    /// What the editor holds.
    pub held: BufferState,
    /// When it was reported; set by the registry.
    pub told_at: u64,
}

/// What an editor holds of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BufferState {
    /// What is on disk.
    Saved,
    /// This text, which is not on disk.
    Text(Arc<str>),
    /// Something that is not on disk and could not be taken: the file is not written.
    Unknown,
}

/// What is known of one attached editor.
#[derive(Debug)]
pub(super) struct AttachedEditor {
    pub(super) hello: Hello,
    /// When it last reported where the person is, or attached.
    pub(super) looked_at: u64,
    pub(super) view: Option<EditorView>,
    /// By the path that the editor knows a file by.
    buffers: BTreeMap<RelPath, Buffer>,
    diagnostics: BTreeMap<RelPath, Vec<Diagnostic>>,
    sender: mpsc::Sender<ToEditor>,
}

// === impl AttachedEditor ===

impl AttachedEditor {
    pub(super) fn new(hello: Hello, sender: mpsc::Sender<ToEditor>, now: u64) -> Self {
        Self {
            hello,
            looked_at: now,
            view: None,
            buffers: BTreeMap::new(),
            diagnostics: BTreeMap::new(),
            sender,
        }
    }

    pub(super) fn can(&self, capability: EditorCapability) -> bool {
        self.hello.capabilities.contains(&capability)
    }

    /// Sends the editor a message; `false` where it takes none any more.
    pub(super) fn send(&self, message: ToEditor) -> bool {
        self.sender.try_send(message).is_ok()
    }

    pub(super) fn has_open(&self, path: &RelPath) -> bool {
        self.buffers.values().any(|buffer| buffer.real == *path || buffer.path == *path)
    }

    /// What is held of a file and not saved, by any of its names; the newest first.
    pub(super) fn unsaved(&self, real: &RelPath) -> Option<&Buffer> {
        let of_file = self.buffers.values().filter(|buffer| buffer.real == *real);
        of_file
            .filter(|buffer| buffer.held != BufferState::Saved)
            .max_by_key(|buffer| buffer.told_at)
    }

    /// The real paths of what is not saved.
    pub(super) fn unsaved_paths(&self) -> impl Iterator<Item = RelPath> {
        let unsaved = self.buffers.values().filter(|buffer| buffer.held != BufferState::Saved);
        unsaved.map(|buffer| buffer.real.clone())
    }

    pub(super) fn unsaved_count(&self) -> usize {
        self.buffers.values().filter(|buffer| buffer.held != BufferState::Saved).count()
    }

    pub(super) fn hold(
        &mut self,
        buffer: Buffer,
        limits: &moss_config::EditorsConfig,
    ) -> Result<(), EditorRefusal> {
        let known = self.buffers.get(&buffer.path);
        if let Some(known) = known
            && buffer.version < known.version
        {
            return Err(EditorRefusal::OldVersion { told: buffer.version, known: known.version });
        }
        if known.is_none() && self.buffers.len() >= limits.buffers_max {
            self.lose(buffer);
            return Err(EditorRefusal::TooManyBuffers(limits.buffers_max));
        }
        let others = self.buffers.values().filter(|other| other.path != buffer.path);
        let bytes = others.map(|other| other.held.bytes()).sum::<usize>() + buffer.held.bytes();
        if bytes > limits.unsaved_bytes_max {
            self.lose(buffer);
            return Err(EditorRefusal::TooMuchUnsaved(limits.unsaved_bytes_max));
        }
        self.buffers.insert(buffer.path.clone(), buffer);
        Ok(())
    }

    /// Takes note that an editor holds something that cannot be taken: what was known of the file
    /// is not true any more, and nobody may write it.
    pub(super) fn lose(&mut self, buffer: Buffer) {
        if buffer.held == BufferState::Saved {
            self.buffers.remove(&buffer.path);
        } else if self.buffers.len() < LOST_MAX || self.buffers.contains_key(&buffer.path) {
            let lost = Buffer { held: BufferState::Unknown, ..buffer };
            self.buffers.insert(lost.path.clone(), lost);
        }
    }

    /// Forgets a file by the path that the editor knows it by.
    pub(super) fn close(&mut self, path: &RelPath) {
        self.buffers.remove(path);
        self.diagnostics.remove(path);
        self.view.take_if(|view| view.path == *path);
    }

    pub(super) fn diagnose(
        &mut self,
        path: RelPath,
        said: Vec<Diagnostic>,
        limits: &moss_config::EditorsConfig,
    ) -> Result<(), EditorRefusal> {
        self.diagnostics.remove(&path);
        let held: usize = self.diagnostics.values().map(Vec::len).sum();
        if held + said.len() > limits.diagnostics_max {
            return Err(EditorRefusal::TooManyDiagnostics(limits.diagnostics_max));
        }
        if !said.is_empty() {
            self.diagnostics.insert(path, said);
        }
        Ok(())
    }

    pub(super) fn note_applied(&mut self, asked: &Unsaved, (version, text): (u64, &str), now: u64) {
        // Versions are not enough: one that was closed and opened again counts anew.
        if let Some(buffer) = self.buffers.get_mut(&asked.path)
            && matches!(&buffer.held, BufferState::Text(held) if Arc::ptr_eq(held, &asked.text))
        {
            buffer.held = BufferState::Text(text.into());
            buffer.version = version;
            buffer.told_at = now;
        }
    }

    pub(super) fn active(&self) -> Active {
        let diagnostics = self.view.as_ref().and_then(|view| self.diagnostics.get(&view.path));
        let open = self.buffers.values().map(|buffer| EditorFile {
            path: buffer.path.clone(),
            real: buffer.real.clone(),
            unsaved: buffer.held != BufferState::Saved,
        });
        Active {
            name: self.hello.name.clone(),
            view: self.view.clone(),
            diagnostics: diagnostics.cloned().unwrap_or_default(),
            open: open.collect(),
        }
    }

    pub(super) fn overview(&self) -> Overview {
        Overview {
            name: self.hello.name.clone(),
            version: self.hello.version.clone(),
            open: self.buffers.len(),
            unsaved: self.unsaved_count(),
        }
    }
}

// === impl BufferState ===

impl BufferState {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Saved | Self::Unknown => 0,
        }
    }
}
