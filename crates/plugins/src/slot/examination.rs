//! Looking at a plugin's file: whether it holds another version, and whether that may serve.

use std::sync::Arc;

use moss_plugin_host::{Engine, LoadError, Plugin, SettingsProblem};
use moss_plugin_list::{PluginEntry, Sha256Digest};
use tokio::task::spawn_blocking;

use crate::agreed::{self, Agreed};
use crate::component::{self, Stamp};
use crate::environment::Environment;
use crate::lists::ResolvedEntry;
use crate::{downloads, signatures};
use moss_catalog::PluginTools;
use moss_workspace::dirs::Dirs;

/// What a file held, under which entry.
#[derive(Debug, Clone)]
pub(super) struct ExaminedFile {
    stamp: Option<Stamp>,
    pub(super) digest: Sha256Digest,
    /// What its signature file held, where it has one that can be read.
    signature: Option<Sha256Digest>,
    /// Whether it is looked at again only where something changed.
    is_settled: bool,
    entry: PluginEntry,
    /// What was agreed to of the plugin when the file was looked at.
    agreed: Option<Agreed>,
}

/// What an examination of a plugin's file needs to know.
#[derive(Debug)]
pub(crate) struct Examination {
    pub(super) listed: ResolvedEntry,
    pub(super) seen: Option<ExaminedFile>,
    pub(super) serving: Option<Arc<Plugin>>,
    /// Whether what serves has the names for its tools that the list says.
    pub(super) is_named: bool,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(super) seen: Option<ExaminedFile>,
    pub(super) found: ExaminationResult,
}

#[derive(Debug)]
pub(super) enum ExaminationResult {
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
    pub(crate) async fn run(
        self,
        engine: Result<Engine, String>,
        bytes_max: u64,
        environment: &Environment,
    ) -> Examined {
        if let Some(refusal) = self.listed.refusal.clone() {
            return Examined { seen: None, found: ExaminationResult::Refused(refusal) };
        }
        let examined = self.examine(engine, bytes_max, environment).await;
        let pin = self.listed.entry.sha256;
        let is_pinned_away =
            self.serving().is_some_and(|serving| pin.is_some_and(|pin| pin != serving));
        match examined {
            // The list pins something else than what serves, and that is not to be had.
            Examined { seen, found: ExaminationResult::Nothing(why) } if is_pinned_away => {
                Examined { seen, found: ExaminationResult::Refused(why) }
            }
            examined => examined,
        }
    }

    async fn examine(
        &self,
        engine: Result<Engine, String>,
        bytes_max: u64,
        environment: &Environment,
    ) -> Examined {
        let missing = downloads::fetch_missing(environment, &self.listed.entry, &|_, _| {}).await;
        if let Err(reason) = missing {
            return Examined::nothing(None, reason);
        }
        let engine = match engine {
            Ok(engine) => engine,
            Err(reason) => {
                return Examined::nothing(None, format!("no plugin can run here: {reason}"));
            }
        };
        let dirs = environment.dirs.clone();
        let (list, name) = (self.listed.list.clone(), self.listed.entry.name.clone());
        let agreed = spawn_blocking(move || agreed::read(&dirs, &list, &name)).await;
        let agreed = match agreed.unwrap_or_else(|error| Err(error.to_string())) {
            Ok(agreed) => agreed,
            Err(reason) => return Examined::nothing(None, reason),
        };
        match self.read(bytes_max, agreed, environment).await {
            Ok((bytes, seen)) => self.judge(&engine, bytes, seen, environment).await,
            Err(examined) => examined,
        }
    }

    /// The digest of what serves.
    fn serving(&self) -> Option<Sha256Digest> {
        self.serving.as_ref().map(|plugin| plugin.digest())
    }

