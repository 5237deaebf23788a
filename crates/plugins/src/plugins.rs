//! Loading the plugins that lists name, and loading them again. A plugin that fails says why and
//! leaves the rest alone; one that served before keeps serving.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use moss_plugin_host::{Allocation, Engine, EngineOptions};
use moss_plugin_list::limits::MEMORY_BYTES_MAX;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::changes::Changes;
use crate::environment::Environment;
use crate::examining::Examining;
use crate::lists::{PluginLists, ResolvedEntry};
use crate::serving::{Serving, fit, is_for};
use crate::slot::{Examined, Slot};
use crate::{compiler, downloads, trust};
use moss_catalog::PluginTools;

/// Most instances of plugins that are kept between calls.
const WARM_MAX: u32 = 32;
/// Most components of the lists that are read at once, and again that are fetched: a server that is
/// slow holds up no file.
const EXAMINING_MAX: usize = 4;

/// The plugins of a daemon. There is one of these: nobody else replaces catalogs.
#[derive(Debug)]
pub struct Plugins {
    environment: Arc<Environment>,
    engine: Option<Engine>,
    lists: PluginLists,
    slots: Vec<Slot>,
    /// Plugins that the lists no longer name, until the catalog without them is complete. Their
    /// calls are stopped.
    leaving: Vec<Serving>,
    /// How many entries there are above `plugins.plugins_max`.
    left_out: usize,
    /// What the slots were made of.
    arranged: Vec<ResolvedEntry>,
    /// Whether every component was looked at once.
    has_loaded: bool,
}

// === impl Plugins ===

impl Plugins {
    /// No plugins yet: see [`Plugins::read_lists`] and [`Plugins::refresh`].
    pub fn new(environment: Arc<Environment>) -> Self {
        let lists = lists_of(&environment);
        Self {
            environment,
            engine: None,
            lists,
            slots: Vec::new(),
            leaving: Vec::new(),
            left_out: 0,
            arranged: Vec::new(),
            has_loaded: false,
        }
    }

    /// Loads every plugin, for a daemon that lives too short to reload any.
    pub async fn load(environment: Arc<Environment>) {
        let mut plugins = Self::new(environment);
        plugins.read_lists().await;
        plugins.refresh(&mut Changes::default()).await;
    }

    /// Where the lists are, or would be, and what shows which of them are trusted.
    pub fn list_files(&self) -> Vec<PathBuf> {
        let trusted = self.environment.dirs.state.join(trust::FILE_NAME);
        self.lists.paths().cloned().chain([trusted]).collect()
    }

    /// Reads the lists. Returns the files of the components that they name.
    pub async fn read_lists(&mut self) -> Vec<PathBuf> {
        let mut lists = std::mem::replace(&mut self.lists, lists_of(&self.environment));
        let dirs = self.environment.dirs.clone();
        let read = spawn_blocking(move || {
            lists.read(&dirs);
            if let Err(error) = downloads::clean(&dirs, &lists.pinned()) {
                tracing::warn!(%error, "unused downloads are not removed");
            }
            lists
        });
        match read.await {
            Ok(lists) => self.lists = lists,
            Err(error) => tracing::error!(%error, "the plugin lists were not read"),
        }
        let (dirs, settings) = (&self.environment.dirs, self.environment.settings());
        let files = |listed: ResolvedEntry| [Some(listed.source), listed.signature];
        self.lists.entries(dirs, &settings).into_iter().flat_map(files).flatten().collect()
    }

