//! The registry of a request's tools. A sloppy schema of one tool does not cost a client the others.

use serde_json::json;

use super::error::clipped;
use super::note::{DETAIL_BYTES_MAX, Note, NoteCode};
use super::{Normalized, ROOT};
use crate::registry::{Registry, RegistryError, ToolDefinition};

// === impl Normalized ===

impl Normalized {
    /// Compiles the schemas of the tools. One that cannot be compiled lets every object through,
    /// which a note reports: providers take such tools, too, and what a model is shown of them
    /// stays.
    ///
    /// # Errors
    ///
    /// Where two tools have a name, or one has none, which is never so of what [`super::normalize`]
    /// gave.
    pub fn registry(&mut self) -> Result<Registry, RegistryError> {
        let tools = &self.conversation.tools;
        match Registry::new(tools.iter().cloned()) {
            Err(RegistryError::Schema(_)) => {}
            done => return done,
        }
        let mut opened = Vec::with_capacity(tools.len());
        for tool in tools {
            let Err(error) = Registry::new([tool.clone()]) else {
                opened.push(tool.clone());
                continue;
            };
            self.notes.push(Note {
                code: NoteCode::SchemaIgnored,
                path: ROOT.key("tools").to_string(),
                detail: clipped(&error.to_string(), DETAIL_BYTES_MAX).to_owned(),
                count: 1,
            });
            opened.push(ToolDefinition { parameters: json!({ "type": "object" }), ..tool.clone() });
        }
        Registry::new(opened)
    }
}

#[cfg(test)]
mod tests;
