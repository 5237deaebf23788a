//! What is known of one attached editor.

use std::collections::BTreeMap;
use std::sync::Arc;

use moss_sdk::RelPath;
use moss_sdk::editor::{Diagnostic, Position, Span};
use tokio::sync::mpsc;

use super::{Active, Overview, Refusal, ToEditor, Unsaved};
use crate::config;

/// What an editor can do. It is asked nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
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
    /// Its version.
    pub version: String,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Its own name for this window.
    pub instance: Option<String>,
}

/// Where the person is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The file that has the focus.
    pub path: RelPath,
    /// Where the cursor is.
    pub cursor: Position,
    /// What is selected.
    pub selection: Span,
    /// What is on the screen.
    pub visible: Option<Span>,
}

/// A file that is open in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// The path that the editor knows it by.
    pub path: RelPath,
    /// Rises with every change of the text.
    pub version: u64,
    /// The text, where it is not what is on disk.
    pub unsaved: Option<Arc<str>>,
    /// When it was told; set by the registry.
    pub told_at: u64,
}

/// What is known of one attached editor.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) hello: Hello,
    /// When it told last where the person is, or attached.
    pub(super) looked_at: u64,
    pub(super) view: Option<View>,
    /// By real path.
    buffers: BTreeMap<RelPath, Buffer>,
    diagnostics: BTreeMap<RelPath, Vec<Diagnostic>>,
    sender: mpsc::Sender<ToEditor>,
}

// === impl Attached ===

impl Attached {
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

    pub(super) fn can(&self, capability: Capability) -> bool {
        self.hello.capabilities.contains(&capability)
    }

    /// Tells the editor something; `false` where it takes nothing any more.
    pub(super) fn tell(&self, message: ToEditor) -> bool {
        self.sender.try_send(message).is_ok()
    }

    pub(super) fn has_open(&self, path: &RelPath) -> bool {
        self.buffers.iter().any(|(real, buffer)| real == path || buffer.path == *path)
    }

    pub(super) fn unsaved(&self, real: &RelPath) -> Option<&Buffer> {
        self.buffers.get(real).filter(|buffer| buffer.unsaved.is_some())
    }

    pub(super) fn unsaved_count(&self) -> usize {
        self.buffers.values().filter(|buffer| buffer.unsaved.is_some()).count()
    }

    pub(super) fn hold(
        &mut self,
        real: RelPath,
        buffer: Buffer,
        limits: &config::Editors,
    ) -> Result<(), Refusal> {
        // Its name may lead elsewhere by now: what it led to before is not open by it any more.
        self.buffers.retain(|other, held| *other == real || held.path != buffer.path);
        let known = self.buffers.get(&real);
        if let Some(known) = known
            && buffer.version < known.version
        {
            return Err(Refusal::OldVersion { told: buffer.version, known: known.version });
        }
        if known.is_none() && self.buffers.len() >= limits.buffers_max {
            return Err(Refusal::TooManyBuffers(limits.buffers_max));
        }
        let bytes = |buffer: &Buffer| buffer.unsaved.as_ref().map_or(0, |text| text.len());
        let others = self.buffers.iter().filter(|(path, _)| **path != real);
        let held: usize = others.map(|(_, buffer)| bytes(buffer)).sum();
        if held + bytes(&buffer) > limits.unsaved_bytes_max {
            // What was known of the file is not what the editor holds: better nothing than that.
            self.buffers.remove(&real);
            return Err(Refusal::TooMuchUnsaved(limits.unsaved_bytes_max));
        }
        self.buffers.insert(real, buffer);
        Ok(())
    }

    /// Forgets a file, by either of its paths: it may lead elsewhere by now.
    pub(super) fn close(&mut self, path: &RelPath) {
        self.buffers.retain(|real, buffer| real != path && buffer.path != *path);
        self.diagnostics.remove(path);
        self.view.take_if(|view| view.path == *path);
    }

    pub(super) fn diagnose(
        &mut self,
        path: RelPath,
        said: Vec<Diagnostic>,
        limits: &config::Editors,
    ) -> Result<(), Refusal> {
        self.diagnostics.remove(&path);
        let held: usize = self.diagnostics.values().map(Vec::len).sum();
        if held + said.len() > limits.diagnostics_max {
            return Err(Refusal::TooManyDiagnostics(limits.diagnostics_max));
        }
        if !said.is_empty() {
            self.diagnostics.insert(path, said);
        }
        Ok(())
    }

    pub(super) fn note_applied(
        &mut self,
        real: &RelPath,
        asked: &Unsaved,
        (version, text): (u64, &str),
        now: u64,
    ) {
        // Versions do not tell: one that was closed and opened again counts anew.
        let is_as_asked = |held: &Arc<str>| Arc::ptr_eq(held, &asked.text);
        if let Some(buffer) = self.buffers.get_mut(real)
            && buffer.unsaved.as_ref().is_some_and(is_as_asked)
        {
            buffer.unsaved = Some(text.into());
            buffer.version = version;
            buffer.told_at = now;
        }
    }

    pub(super) fn active(&self) -> Active {
        let diagnostics = self.view.as_ref().and_then(|view| self.diagnostics.get(&view.path));
        let mut open: Vec<_> = self
            .buffers
            .values()
            .map(|buffer| (buffer.path.clone(), buffer.unsaved.is_some()))
            .collect();
        open.sort();
        Active {
            name: self.hello.name.clone(),
            view: self.view.clone(),
            diagnostics: diagnostics.cloned().unwrap_or_default(),
            open,
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