    /// Reads what the file holds; else says that it is what was there before, or why it cannot be
    /// read.
    async fn read(
        &self,
        bytes_max: u64,
        agreed: Option<Agreed>,
        environment: &Environment,
    ) -> Result<(Vec<u8>, ExaminedFile), Examined> {
        let source = self.listed.component(environment);
        let entry = self.listed.entry.clone();
        let signature = signatures::digest(self.listed.signature(environment)).await;
        let is_known = |seen: &ExaminedFile| {
            let is_same = seen.entry == entry && seen.signature == signature;
            seen.is_settled && is_same && seen.agreed == agreed
        };
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
                let seen = Some(ExaminedFile { stamp: read.stamp, ..seen });
                return Err(Examined { seen, found: ExaminationResult::Same });
            }
            (Ok((component::ComponentRead { bytes: Some(bytes), stamp }, Some(digest))), _) => {
                (bytes, digest, stamp)
            }
            (Ok(_), seen) => return Err(Examined { seen, found: ExaminationResult::Same }),
        };
        Ok((bytes, ExaminedFile { stamp, digest, signature, is_settled: true, entry, agreed }))
    }

    /// Holds a component to its pin, its signature and what was agreed to, and makes it ready to
    /// serve.
    async fn judge(
        &self,
        engine: &Engine,
        bytes: Vec<u8>,
        mut seen: ExaminedFile,
        environment: &Environment,
    ) -> Examined {
        let dirs = &environment.dirs;
        let (digest, entry) = (seen.digest, seen.entry.clone());
        if let Some(pinned) = entry.sha256.filter(|pinned| *pinned != digest) {
            // It is not what somebody vouched for: nothing of it is looked at, and nothing compiled.
            let why = match downloads::check_kept(dirs, &entry, digest).await {
                Ok(()) => self.mismatch(digest, pinned),
                Err(why) => why,
            };
            return Examined::nothing(Some(seen), why);
        }
        if let Err(reason) = self.check_signature(&mut seen, &bytes, environment).await {
            // Only the file of the signature changed: what serves was vouched for by the one before,
            // and the component that belongs to the new one may be on its way.
            let was_vouched = self.seen.as_ref().filter(|seen| seen.digest == digest).cloned();
            let found = match self.serving() == Some(digest) && was_vouched.is_none() {
                // It was signed by somebody whose signature does not count any more.
                true => ExaminationResult::Refused(reason),
                false => ExaminationResult::Nothing(reason),
            };
            let seen = was_vouched.map(|seen| ExaminedFile { is_settled: false, ..seen });
            return Examined { seen, found };
        }
        if let Some(serving) = self.serving.as_ref().filter(|plugin| plugin.digest() == digest)
            && self.is_named
        {
            self.agree(&mut seen, serving, dirs).await;
            let found = match serving.check_settings(&entry.config) {
                Ok(()) => ExaminationResult::Serving,
                Err(problem) => ExaminationResult::Nothing(self.unfit(&problem)),
            };
            return Examined { seen: Some(seen), found };
        }
        let loaded = Plugin::load(engine, &entry, bytes).await;
        let loaded = loaded.map_err(|error| match error {
            LoadError::Settings(problem) => self.unfit(&problem),
            error => format!("{}: {error}", self.listed.source.display()),
        });
        let tools = loaded.and_then(|plugin| {
            PluginTools::new(Arc::new(plugin)).map_err(|error| error.to_string())
        });
        let tools = match tools {
            Ok(tools) => tools,
            Err(reason) => return Examined::nothing(Some(seen), reason),
        };
        if let Some(staged) = self.staged(seen.agreed.as_ref(), tools.plugin()) {
            return Examined::nothing(Some(seen), staged);
        }
        self.agree(&mut seen, tools.plugin(), dirs).await;
        Examined { seen: Some(seen), found: ExaminationResult::Other(Arc::new(tools)) }
    }

    /// Holds a component to its signature, and remembers the one that vouches: it may have been fetched
    /// just now.
    async fn check_signature(
        &self,
        seen: &mut ExaminedFile,
        bytes: &[u8],
        environment: &Environment,
    ) -> Result<(), String> {
        let (entry, signers) = (&self.listed.entry, &self.listed.signers);
        let file = self.listed.signature(environment);
        downloads::check_signature(environment, entry, file.clone(), bytes, signers, true).await?;
        seen.signature = signatures::digest(file).await;
        Ok(())
    }

    /// Why a version may not serve before somebody accepts it: what models and people read of its
    /// tools, or what it requests, is not what was agreed to, and no digest in the list vouches.
    fn staged(&self, agreed: Option<&Agreed>, plugin: &Plugin) -> Option<String> {
        let entry = &self.listed.entry;
        if entry.sha256.is_some() {
            return None;
        }
        let objection = match (agreed, &self.serving) {
            (Some(agreed), _) => agreed.objection(plugin),
            // It could not be kept.
            (None, Some(serving)) => Agreed::serving(&self.listed.list, serving).objection(plugin),
            (None, None) => None,
        };
        let how = match self.listed.only_for {
            Some(_) => "`moss plugin trust` shows it and accepts it".to_owned(),
            None => format!(
                "`moss plugin accept {}` accepts it, as does \"sha256\": \"{}\" in the list",
                entry.name,
                plugin.digest()
            ),
        };
        objection.map(|objection| format!("staged: {objection}; {how}"))
    }

    /// Keeps that a version was agreed to.
    async fn agree(&self, seen: &mut ExaminedFile, plugin: &Plugin, dirs: &Dirs) {
        let agreed = Agreed::serving(&self.listed.list, plugin);
        let (dirs, kept, is_known) =
            (dirs.clone(), agreed.clone(), seen.agreed.as_ref() == Some(&agreed));
        let kept = spawn_blocking(move || match is_known {
            true => agreed::touch(&dirs, &kept),
            false => agreed::keep(&dirs, &kept),
        });
        let kept = kept.await.map_err(|error| error.to_string());
        match kept.and_then(|kept| kept.map_err(|error| error.to_string())) {
            Ok(()) => seen.agreed = Some(agreed),
            Err(problem) => {
                let plugin = plugin.name();
                tracing::warn!(
                    plugin,
                    problem,
                    "what a plugin shows is not kept: its next version is compared with it only while it serves"
                );
            }
        }
    }

    /// Says what is wrong with the settings, and where.
    fn unfit(&self, problem: &SettingsProblem) -> String {
        let (list, entry) = (self.listed.list.display(), &self.listed.entry);
        let (line, column) = entry.config_place(problem.key.as_deref());
        let meanwhile = match self.serving {
            Some(_) => " (the previous settings apply until it is fixed)",
            None => "",
        };
        format!("{list}:{line}:{column}: the `config` of `{}`: {problem}{meanwhile}", entry.name)
    }

    fn mismatch(&self, digest: Sha256Digest, pinned: Sha256Digest) -> String {
        let (source, name) = (self.listed.source.display(), &self.listed.entry.name);
        let staged = if self.serving() == Some(pinned) { "staged: " } else { "" };
        let (digest, pinned) = (digest.short(), pinned.short());
        format!(
            "{staged}digest {digest} does not match the pin, sha256 {pinned}; if {source} is \
             trusted as it is now, `moss plugin accept {name}` pins it"
        )
    }
}

// === impl Examined ===

impl Examined {
    pub(crate) fn nothing_known(reason: String) -> Self {
        Self::nothing(None, reason)
    }

    fn nothing(seen: Option<ExaminedFile>, reason: String) -> Self {
        Self { seen, found: ExaminationResult::Nothing(reason) }
    }
}
