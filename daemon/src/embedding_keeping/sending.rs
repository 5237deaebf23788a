//! Sending the texts of files, some at a time, and keeping the vectors that come back.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use moss_embeddings::{BATCH_TEXTS_MAX, EmbeddingEndpoint, RequestTimes, passage_key};
use moss_ranking::{MeaningVector, PassageKey, TextAnalyzer, VectorTable};
use moss_sdk::RelPath;
use moss_workspace::FileMark;

use super::{EmbeddingKeeper, RETRY, RoundEnd};
use crate::call::{EmbeddingRules, ReadableByAll};
use moss_config::EmbeddingsConfig;
use moss_live_index::embeddings::EmbeddingProgress;
use moss_live_index::text_index::IndexRules;

/// Most files that are read at once.
const FILES_READ_MAX: usize = 32;
/// What a vector takes beside its numbers, in bytes.
const VECTOR_BYTES_MORE: usize = 128;
/// How long to connect.
const CONNECT: Duration = Duration::from_secs(5);
/// How long questions go first at most, and how often it is looked whether one does.
const QUESTIONS_FIRST_MAX: Duration = Duration::from_secs(5);
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// A file that was read to be embedded.
struct PassageFile {
    path: RelPath,
    mark: FileMark,
    /// Its chunks and what they are known by; none where it is to have no vectors.
    passages: Vec<((u32, u32), PassageKey)>,
    /// The texts of those that have no vector yet.
    missing: Vec<(PassageKey, String)>,
}

// === impl EmbeddingKeeper ===

impl EmbeddingKeeper {
    /// Has vectors made of files, some at a time.
    pub(super) async fn send_all(
        &mut self,
        endpoint: &Arc<EmbeddingEndpoint>,
        config: &EmbeddingsConfig,
        pending: Vec<(RelPath, FileMark)>,
    ) -> Result<(), RoundEnd> {
        for block in pending.chunks(FILES_READ_MAX) {
            if let Some(rest) = self.workspace.embeddings.rest() {
                return Err(RoundEnd::Later(rest));
            }
            let read = self.read(block.to_vec()).await?;
            self.make_room(&read, config).await?;
            let wanted: Vec<(&PassageFile, &(PassageKey, String))> = read
                .iter()
                .flat_map(|file| file.missing.iter().map(move |one| (file, one)))
                .filter(|(_, (key, _))| !self.unmade.contains(key))
                .collect();
            for batch in wanted.chunks(BATCH_TEXTS_MAX) {
                if !self.send(endpoint, config, batch).await? {
                    for one in batch {
                        self.send(endpoint, config, std::slice::from_ref(one)).await?;
                    }
                }
            }
            for file in &read {
                self.place(file).await?;
            }
            for (path, _) in block {
                self.missing.remove(path);
            }
            self.report();
        }
        Ok(())
    }

    /// Reads files and cuts them into passages; those that may not be sent are left out.
    async fn read(&self, files: Vec<(RelPath, FileMark)>) -> Result<Vec<PassageFile>, RoundEnd> {
        self.on_workspace(move |daemon, workspace| {
            let (mut analyzer, mut buffer) = (TextAnalyzer::default(), Vec::new());
            let rules = EmbeddingRules(workspace);
            let policy = workspace.policy.load_full();
            let mut read = Vec::new();
            for (path, _) in files.into_iter().filter(|(path, _)| rules.may_send(&policy, path)) {
                let bytes_max = workspace.files.limits().edit_bytes_max;
                let cancelled = || daemon.draining.is_cancelled();
                let plain = workspace.files.read_plain((&path, bytes_max), &mut buffer, &cancelled);
                let Some(mark) = plain.mark else { continue };
                let passages = match plain.text {
                    Ok(text) => analyzer.passages(&path, &text).unwrap_or_default(),
                    Err(_) => Vec::new(),
                };
                let vectors = &workspace.embeddings.vectors;
                let vectors = vectors.read().unwrap_or_else(PoisonError::into_inner);
                let mut file =
                    PassageFile { path, mark, passages: Vec::new(), missing: Vec::new() };
                for passage in passages {
                    let key = passage_key(&passage.text);
                    let is_new =
                        !vectors.has(&key) && file.missing.iter().all(|(known, _)| *known != key);
                    file.passages.push((passage.lines, key));
                    if is_new {
                        file.missing.push((key, passage.text));
                    }
                }
                read.push(file);
            }
            read
        })
        .await
    }

    /// Makes room for the vectors of files; none is made where a workspace has too many chunks.
    async fn make_room(
        &mut self,
        read: &[PassageFile],
        config: &EmbeddingsConfig,
    ) -> Result<(), RoundEnd> {
        let new: usize = read.iter().map(|file| file.missing.len()).sum();
        let (chunks_max, bytes_max) = (config.chunks_max, config.cache_bytes_max);
        let has_room = move |vectors: &mut VectorTable| {
            let chunks = vectors.len() + new;
            let each = vectors.dimensions().unwrap_or_default() + VECTOR_BYTES_MORE;
            chunks <= chunks_max && (chunks * each) as u64 <= bytes_max
        };
        if self.in_table(has_room).await? {
            return Ok(());
        }
        self.change_vectors(VectorTable::forget_unused).await?;
        if self.in_table(has_room).await? {
            // Some that were counted on may be gone.
            return Err(RoundEnd::Later(Duration::ZERO));
        }
        let why = "the workspace has more chunks than `embeddings.chunks_max` or \
                   `embeddings.cache_bytes_max` have room for"
            .to_owned();
        self.workspace
            .embeddings
            .report(EmbeddingProgress { off: Some(why), ..EmbeddingProgress::default() });
        Err(RoundEnd::Waits)
    }

