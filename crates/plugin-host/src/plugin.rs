//! A loaded plugin: its code, what it says about itself, what it may do. Immutable; a new version
//! is a new value, and running calls keep the one they started with.

mod calling;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_sdk::{RelPath, ToolError, ToolSpec};
use serde_json::{Map, Value};

pub use self::calling::CallRequest;
use crate::bindings::tools;
use crate::call_slots::CallSlots;
use crate::description::{self, Description, Example};
use crate::engine::Engine;
use crate::error::{LoadError, Paused, PluginCallError, SettingsProblem};
use crate::face::Face;
use crate::instance::{Run, RunSetup};
use crate::linking;
use crate::pause::Pause;
use crate::renaming;
use crate::revocation::Revocation;
use crate::rights::Rights;
use crate::surface::Surface;
use crate::warm::Warm;
use moss_plugin_list::{
    PluginEntry, PluginLimits, Sha256Digest,
    grants::{
        Grant, RequestedCapability,
        paths::{GrantedPaths, Sight},
    },
};
use moss_sdk::deceptive::quoted;

/// Most time for a plugin to describe itself.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(2);

/// A component that was loaded and has described itself, ready to be called.
pub struct Plugin {
    engine: Engine,
    code: Face,
    name: String,
    origin: String,
    digest: Sha256Digest,
    description: Arc<Description>,
    /// Its tools by the names of the list, in the order of the description.
    specs: Arc<[ToolSpec]>,
    /// What it requests, is granted and may have at most.
    rights: Arc<Rights>,
    /// What of the workspace it may read, of that.
    granted: Arc<GrantedPaths>,
    /// Stops the calls that have that grant.
    revocation: Arc<Revocation>,
    limits: PluginLimits,
    settings: Arc<str>,
    places: Arc<CallSlots>,
    pause: Pause,
    warm: Warm,
}

// === impl Plugin ===

impl Plugin {
    /// Checks, compiles and links a component, and asks it what it is, in an instance without any
    /// capability.
    ///
    /// What compiles it is up to the engine: see [`Engine::with_compiler`].
    ///
    /// # Errors
    ///
    /// Where the bytes are not what the list pins, not a plugin, or refuse to describe themselves.
    pub async fn load(
        engine: &Engine,
        entry: &PluginEntry,
        bytes: Vec<u8>,
    ) -> Result<Self, LoadError> {
        check_limits(engine, entry)?;
        let (digest, code) = linking::face(engine, entry, bytes).await?;
        let told = describe(engine, &code, entry.limits).await.map_err(LoadError::Describe)?;
        if told.name != entry.name {
            return Err(LoadError::Name { told: quoted(&told.name), listed: entry.name.clone() });
        }
        // Its schemas are built, which takes a thread as long as compiling does.
        let listed = entry.name.clone();
        let description = linking::blocking(move || {
            description::read(&listed, told).map_err(LoadError::Description)
        })
        .await?;
        description.check_settings(&entry.config).map_err(LoadError::Settings)?;
        let specs = renaming::renamed(&description.specs, entry)?;
        let rights = Rights::new(&description, entry);
        Ok(Self {
            engine: engine.clone(),
            code,
            name: entry.name.clone(),
            origin: entry.origin.clone(),
            digest,
            granted: Arc::new(GrantedPaths::new(&rights.held.files)),
            revocation: Arc::default(),
            rights: Arc::new(rights),
            description: Arc::new(description),
            specs,
            limits: entry.limits,
            settings: settings(entry),
            places: Arc::new(CallSlots::new(entry.limits.calls_max)),
            pause: Pause::default(),
            warm: Warm::new(entry.limits.warm),
        })
    }

    /// Makes a plugin of the same code with the grant, the limits, the settings and the names of
    /// tools of another entry of the same name. Its digest is not compared with what the entry pins.
    ///
    /// # Errors
    ///
    /// Where the limits are above what the engine allows, the settings are not what the plugin
    /// takes, or its tools cannot have these names.
    pub fn with_entry(&self, entry: &PluginEntry) -> Result<Self, LoadError> {
        self.check_settings(&entry.config).map_err(LoadError::Settings)?;
        self.bound(entry, settings(entry))
    }

    /// As [`Plugin::with_entry`], with the settings that it has.
    ///
    /// # Errors
    ///
    /// As [`Plugin::with_entry`], but for settings.
    pub fn with_entry_but_settings(&self, entry: &PluginEntry) -> Result<Self, LoadError> {
        self.bound(entry, Arc::clone(&self.settings))
    }

    fn bound(&self, entry: &PluginEntry, settings: Arc<str>) -> Result<Self, LoadError> {
        check_limits(&self.engine, entry)?;
        let specs = renaming::renamed(&self.description.specs, entry)?;
        let rights = Rights::new(&self.description, entry);
        Ok(Self {
            engine: self.engine.clone(),
            code: self.code.clone(),
            name: self.name.clone(),
            origin: entry.origin.clone(),
            digest: self.digest,
            granted: Arc::new(GrantedPaths::new(&rights.held.files)),
            revocation: Arc::default(),
            rights: Arc::new(rights),
            description: Arc::clone(&self.description),
            specs,
            limits: entry.limits,
            settings,
            places: self.places.with_max(entry.limits.calls_max),
            pause: Pause::default(),
            warm: Warm::new(entry.limits.warm),
        })
    }

