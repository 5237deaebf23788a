//! Keeping the vectors of a workspace up with its texts, in the background: what changed is read, decided about, sent and
//! kept.
//!
//! Whether a text may be sent is decided when it is read and again right before it is sent, by the rules of that moment;
//! so is whether the endpoint may be asked at all. Without an endpoint in the configuration this only waits.

mod sending;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use moss_embeddings::{EmbeddingEndpoint, VectorFile};
use moss_policy::{Policy, Verdict};
use moss_ranking::{PassageKey, VectorTable};
use moss_sdk::RelPath;
use moss_workspace::FileMark;
use moss_workspace::own::{OwnDir, read_secret};

use crate::call::{EmbeddingRules, ReadableByAll};
use crate::state::{Daemon, WorkspaceState};
use moss_config::EmbeddingsConfig;
use moss_dispatch::low_priority;
use moss_live_index::embeddings::EmbeddingProgress;
use moss_live_index::text_index::IndexRules;

/// So many files may have no vectors, one in so many, for vectors to count: with fewer, what has one would have an
/// advantage that is chance.
const MISSING_SHARE: usize = 10;
/// How long to wait where the disk or the secret cannot be read.
const RETRY: Duration = Duration::from_secs(60);
/// Why there are no vectors where nothing is kept of files.
const UNINDEXED: &str = "`index.enabled` in config.toml is false";
/// Largest secret, in bytes.
const TOKEN_BYTES_MAX: u64 = 16 * 1024;

/// What keeps the vectors of one workspace.
struct EmbeddingKeeper {
    daemon: Arc<Daemon>,
    workspace: Arc<WorkspaceState>,
    /// The endpoint whose vectors there are, with their file.
    kept: Option<(Arc<EmbeddingEndpoint>, VectorFile)>,
    /// Files as they were when their vectors were made, also those that are to have none.
    marks: HashMap<RelPath, FileMark>,
    /// By the rules of which policy; none until all files were looked at under one.
    policy: Option<Arc<Policy>>,
    /// How many files are to have vectors, and which of them have none.
    files: usize,
    missing: HashSet<RelPath>,
    /// Chunks of which the endpoint makes no vector; their files do without those.
    unmade: HashSet<PassageKey>,
    /// Whether all texts were known when they were listed last.
    is_whole: bool,
}

/// Why a round ended before its end.
enum RoundEnd {
    /// It goes on after a while.
    Later(Duration),
    /// It goes on when something changes.
    Waits,
}

/// Keeps the vectors of a workspace until the daemon ends.
pub(crate) async fn keep(daemon: Arc<Daemon>, workspace: Arc<WorkspaceState>) {
    let mut replaced = daemon.config_replaced.subscribe();
    let embeddings = Arc::clone(&workspace.embeddings);
    let draining = daemon.draining.clone();
    let mut keeper = EmbeddingKeeper {
        daemon,
        workspace,
        kept: None,
        marks: HashMap::new(),
        policy: None,
        files: 0,
        missing: HashSet::new(),
        unmade: HashSet::new(),
        is_whole: false,
    };
    loop {
        let round = tokio::select! {
            () = draining.cancelled() => return,
            round = keeper.round() => round,
        };
        let again = async {
            match round {
                Err(RoundEnd::Later(wait)) => tokio::time::sleep(wait).await,
                Err(RoundEnd::Waits) | Ok(()) => std::future::pending().await,
            }
        };
        tokio::select! {
            () = draining.cancelled() => return,
            () = embeddings.wait_for_work() => {}
            _ = replaced.changed() => {}
            () = again => {}
        }
    }
}

/// Whether two looks at a file found the same one, unchanged.
fn is_same_file(one: &FileMark, other: &FileMark) -> bool {
    FileMark { is_sure: true, ..*one } == FileMark { is_sure: true, ..*other }
}

// === impl EmbeddingKeeper ===

