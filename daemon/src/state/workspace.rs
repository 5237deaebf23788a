//! What a running daemon holds of one workspace.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use moss_sdk::RelPath;
use moss_sdk::code_map::CodeMap;
use moss_sdk::code_search::{CodeSearch, CodeSearchFound};
use moss_sdk::context::TextVisitor;
use moss_sdk::file::{ListOptions, Listing, VisitOptions, Visited};
use moss_sdk::tree_listing::TreeListing;
use moss_workspace::{History, ListingGate, VisitGate, Workspace};
use tokio::sync::Semaphore;

use crate::approvals::StandingApprovals;
use crate::artifacts::Artifacts;
use crate::call::ContentMemory;
use crate::left_commands::LeftCommands;
use crate::remembered::Remembered;
use crate::sessions::Sessions;
use crate::todos::Todos;
use crate::turns::Turns;
use moss_catalog::Catalog;
use moss_config::Config;
use moss_editors::EditorRegistry;
use moss_journal::folding::{self, RefusalFolding};
use moss_journal::{Durability, Journal};
use moss_live_index::embeddings::WorkspaceEmbeddings;
use moss_live_index::live_tree::KeptTree;
use moss_live_index::ranked_texts::RankedGate;
use moss_live_index::text_index::IndexRules;
use moss_plugins::Installed;
use moss_plugins::store::PluginStores;
use moss_policy::Policy;
use moss_symbols::RecentTrees;

/// One workspace with all that belongs to it.
#[derive(Debug)]
pub struct WorkspaceState {
    /// The door to its files.
    pub files: Arc<Workspace>,
    /// What is known of them without walking: nothing until somebody builds it.
    pub live: OnceLock<KeptTree>,
    /// What was committed through moss, and can be undone.
    pub history: Arc<History>,
    /// What happened in it.
    pub journal: Journal,
    /// The refused calls that are counted there and not recorded one by one.
    pub folding: RefusalFolding,
    /// The rules in effect.
    pub policy: ArcSwap<Policy>,
    /// What people approved for longer than once.
    pub answers: StandingApprovals,
    /// Its tools and plugins.
    pub installed: Arc<Installed>,
    /// The editors that are attached to it.
    pub editors: Arc<EditorRegistry>,
    /// What its callers have read.
    pub sessions: Sessions,
    /// The trees of large texts that were proposed last: what is proposed next is parsed sooner by them.
    pub recent_trees: RecentTrees,
    /// Whose turn it is to parse one before anything is proposed.
    pub parse_ahead: Arc<Semaphore>,
    /// Who may change which file now.
    pub turns: Turns,
    /// The task lists of its callers.
    pub todos: Todos,
    /// What tools keep for them until the daemon ends.
    pub remembered: Remembered,
    /// What their commands wrote.
    pub artifacts: Artifacts,
    /// What they left, where moss was killed with them.
    pub left_commands: LeftCommands,
    /// What files held before the last of them.
    pub(crate) contents: ContentMemory,
    /// The vectors of its texts, where an endpoint makes some.
    pub embeddings: Arc<WorkspaceEmbeddings>,
    /// Checks take turns: they report into one directory.
    pub checks: tokio::sync::Mutex<()>,
    name: String,
}

/// What the state directory of a workspace holds.
#[derive(Debug)]
pub struct WorkspaceStores {
    /// What was committed through moss, and can be undone.
    pub history: History,
    /// What happened in it.
    pub journal: Journal,
    /// What people approved for longer than once.
    pub answers: StandingApprovals,
    /// The task lists of its callers.
    pub todos: Todos,
    /// What their commands wrote.
    pub artifacts: Artifacts,
    /// What commands left, where moss was killed with them.
    pub left_commands: LeftCommands,
    /// What its plugins keep.
    pub plugin_stores: PluginStores,
}

// === impl WorkspaceState ===