    /// Returns what models and people would see change if this replaced `old`: tools,
    /// their texts, schemas and effects, and requested capabilities. Empty where only code differs.
    pub fn differences(&self, old: &Self) -> Vec<String> {
        old.surface().differences(&self.surface())
    }

    /// Returns what models and people see of it, to be kept and compared.
    pub fn surface(&self) -> Surface {
        Surface::of(&self.description)
    }

    /// Returns its name: that of its entry.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it comes from: [`PluginEntry::origin`].
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the version that it says it has.
    pub fn version(&self) -> &str {
        &self.description.version
    }

    /// Returns the digest of its component.
    pub fn digest(&self) -> Sha256Digest {
        self.digest
    }

    /// Returns its tools, by the names of the list. A tool of the effect `Read` never returns edits.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Returns the tools that the list renames: their names there, and the plugin's own.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.specs.iter().zip(&self.description.specs);
        let names = names.map(|(spec, own)| (spec.name.as_str(), own.name.as_str()));
        names.filter(|(name, own)| name != own)
    }

    /// Returns what of a component with ordinary functions is no tool, each with the reason.
    pub fn left_out(&self) -> &[String] {
        self.code.left_out()
    }

    /// Returns the examples of a tool.
    pub fn examples(&self, tool: &str) -> &[Example] {
        let index = self.specs().iter().position(|spec| spec.name == tool);
        index.map_or(&[], |index| &self.description.examples[index])
    }

    /// Returns the JSON schema of its settings, where it has one.
    pub fn settings_schema(&self) -> Option<&Value> {
        self.description.settings.as_ref()
    }

    /// Holds settings to that schema.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub fn check_settings(&self, settings: &Map<String, Value>) -> Result<(), SettingsProblem> {
        self.description.check_settings(settings)
    }

    /// Returns what it requests.
    pub fn requests(&self) -> &[RequestedCapability] {
        &self.description.requests
    }

    /// Returns what it may do: what it requests and the list grants.
    pub fn grant(&self) -> &Grant {
        &self.rights.held
    }

    /// Whether it may read what lies at a path, as far as that is up to its grant.
    pub fn may_read(&self, path: &RelPath) -> bool {
        self.granted.sight(path) == Sight::Granted
    }

    /// Stops its calls, those that come later too, unless it would have all that it has under
    /// this entry as well. Returns whether it did.
    pub fn revoke_unless_granted(&self, entry: &PluginEntry) -> bool {
        let remaining = Rights::new(&self.description, entry).held;
        if remaining.covers(self.grant()) {
            return false;
        }
        let lost = self.grant().beyond(&remaining).join(", ");
        self.revocation.revoke(format!("a capability of the plugin was revoked: {lost}"));
        true
    }

    /// Stops its calls, those that come later too, and gives them the reason.
    pub fn revoke(&self, why: &str) {
        self.revocation.revoke(why.to_owned());
    }

    /// Whether its calls were stopped.
    pub fn is_revoked(&self) -> bool {
        self.revocation.has_happened()
    }

    /// Makes a tool's error of one of its calls, with what to do about it.
    pub fn tool_error(&self, error: PluginCallError) -> ToolError {
        error.into_tool_error(&self.limits, &self.rights.place())
    }

    /// Returns what one call may use.
    pub fn limits(&self) -> &PluginLimits {
        &self.limits
    }

    /// Returns the pause of a plugin that kept failing, while it lasts.
    pub fn paused(&self) -> Option<Paused> {
        self.pause.current(Instant::now())
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name)
            .field("digest", &self.digest)
            .finish_non_exhaustive()
    }
}

// === impl CallRequest ===

fn check_limits(engine: &Engine, entry: &PluginEntry) -> Result<(), LoadError> {
    let memory_bytes_max = engine.options().memory_bytes_max;
    if entry.limits.memory_bytes_max > memory_bytes_max {
        return Err(LoadError::MemoryLimit(memory_bytes_max));
    }
    Ok(())
}

/// The settings as they are handed to the plugin.
fn settings(entry: &PluginEntry) -> Arc<str> {
    Value::Object(entry.config.clone()).to_string().into()
}

async fn describe(
    engine: &Engine,
    code: &Face,
    limits: PluginLimits,
) -> Result<tools::Description, PluginCallError> {
    let limits = PluginLimits { timeout: DESCRIBE_TIMEOUT, ..limits };
    let mut run = Run::new(engine, RunSetup::without_call(limits))?;
    let (store, watch) = run.parts();
    watch.over(code.describe(store)).await
}