impl EmbeddingKeeper {
    /// Brings all vectors up to date, as far as that may be.
    async fn round(&mut self) -> Result<(), RoundEnd> {
        let config = self.daemon.config().embeddings.clone();
        let is_indexed = self.daemon.config().index.enabled;
        let endpoint = match config.endpoint() {
            Some(_) if !is_indexed => return self.leave(Some(UNINDEXED.to_owned())).await,
            None => return self.leave(None).await,
            Some(Err(why)) => return self.leave(Some(why)).await,
            Some(Ok(endpoint)) => endpoint,
        };
        if let Some(why) = self.forbidden(&endpoint) {
            return self.erase(why).await;
        }
        let endpoint = Arc::new(self.with_token(endpoint, &config).await?);
        self.open(&endpoint, &config).await?;
        if self.workspace.embeddings.takes_anew() {
            self.marks.clear();
            self.unmade.clear();
            self.change_vectors(|vectors| *vectors = VectorTable::default()).await?;
        }
        let pending = self.pending().await?;
        self.send_all(&endpoint, &config, pending).await?;
        self.settle().await?;
        self.report();
        Ok(())
    }

    /// Why the endpoint may not be asked: none of those for whom it would be may.
    fn forbidden(&self, endpoint: &EmbeddingEndpoint) -> Option<String> {
        let rules = EmbeddingRules(&self.workspace);
        let policy = self.workspace.policy.load();
        let own = rules.decide(&policy, rules.caller());
        if own.verdict == Verdict::Allow {
            return None;
        }
        let approved = self.workspace.embeddings.approved(endpoint.id());
        let may = |caller: &String| rules.decide(&policy, caller).verdict != Verdict::Deny;
        let is_allowed = own.verdict != Verdict::Deny && approved.iter().any(may);
        (!is_allowed).then(|| format!("sending texts to {} is {own}", endpoint.url()))
    }

    /// Forgets the vectors in memory: nobody wants any, or not these. What is on disk stays.
    async fn leave(&mut self, why: Option<String>) -> Result<(), RoundEnd> {
        self.kept = None;
        self.marks.clear();
        self.policy = None;
        self.missing.clear();
        let embeddings = &self.workspace.embeddings;
        embeddings.use_endpoint(None);
        embeddings.report(EmbeddingProgress { off: why, ..EmbeddingProgress::default() });
        self.in_table(|vectors| *vectors = VectorTable::default()).await?;
        Err(RoundEnd::Waits)
    }

    /// Removes the vectors that were made under another policy, on disk as well.
    async fn erase(&mut self, why: String) -> Result<(), RoundEnd> {
        let (daemon, workspace) = (Arc::clone(&self.daemon), Arc::clone(&self.workspace));
        let is_denied = {
            let rules = EmbeddingRules(&workspace);
            rules.decide(&workspace.policy.load(), rules.caller()).verdict == Verdict::Deny
        };
        if self.kept.is_some() {
            self.in_table(|vectors| *vectors = VectorTable::default()).await?;
            self.write_anew().await?;
        } else if is_denied {
            let directory = daemon.setup.dirs.workspace_embeddings(workspace.files.root());
            let remove = move || match OwnDir::open(&directory) {
                Ok(directory) => VectorFile::remove(&directory).map(drop),
                // It has no vectors.
                Err(_) => Ok(()),
            };
            if let Ok(Err(error)) = tokio::task::spawn_blocking(remove).await {
                tracing::warn!(%error, "the vectors of a workspace are not removed");
            }
        }
        self.leave(Some(why)).await
    }