impl WorkspaceState {
    /// Puts a workspace together.
    pub fn new(
        files: Workspace,
        kept: WorkspaceStores,
        policy: Policy,
        catalog: Catalog,
        config: &Config,
    ) -> Self {
        let WorkspaceStores {
            history,
            journal,
            answers,
            todos,
            artifacts,
            left_commands,
            plugin_stores,
        } = kept;
        let files = Arc::new(files);
        let installed = Installed::new(Arc::clone(&files), catalog, plugin_stores);
        Self {
            name: moss_workspace::name_of_root(files.root()),
            files,
            live: OnceLock::new(),
            history: Arc::new(history),
            journal,
            folding: RefusalFolding::new(folding::FoldingBounds {
                burst: config.journal.refusals_burst,
                per_second: config.journal.refusals_per_second,
                folded_for: Duration::from_millis(config.journal.refusals_folded_ms),
            }),
            policy: ArcSwap::from_pointee(policy),
            answers,
            installed: Arc::new(installed),
            editors: EditorRegistry::new(config.editors.clone(), crate::ids::random),
            sessions: Sessions::new(
                config.sessions.sessions_max,
                config.sessions.files_max,
                config.sessions.bytes_max,
            ),
            recent_trees: RecentTrees::default(),
            parse_ahead: Arc::new(Semaphore::new(1)),
            turns: Turns::default(),
            todos,
            remembered: Remembered::default(),
            artifacts,
            left_commands,
            contents: ContentMemory::default(),
            embeddings: Arc::default(),
            checks: tokio::sync::Mutex::new(()),
        }
    }

    /// Records how many calls without an effect were counted since, where it is time or the journal closes.
    pub async fn record_folded(&self, is_closing: bool) {
        for record in self.folding.take_due(Instant::now(), is_closing) {
            if let Err(error) = self.journal.record(record, Durability::Batched).await {
                tracing::error!(%error, "a count of calls without an effect is not recorded");
            }
        }
    }

    /// Lists a directory as [`Workspace::list`] does, without a walk where it can be.
    pub(crate) fn list(
        &self,
        directory: &RelPath,
        options: ListOptions,
        keep: &dyn Fn(&RelPath) -> bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Listing, moss_workspace::Error> {
        if let Some(kept) = self.live.get()
            && let Some(listing) = kept.list(directory, options, keep, cancelled)?
        {
            return Ok(listing);
        }
        self.files.list(directory, options, keep, cancelled)
    }

    /// Lists all that is beneath a directory, without a walk where it can be.
    pub(crate) fn list_tree(
        &self,
        directory: &RelPath,
        entries_max: usize,
        gate: ListingGate<'_>,
    ) -> Result<TreeListing, moss_workspace::Error> {
        if let Some(kept) = self.live.get()
            && let Some(listing) = kept.list_tree(directory, entries_max, gate)?
        {
            return Ok(listing);
        }
        let options = ListOptions { recursive: true, entries_max };
        let listing = self.list(directory, options, gate.lists, gate.cancelled)?;
        Ok(TreeListing::of(directory, listing))
    }

    /// As [`Workspace::visit_texts`], by what is known of texts where something is.
    pub(crate) fn visit_texts(
        &self,
        directory: &RelPath,
        options: VisitOptions,
        gate: VisitGate<'_>,
        visitor: &mut dyn TextVisitor,
        rules: &dyn IndexRules,
    ) -> Result<Visited, moss_workspace::Error> {
        if let Some(kept) = self.live.get()
            && let Some(visited) = kept.visit_texts(directory, options, gate, visitor, rules)?
        {
            return Ok(visited);
        }
        self.files.visit_texts(directory, options, gate, visitor)
    }

    /// Searches code in what is known of texts. None where nothing is: then somebody
    /// has to read them.
    pub(crate) fn search_code(
        &self,
        gate: RankedGate<'_>,
        search: &CodeSearch,
        rules: &dyn IndexRules,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<CodeSearchFound>, moss_workspace::Error> {
        let Some(kept) = self.live.get() else { return Ok(None) };
        kept.search_code(&self.files, (rules, &*self.editors), gate, search, cancelled)
    }

    /// Says which files beneath a directory are central, from what is known of texts.
    pub(crate) fn map_code(
        &self,
        gate: RankedGate<'_>,
        beneath: &RelPath,
        rules: &dyn IndexRules,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<CodeMap> {
        let kept = self.live.get()?;
        kept.map_code(&self.files, (rules, &*self.editors), gate, beneath, cancelled)
    }

    /// Its root directory as text, by which the daemon finds it: its name on the wire and in questions.
    pub fn name(&self) -> &str {
        &self.name
    }
}