    /// Looks at every component that the lists name: compiles what is new, side by side, and swaps
    /// the catalogs. The first time tools appear as they are ready, later all at once but for those
    /// that are fetched first; a catalog has them in the order of the lists either way.
    ///
    /// Whatever is being looked at, what lists say is not held up: with each of the changes they are
    /// read, and where they say something else, this ends early. Returns whether anything changed
    /// meanwhile.
    pub async fn refresh(&mut self, changes: &mut Changes) -> bool {
        let is_first = !self.has_loaded;
        if self.arrange().await {
            self.swap();
        }
        self.publish();
        let mut has_changed = !self.leaving.is_empty();
        let fetches: Vec<bool> = self.slots.iter().map(Slot::is_to_be_fetched).collect();
        let mut reading = fetches.iter().filter(|fetches| !**fetches).count();
        let mut examining = self.examine(&fetches).await;
        if reading == 0 && !is_first {
            self.complete(std::mem::take(&mut has_changed));
        }
        let mut is_told = false;
        loop {
            let next = tokio::select! {
                biased;
                true = changes.next() => {
                    is_told = true;
                    if self.is_outdated().await {
                        break;
                    }
                    continue;
                }
                next = examining.next() => next,
            };
            let Some((index, examined)) = next else {
                self.has_loaded = true;
                break;
            };
            has_changed |= self.take(index, examined, is_first);
            reading -= usize::from(!fetches[index]);
            // One catalog for all that are ready by now.
            while let Some((index, examined)) = examining.next_if_ready() {
                has_changed |= self.take(index, examined, is_first);
                reading -= usize::from(!fetches[index]);
            }
            if is_first {
                if std::mem::take(&mut has_changed) {
                    self.swap();
                }
                self.publish();
            } else if reading == 0 {
                // What is still fetched takes as long as its server likes.
                self.complete(std::mem::take(&mut has_changed));
            }
        }
        self.complete(has_changed);
        is_told
    }

    /// Puts what is ready into the catalogs, without what the lists no longer name.
    fn complete(&mut self, has_changed: bool) {
        if self.unblock() || has_changed {
            self.leaving.clear();
            self.swap();
        }
        self.publish();
    }

    /// Whether every component was looked at once.
    pub fn has_loaded(&self) -> bool {
        self.has_loaded
    }

    /// Whether the lists say something else by now than what the slots were made of.
    async fn is_outdated(&self) -> bool {
        let mut lists = self.lists.clone();
        let (dirs, settings) = (self.environment.dirs.clone(), self.environment.settings());
        let read = spawn_blocking(move || {
            lists.read(&dirs);
            lists.entries(&dirs, &settings)
        });
        read.await.is_ok_and(|entries| entries != self.arranged)
    }

    /// Makes the slots those of the entries. Returns whether a version that serves was given
    /// another grant, limit or setting, which must not wait for anything.
    async fn arrange(&mut self) -> bool {
        let settings = self.environment.settings();
        let mut listed = self.lists.entries(&self.environment.dirs, &settings);
        self.arranged.clone_from(&listed);
        let plugins_max = settings.plugins_max;
        let left_out = listed.len().saturating_sub(plugins_max);
        if left_out > 0 && left_out != self.left_out {
            tracing::warn!(left_out, plugins_max, "too many plugins: the last are left out");
        }
        self.left_out = left_out;
        listed.truncate(plugins_max);
        let mut old = std::mem::take(&mut self.slots);
        let arranged = spawn_blocking(move || {
            let mut has_changed = false;
            let mut slots = Vec::with_capacity(listed.len());
            for listed in &listed {
                slots.push(match old.iter().position(|slot| slot.is_of(listed)) {
                    Some(index) => {
                        let mut slot = old.swap_remove(index);
                        has_changed |= slot.take_entry(listed.clone());
                        slot
                    }
                    None => Slot::new(listed.clone()),
                });
            }
            old.iter_mut().for_each(|slot| slot.leave(&listed));
            let left = old.iter().filter_map(Serving::of).collect();
            (slots, left, has_changed)
        });
        match arranged.await {
            Ok((slots, left, has_changed)) => {
                (self.slots, self.leaving) = (slots, left);
                has_changed
            }
            Err(error) => {
                tracing::error!(%error, "internal error: the plugins are lost");
                true
            }
        }
    }

    /// Takes what was found in one file. Returns whether another version serves now.
    fn take(&mut self, index: usize, examined: Examined, is_first: bool) -> bool {
        // At first a name that several plugins want is that of the first in the lists, whichever
        // was ready first; later that of the one that has it.
        let others = if is_first { self.serving(0..index) } else { self.all_but(index) };
        let only_for = self.slots[index].only_for().map(Path::to_owned);
        let install = |tools: &PluginTools| fit(&self.environment, &others, tools, &only_for);
        let has_changed = self.slots[index].take(examined, install);
        if is_first && has_changed {
            for later in index + 1..self.slots.len() {
                let others = self.serving(0..later);
                let only_for = self.slots[later].only_for().map(Path::to_owned);
                let fits = |tools: &PluginTools| fit(&self.environment, &others, tools, &only_for);
                self.slots[later].make_way(fits);
            }
        }
        has_changed
    }