    /// Sends texts, where that may be at this moment, and keeps the vectors. Returns false where each is to be sent alone:
    /// of one the endpoint makes none.
    async fn send(
        &mut self,
        endpoint: &Arc<EmbeddingEndpoint>,
        config: &EmbeddingsConfig,
        batch: &[(&PassageFile, &(PassageKey, String))],
    ) -> Result<bool, RoundEnd> {
        self.let_questions_first().await;
        let paths: Vec<RelPath> = batch.iter().map(|(file, _)| file.path.clone()).collect();
        let may_be_sent = self.sendable(endpoint, paths).await?;
        let batch: Vec<&(PassageKey, String)> = batch
            .iter()
            .filter(|(file, _)| may_be_sent.contains(&file.path))
            .map(|(_, one)| *one)
            .collect();
        if batch.is_empty() {
            return Ok(true);
        }
        let started = Instant::now();
        let texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
        let dimensions = self.in_table(|vectors| vectors.dimensions()).await?;
        let whole = Duration::from_millis(config.request_ms);
        let times = RequestTimes { connect: CONNECT.min(whole), whole };
        let network = &self.daemon.plugins.network;
        let response = endpoint.embed_if_it_can(network, &texts, dimensions, times).await;
        let embeddings = &self.workspace.embeddings;
        embeddings.note_response(endpoint.id(), &response);
        let Ok(vectors) = response else {
            return Err(RoundEnd::Later(embeddings.rest().unwrap_or(RETRY)));
        };
        let keys = batch.iter().map(|(key, _)| *key);
        match vectors {
            Some(vectors) => self.keep(keys.zip(vectors).collect()).await?,
            None if texts.len() > 1 => return Ok(false),
            None => {
                tracing::info!("a chunk goes without embeddings: the endpoint makes none of it");
                self.unmade.extend(keys);
            }
        }
        let pace = Duration::from_secs(60) * u32::try_from(texts.len()).unwrap_or(1)
            / config.chunks_per_minute.max(1);
        tokio::time::sleep(pace.saturating_sub(started.elapsed())).await;
        Ok(true)
    }

    /// Which files may be sent by the rules of this moment: they are there, not ignored, and saved.
    async fn sendable(
        &self,
        endpoint: &EmbeddingEndpoint,
        paths: Vec<RelPath>,
    ) -> Result<HashSet<RelPath>, RoundEnd> {
        let sendable = self.on_workspace(move |daemon, workspace| {
            let kept = workspace.live.get()?;
            let sources = (&ReadableByAll(workspace) as &dyn IndexRules, &*workspace.editors as _);
            let cancelled = || daemon.draining.is_cancelled();
            let known = kept.saved_among(&workspace.files, sources, &paths, &cancelled)?;
            let (rules, policy) = (EmbeddingRules(workspace), workspace.policy.load_full());
            Some(known.into_iter().filter(|path| rules.may_send(&policy, path)).collect())
        });
        let sendable: Option<HashSet<RelPath>> = sendable.await?;
        // Last: a rule or a configuration that came meanwhile counts.
        let configured = self.daemon.config().embeddings.endpoint();
        let is_it = matches!(configured, Some(Ok(now)) if now.id() == endpoint.id());
        if !is_it || self.forbidden(endpoint).is_some() {
            return Err(RoundEnd::Later(Duration::ZERO));
        }
        sendable.ok_or(RoundEnd::Later(RETRY))
    }

    async fn let_questions_first(&self) {
        let started = Instant::now();
        while self.workspace.embeddings.is_asked() && started.elapsed() < QUESTIONS_FIRST_MAX {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }

    /// Keeps vectors in memory and on disk.
    async fn keep(&mut self, made: Vec<(PassageKey, MeaningVector)>) -> Result<(), RoundEnd> {
        let added = self.with_file(move |file, vectors| {
            for (key, vector) in &made {
                vectors.insert(*key, vector);
            }
            file.append(&made)
        });
        if !added.await? {
            tracing::debug!("vectors beyond `embeddings.cache_bytes_max` are not kept on disk");
        }
        Ok(())
    }

    /// Says which chunks a file has, once all of them have vectors that can.
    async fn place(&mut self, file: &PassageFile) -> Result<(), RoundEnd> {
        let rules = EmbeddingRules(&self.workspace);
        if !rules.may_send(&self.workspace.policy.load(), &file.path) {
            return Ok(());
        }
        let path = file.path.clone();
        let made = file.passages.iter().filter(|(_, key)| !self.unmade.contains(key));
        let passages: Vec<_> = made.copied().collect();
        if self.in_table(move |vectors| vectors.set_file(&path, &passages)).await? {
            self.marks.insert(file.path.clone(), file.mark);
        }
        Ok(())
    }
}
