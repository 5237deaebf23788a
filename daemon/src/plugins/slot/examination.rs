//! Looking at a plugin's file: whether it holds another version, and whether that may serve.

use std::sync::Arc;

use moss_plugin_host::{Engine, Plugin, PluginEntry, Sha256Digest};
use tokio::task::spawn_blocking;

use crate::catalog::PluginTools;
use crate::plugins::component::{self, Stamp};
use crate::plugins::lists::Listed;
use crate::plugins::{downloads, signatures};
use crate::state::Daemon;

/// What a file held, under which entry.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    stamp: Option<Stamp>,
    pub(super) digest: Sha256Digest,
    /// What its signature file held, where it has one that can be read.
    signature: Option<Sha256Digest>,
    /// Whether it is looked at again only where something changed.
    is_settled: bool,
    entry: PluginEntry,
}

/// What an examination of a plugin's file needs to know.
#[derive(Debug)]
pub(in crate::plugins) struct Examination {
    pub(super) listed: Listed,
    pub(super) seen: Option<Seen>,
    pub(super) serving: Option<Sha256Digest>,
    /// Whether what serves has the names for its tools that the list says.
    pub(super) is_named: bool,
}

/// What came of it.
#[derive(Debug)]
pub(in crate::plugins) struct Examined {
    pub(super) seen: Option<Seen>,
    pub(super) found: Found,
}

#[derive(Debug)]
pub(super) enum Found {
    /// What was there before; what was said of it holds.
    Same,
    /// The version that serves.
    Serving,
    /// Another version, which can serve.
    Other(Arc<PluginTools>),
    /// Nothing that can serve, and why.
    Nothing(String),
    /// Nothing that may serve, nor what serves, and why.
    Refused(String),
}

// === impl Examination ===

impl Examination {
    /// Reads the file and, where it holds another version, makes it ready to serve.
    pub(in crate::plugins) async fn run(
        self,
        engine: Result<Engine, String>,
        bytes_max: u64,
        daemon: &Daemon,
    ) -> Examined {
        if let Some(refusal) = self.listed.refusal.clone() {
            return Examined { seen: None, found: Found::Refused(refusal) };
        }
        let missing = downloads::fetch_missing(daemon, &self.listed.entry, &|_, _| {}).await;
        if let Err(reason) = missing {
            return Examined::nothing(None, reason);
        }
        let engine = match engine {
            Ok(engine) => engine,
            Err(reason) => {
                return Examined::nothing(None, format!("no plugin can run here: {reason}"));
            }
        };
        match self.read(bytes_max).await {
            Ok((bytes, seen)) => self.judge(&engine, bytes, seen).await,
            Err(examined) => examined,
        }
    }

    /// Reads what the file holds; else says that it is what was there before, or why it cannot be
    /// read.
    async fn read(&self, bytes_max: u64) -> Result<(Vec<u8>, Seen), Examined> {
        let source = self.listed.source.clone();
        let entry = self.listed.entry.clone();
        let signature = signatures::digest(self.listed.signature.clone()).await;
        let is_known =
            |seen: &Seen| seen.is_settled && seen.entry == entry && seen.signature == signature;
        let seen = self.seen.clone().filter(is_known);
        let stamp = seen.as_ref().and_then(|seen| seen.stamp);
        let read = spawn_blocking(move || {
            let read = component::read(&source, bytes_max, stamp)?;
            let digest = read.bytes.as_deref().map(Sha256Digest::of);
            Ok((read, digest))
        });
        let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
        let (bytes, digest, stamp) = match (read, seen) {
            (Err(reason), _) => return Err(Examined::nothing(None, reason)),
            (Ok((read, Some(digest))), Some(seen)) if seen.digest == digest => {
                let seen = Some(Seen { stamp: read.stamp, ..seen });
                return Err(Examined { seen, found: Found::Same });
            }
            (Ok((component::Read { bytes: Some(bytes), stamp }, Some(digest))), _) => {
                (bytes, digest, stamp)
            }
            (Ok(_), seen) => return Err(Examined { seen, found: Found::Same }),
        };
        Ok((bytes, Seen { stamp, digest, signature, is_settled: true, entry }))
    }

    /// Holds a component to its pin and its signature, and makes it ready to serve.
    async fn judge(&self, engine: &Engine, bytes: Vec<u8>, seen: Seen) -> Examined {
        let (digest, entry) = (seen.digest, seen.entry.clone());
        let seen = Some(seen);
        if let Some(pinned) = entry.sha256.filter(|pinned| *pinned != digest) {
            return Examined::nothing(seen, self.mismatch(digest, pinned));
        }
        let (signature, signers) = (self.listed.signature.clone(), &self.listed.signers);
        if let Err(reason) = signatures::check_file(signature, &bytes, signers).await {
            // Only the file of the signature changed: what serves was vouched for by the one before,
            // and the component that belongs to the new one may be on its way.
            let was_vouched = self.seen.as_ref().filter(|seen| seen.digest == digest).cloned();
            let found = match self.serving == Some(digest) && was_vouched.is_none() {
                // It was signed by somebody whose signature does not count any more.
                true => Found::Refused(reason),
                false => Found::Nothing(reason),
            };
            let seen = was_vouched.map(|seen| Seen { is_settled: false, ..seen });
            return Examined { seen, found };
        }
        if self.serving == Some(digest) && self.is_named {
            return Examined { seen, found: Found::Serving };
        }
        let loaded = Plugin::load(engine, &entry, bytes).await;
        let loaded = loaded.map_err(|error| format!("{}: {error}", self.listed.source.display()));
        let tools = loaded.and_then(|plugin| {
            PluginTools::new(Arc::new(plugin)).map_err(|error| error.to_string())
        });
        match tools {
            Ok(tools) => Examined { seen, found: Found::Other(Arc::new(tools)) },
            Err(reason) => Examined::nothing(seen, reason),
        }
    }

    fn mismatch(&self, digest: Sha256Digest, pinned: Sha256Digest) -> String {
        let (source, name) = (self.listed.source.display(), &self.listed.entry.name);
        let staged = if self.serving.is_some() { "staged: " } else { "" };
        format!(
            "{staged}digest {digest} does not match the pin, sha256 {pinned}; if {source} is \
             trusted as it is now, `moss plugin accept {name}` pins it"
        )
    }
}

// === impl Examined ===

impl Examined {
    pub(in crate::plugins) fn nothing_known(reason: String) -> Self {
        Self::nothing(None, reason)
    }

    fn nothing(seen: Option<Seen>, reason: String) -> Self {
        Self { seen, found: Found::Nothing(reason) }
    }
}
