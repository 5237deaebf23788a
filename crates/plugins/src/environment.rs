//! What plugins need of whoever runs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use moss_catalog::Catalog;
use moss_network::Network;
use moss_workspace::{Workspace, dirs::Dirs};
use tokio::sync::{Semaphore, watch};

use crate::compiling::Compilations;
use crate::settings::Settings;
use crate::status::PluginStatus;
use crate::store::PluginStores;

/// Most plugins that are compiled at once, whoever asks; fewer where there are fewer processors.
const COMPILERS_MAX: usize = 4;

/// What plugins need of whoever runs them.
#[derive(Debug)]
pub struct Environment {
    /// Where moss keeps its own files.
    pub dirs: Dirs,
    /// The lists of the user.
    pub lists: ListFiles,
    /// The program that compiles plugins in a process of its own. Where none is named they are
    /// compiled in this process, without a bound on time and memory.
    pub program: Option<PathBuf>,
    /// What is compiled now.
    pub compilations: Compilations,
    /// The way out to the network.
    pub network: Arc<Network>,
    /// Permits for processes that compile at once.
    pub(crate) compilers: Arc<Semaphore>,
    /// Looking at plugins that callers ask for: one after the other.
    pub(crate) looks: Semaphore,
    settings: ArcSwap<Settings>,
    workspaces: BTreeMap<PathBuf, Arc<Installed>>,
}

/// Where lists of plugins are that no workspace brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListFiles {
    /// One that comes before all others: of what is being developed.
    pub trial: Option<PathBuf>,
    /// The user's own; there may be none.
    pub users: PathBuf,
    /// Those that somebody named.
    pub named: Vec<PathBuf>,
}

/// The tools of one workspace as they are now, and what became of its plugins.
#[derive(Debug)]
pub struct Installed {
    /// The door to its files.
    pub files: Arc<Workspace>,
    /// Its tools without those of plugins.
    pub native: Arc<Catalog>,
    /// Its tools. Replaced by [`Installed::replace_catalog`], so that it is reported.
    pub catalog: ArcSwap<Catalog>,
    /// Reports when there is another catalog.
    pub catalog_replaced: watch::Sender<()>,
    /// Its plugins, loaded or not.
    pub statuses: ArcSwap<Vec<PluginStatus>>,
    /// Reports when something else is known of them.
    pub statuses_replaced: watch::Sender<()>,
    /// What its plugins keep.
    pub stores: PluginStores,
}

/// As many as work is done at once that takes the processor.
fn compilers_max() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(COMPILERS_MAX)
}

// === impl Environment ===

impl Environment {
    /// Puts an environment together for these workspaces.
    pub fn new(
        dirs: Dirs,
        lists: ListFiles,
        program: Option<PathBuf>,
        compilations: Compilations,
        settings: Settings,
        workspaces: impl IntoIterator<Item = Arc<Installed>>,
    ) -> Self {
        let by_root = |installed: Arc<Installed>| (installed.files.root().to_owned(), installed);
        Self {
            dirs,
            lists,
            program,
            compilations,
            network: Arc::default(),
            compilers: Arc::new(Semaphore::new(compilers_max())),
            looks: Semaphore::new(1),
            settings: ArcSwap::from_pointee(settings),
            workspaces: workspaces.into_iter().map(by_root).collect(),
        }
    }

    /// What the configuration says now.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }

    /// Puts other settings into effect.
    pub fn replace_settings(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
    }

    /// Returns the workspaces, by root directory.
    pub fn workspaces(&self) -> impl Iterator<Item = &Arc<Installed>> {
        self.workspaces.values()
    }
}

// === impl ListFiles ===

impl ListFiles {
    /// Whether a list is one of them that lasts.
    pub fn has(&self, list: &Path) -> bool {
        self.users == list || self.named.iter().any(|named| named == list)
    }
}

// === impl Installed ===

impl Installed {
    /// A workspace with its native tools and no plugins yet.
    pub fn new(files: Arc<Workspace>, native: Catalog, stores: PluginStores) -> Self {
        let native = Arc::new(native);
        Self {
            files,
            catalog: ArcSwap::new(Arc::clone(&native)),
            native,
            catalog_replaced: watch::Sender::new(()),
            statuses: ArcSwap::default(),
            statuses_replaced: watch::Sender::new(()),
            stores,
        }
    }

    /// Puts another catalog in place of the one in effect. Calls that run keep theirs.
    pub fn replace_catalog(&self, catalog: Catalog) {
        self.catalog.store(Arc::new(catalog));
        self.catalog_replaced.send_replace(());
    }
}
