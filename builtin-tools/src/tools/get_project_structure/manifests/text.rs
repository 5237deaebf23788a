//! The text of a manifest, parsed once, whoever asks: large ones take longer than all else about them.

use std::cell::OnceCell;

/// A manifest and what it was parsed into. What is invalid is as good as empty.
#[derive(Debug, Default)]
pub(crate) struct ManifestText {
    pub(crate) text: String,
    table: OnceCell<Option<toml::Table>>,
    json: OnceCell<serde_json::Value>,
}

// === impl ManifestText ===

impl ManifestText {
    /// As TOML; none where it is not valid.
    pub(crate) fn table(&self) -> Option<&toml::Table> {
        self.table.get_or_init(|| self.text.parse().ok()).as_ref()
    }

    /// As JSON; null where it is not valid.
    pub(crate) fn json(&self) -> &serde_json::Value {
        self.json.get_or_init(|| serde_json::from_str(&self.text).unwrap_or_default())
    }
}

impl From<String> for ManifestText {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}