    /// The endpoint with its secret, where it has one.
    async fn with_token(
        &self,
        endpoint: EmbeddingEndpoint,
        config: &EmbeddingsConfig,
    ) -> Result<EmbeddingEndpoint, RoundEnd> {
        let (file, variable) = (config.token_file.clone(), config.token_env.clone());
        let read = move || -> Result<EmbeddingEndpoint, String> {
            if !file.is_empty() {
                let bytes = read_secret(file.as_ref(), TOKEN_BYTES_MAX);
                let bytes = bytes.map_err(|error| error.to_string())?;
                return endpoint.with_token(&String::from_utf8_lossy(&bytes));
            }
            match variable.as_str() {
                "" => Ok(endpoint),
                name => match std::env::var(name) {
                    Ok(token) => endpoint.with_token(&token),
                    Err(_) => Err(format!("the environment has no variable {name}")),
                },
            }
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(endpoint)) => Ok(endpoint),
            Ok(Err(why)) => Err(self.hold(why)),
            Err(error) => Err(self.hold(error.to_string())),
        }
    }

    /// Says why there are no vectors for now.
    fn hold(&self, why: String) -> RoundEnd {
        tracing::warn!(why, "no embeddings for now");
        let embeddings = &self.workspace.embeddings;
        embeddings.use_endpoint(None);
        embeddings.report(EmbeddingProgress { off: Some(why), ..EmbeddingProgress::default() });
        RoundEnd::Later(RETRY)
    }

    /// Opens the file of an endpoint, unless it is open.
    async fn open(
        &mut self,
        endpoint: &Arc<EmbeddingEndpoint>,
        config: &EmbeddingsConfig,
    ) -> Result<(), RoundEnd> {
        let id = endpoint.id();
        if let Some((known, _)) = self.kept.as_mut().filter(|(known, _)| known.id() == id) {
            *known = Arc::clone(endpoint);
            self.workspace.embeddings.use_endpoint(Some(Arc::clone(endpoint)));
            return Ok(());
        }
        // Its file is locked.
        self.kept = None;
        let directory = self.daemon.setup.dirs.workspace_embeddings(self.workspace.files.root());
        let bytes_max = config.cache_bytes_max;
        let opening = move || VectorFile::open(OwnDir::create(&directory)?, id, bytes_max);
        let opened = low_priority::run("moss-embeddings", opening).await;
        let (file, table) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => return Err(self.hold(error.to_string())),
            Err(error) => return Err(self.hold(error.to_string())),
        };
        (self.marks, self.policy) = (HashMap::new(), None);
        self.unmade.clear();
        self.in_table(move |vectors| *vectors = table).await?;
        tracing::info!(
            url = endpoint.url(),
            model = endpoint.model(),
            "texts may be sent for embeddings"
        );
        self.kept = Some((Arc::clone(endpoint), file));
        self.workspace.embeddings.use_endpoint(Some(Arc::clone(endpoint)));
        Ok(())
    }

    /// Forgets files that are gone or may not be sent by now; returns those whose vectors are missing.
    async fn pending(&mut self) -> Result<Vec<(RelPath, FileMark)>, RoundEnd> {
        let policy = self.workspace.policy.load_full();
        let is_same = self.policy.as_ref().is_some_and(|known| Arc::ptr_eq(known, &policy));
        let listed = self.on_workspace(|daemon, workspace| {
            let kept = workspace.live.get()?;
            let sources = (&ReadableByAll(workspace) as &dyn IndexRules, &*workspace.editors as _);
            kept.saved_files(&workspace.files, sources, &|| daemon.draining.is_cancelled())
        });
        let Some((listed, is_whole)) = listed.await? else { return Err(RoundEnd::Waits) };
        self.is_whole = is_whole;
        let rules = EmbeddingRules(&self.workspace);
        let may_send: Vec<_> =
            listed.into_iter().filter(|(path, _)| rules.may_send(&policy, path)).collect();
        let present: HashSet<RelPath> = may_send.iter().map(|(path, _)| path.clone()).collect();
        self.marks.retain(|path, _| present.contains(path));
        let gone = move |vectors: &VectorTable| -> Vec<RelPath> {
            vectors.files().filter(|path| !present.contains(*path)).cloned().collect()
        };
        if is_same {
            let forget = move |vectors: &mut VectorTable| {
                gone(vectors).iter().for_each(|path| vectors.remove_file(path));
            };
            self.in_table(forget).await?;
        } else {
            // What may not be read by now leaves the memory and the disk.
            let has_changed = self.in_table(move |vectors| {
                let gone = gone(vectors);
                vectors.forget_files(&gone)
            });
            if has_changed.await? {
                self.write_anew().await?;
            }
        }
        let is_known = |(path, mark): &(RelPath, FileMark)| {
            let known = self.marks.get(path);
            known.is_some_and(|known| is_same_file(known, mark) && (known.is_sure || mark.is_sure))
        };
        self.files = may_send.len();
        let pending: Vec<_> = may_send.into_iter().filter(|file| !is_known(file)).collect();
        // One that was left alone too briefly to be sure is looked at again, and has its vectors meanwhile.
        let is_missing = |(path, mark): &&(RelPath, FileMark)| {
            !self.marks.get(path).is_some_and(|known| is_same_file(known, mark))
        };
        self.missing = pending.iter().filter(is_missing).map(|(path, _)| path.clone()).collect();
        self.report();
        Ok(pending)
    }

    fn report(&self) {
        let (files, missing) = (self.files, self.missing.len());
        // While texts are read for the first time, nobody knows how many there will be.
        let is_known = self.is_whole || self.policy.is_some();
        let is_covered = is_known && files > 0 && missing * MISSING_SHARE <= files;
        let disk_bytes = self.kept.as_ref().map_or(0, |(_, file)| file.bytes());
        let progress = EmbeddingProgress { off: None, files, missing, is_covered, disk_bytes };
        self.workspace.embeddings.report(progress);
    }

    /// Forgets, once all is known under a policy, what belongs to no file: it may be of one that is denied.
    async fn settle(&mut self) -> Result<(), RoundEnd> {
        let policy = self.workspace.policy.load_full();
        let is_same = self.policy.as_ref().is_some_and(|known| Arc::ptr_eq(known, &policy));
        if !is_same && self.is_whole && self.missing.is_empty() {
            self.change_vectors(VectorTable::forget_unused).await?;
            self.policy = Some(policy);
        }
        Ok(())
    }

    /// Changes the vectors, in memory and on disk.
    async fn change_vectors(
        &mut self,
        change: impl FnOnce(&mut VectorTable) + Send + 'static,
    ) -> Result<(), RoundEnd> {
        let has_changed = self.in_table(move |vectors| {
            let before = vectors.len();
            change(vectors);
            vectors.len() != before
        });
        if has_changed.await? { self.write_anew().await } else { Ok(()) }
    }

    async fn write_anew(&mut self) -> Result<(), RoundEnd> {
        self.with_file(|file, vectors| file.write_anew(vectors)).await
    }

    /// Does something with the file and the vectors.
    async fn with_file<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut VectorFile, &mut VectorTable) -> Result<T, moss_workspace::Error>
        + Send
        + 'static,
    ) -> Result<T, RoundEnd> {
        let Some((endpoint, mut file)) = self.kept.take() else {
            return Err(RoundEnd::Later(Duration::ZERO));
        };
        let done = self.in_table(move |vectors| {
            let done = work(&mut file, vectors);
            (file, done)
        });
        let (file, done) = done.await?;
        self.kept = Some((endpoint, file));
        done.map_err(|error| self.hold(error.to_string()))
    }

    /// Does something with the vectors, for which no question waits long.
    async fn in_table<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut VectorTable) -> T + Send + 'static,
    ) -> Result<T, RoundEnd> {
        let workspace = Arc::clone(&self.workspace);
        let done = tokio::task::spawn_blocking(move || {
            let vectors = &workspace.embeddings.vectors;
            work(&mut vectors.write().unwrap_or_else(PoisonError::into_inner))
        });
        done.await.map_err(|error| self.hold(error.to_string()))
    }

    /// Does work that may have to wait for disks, behind that of calls.
    async fn on_workspace<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Daemon, &WorkspaceState) -> T + Send + 'static,
    ) -> Result<T, RoundEnd> {
        let (daemon, workspace) = (Arc::clone(&self.daemon), Arc::clone(&self.workspace));
        let done = low_priority::run("moss-embeddings", move || work(&daemon, &workspace));
        done.await.map_err(|error| self.hold(error.to_string()))
    }
}