    /// Starts looking at every component, a few at a time. `fetches` says which are fetched first.
    async fn examine(&mut self, fetches: &[bool]) -> Examining {
        if self.slots.is_empty() {
            return Examining::default();
        }
        let engine = self.engine().await;
        let bytes_max = self.environment.settings().component_bytes_max;
        let places = [(); 2].map(|()| Arc::new(Semaphore::new(EXAMINING_MAX)));
        let mut examining = Examining::default();
        for (index, (slot, fetches)) in self.slots.iter().zip(fetches).enumerate() {
            let (examination, engine) = (slot.examination(), engine.clone());
            let places = Arc::clone(&places[usize::from(*fetches)]);
            let environment = Arc::clone(&self.environment);
            examining.start(index, async move {
                let _place = places.acquire().await.expect("nobody closes it");
                examination.run(engine, bytes_max, &environment).await
            });
        }
        examining
    }

    /// The engine, which is only set up where there are plugins.
    async fn engine(&mut self) -> Result<Engine, String> {
        if let Some(engine) = &self.engine {
            return Ok(engine.clone());
        }
        let calls_max = self.environment.settings().calls_max;
        let options = EngineOptions {
            calls_max: u32::try_from(calls_max).unwrap_or(u32::MAX),
            warm_max: WARM_MAX,
            memory_bytes_max: MEMORY_BYTES_MAX,
            allocation: Allocation::Auto,
        };
        let engine = compiler::engine(&self.environment, options, None).await?;
        self.engine = Some(engine.clone());
        Ok(engine)
    }

    /// Lets versions serve whose names are free now. Returns whether any does.
    fn unblock(&mut self) -> bool {
        let mut has_changed = false;
        for index in 0..self.slots.len() {
            if self.slots[index].blocked().is_some() {
                let others = self.all_but(index);
                let only_for = self.slots[index].only_for().map(Path::to_owned);
                let install =
                    |tools: &PluginTools| fit(&self.environment, &others, tools, &only_for);
                has_changed |= self.slots[index].unblock(install);
            }
        }
        has_changed
    }

    /// What serves in some of the slots.
    fn serving(&self, slots: Range<usize>) -> Vec<Serving> {
        self.slots[slots].iter().filter_map(Serving::of).collect()
    }

    /// What serves in every other slot.
    fn all_but(&self, index: usize) -> Vec<Serving> {
        [self.serving(0..index), self.serving(index + 1..self.slots.len())].concat()
    }

    /// Makes the catalogs of what serves now.
    fn swap(&self) {
        let serving = self.slots.iter().filter_map(Serving::of);
        let all: Vec<_> = serving.chain(self.leaving.iter().cloned()).collect();
        for workspace in self.environment.workspaces() {
            let root = workspace.files.root();
            let here = all.iter().filter(|serving| is_for(serving.only_for.as_deref(), root));
            match workspace.native.with_plugins(here.map(|serving| &*serving.tools)) {
                Ok(catalog) => workspace.replace_catalog(catalog),
                Err(error) => {
                    tracing::error!(%error, "internal error: the catalog stays as it is");
                }
            }
        }
    }

    /// Puts the states of plugins where people and calls look for them.
    fn publish(&self) {
        let slots =
            self.slots.iter().map(|slot| (slot.only_for().map(Path::to_owned), slot.status()));
        let all: Vec<_> = self.lists.broken().chain(slots).collect();
        for workspace in self.environment.workspaces() {
            let root = workspace.files.root();
            let here = all.iter().filter(|(only_for, _)| is_for(only_for.as_deref(), root));
            let statuses: Vec<_> = here.map(|(_, status)| status.clone()).collect();
            workspace.statuses.store(Arc::new(statuses));
            workspace.statuses_replaced.send_replace(());
        }
    }
}

fn lists_of(environment: &Environment) -> PluginLists {
    let workspaces = environment.workspaces().map(|workspace| Arc::clone(&workspace.files));
    PluginLists::of(&environment.lists, workspaces)
}
