//! What is asked of a server, and the texts that it is shown for that.

use std::collections::BTreeMap;
use std::iter::repeat;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use moss_sdk::editor::{Position, Span};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use crate::conversation::ServerTalk;
use crate::fault::ServerFault;
use crate::servers::ServerSpec;
use crate::wire::{self, DiskChange};

/// Most texts that a server is shown at once; the one that was needed least lately is closed.
const OPEN_MAX: usize = 64;
/// Most files of one notification: a server reads each notification as a whole.
const NOTICE_FILES_MAX: usize = 10_000;

/// How a server is talked to.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The root of its project: an absolute path.
    pub root: PathBuf,
    /// How long it may take to say what it can do.
    pub start_max: Duration,
    /// How long it may take for anything else.
    pub response_max: Duration,
}

/// A location that a server names: in any file, also of its libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLocation {
    /// Its absolute path on this machine.
    pub path: PathBuf,
    /// The range that is referred to.
    pub span: Span,
}

/// One server that listens. Dropping it closes its streams.
#[derive(Debug)]
pub struct ServerClient {
    conversation: ServerTalk,
    response_max: Duration,
    texts: Mutex<ShownTexts>,
}

/// The texts that a server was shown: what it is to believe instead of the disk.
#[derive(Debug, Default)]
struct ShownTexts {
    open: BTreeMap<PathBuf, ShownText>,
    turn: u64,
}

#[derive(Debug)]
struct ShownText {
    text: Arc<str>,
    version: i32,
    turn: u64,
}

// === impl ServerClient ===

impl ServerClient {
    /// Begins to talk to a server that was just started.
    ///
    /// # Errors
    ///
    /// Where it does not respond in time, or not as the protocol has it.
    pub async fn start(
        from: impl AsyncRead + Send + Unpin + 'static,
        to: impl AsyncWrite + Send + Unpin + 'static,
        command: &ServerSpec,
        options: &ClientOptions,
    ) -> Result<Self, ServerFault> {
        let told = (command.settings.clone(), wire::uri(&options.root)?);
        let signs = (command.ready, command.exit_sign);
        let conversation = ServerTalk::new(from, to, told, signs);
        let first = wire::initialize(&options.root, &command.options)?;
        let able = conversation.request("initialize", &first, options.start_max).await?;
        wire::check_encoding(able.as_deref())?;
        conversation.notify("initialized", &json!({}))?;
        let settings = json!({"settings": command.settings});
        conversation.notify("workspace/didChangeConfiguration", &settings)?;
        let texts = Mutex::default();
        Ok(Self { conversation, response_max: options.response_max, texts })
    }

    /// Why nothing can be asked any more; none where something can.
    pub fn over(&self) -> Option<ServerFault> {
        self.conversation.over()
    }

    /// Waits until it has ended or broken the protocol.
    pub async fn until_over(&self) -> ServerFault {
        self.conversation.until_over().await
    }

    /// Waits until it knows the project, at most so long. Returns whether it does.
    ///
    /// # Errors
    ///
    /// Where it ends before.
    pub async fn wait_ready(&self, wait_max: Duration) -> Result<bool, ServerFault> {
        let end = Instant::now() + wait_max;
        let mut work = self.conversation.work().subscribe();
        loop {
            let ready_at = work.borrow_and_update().ready_at();
            if ready_at.is_some_and(|at| at <= Instant::now()) {
                return Ok(true);
            }
            let until = ready_at.map_or(end, |at| at.min(end));
            tokio::select! {
                fault = self.conversation.until_over() => return Err(fault),
                changed = work.changed() => if changed.is_err() {
                    return Err(ServerFault::Ended);
                },
                () = tokio::time::sleep_until(until) => if until == end && Instant::now() >= end {
                    let is_ready = ready_at.is_some_and(|at| at <= Instant::now());
                    return Ok(is_ready);
                },
            }
        }
    }

    /// Shows it a text as it is now, whatever the disk has.
    ///
    /// # Errors
    ///
    /// Where it has ended.
    pub fn show(&self, path: &Path, language: &str, text: &Arc<str>) -> Result<(), ServerFault> {
        let uri = wire::uri(path)?;
        let mut texts = self.texts();
        texts.turn += 1;
        let turn = texts.turn;
        if let Some(shown) = texts.open.get_mut(path) {
            shown.turn = turn;
            if shown.text == *text {
                return Ok(());
            }
            shown.text = Arc::clone(text);
            shown.version = shown.version.wrapping_add(1);
            let changed = json!({
                "textDocument": {"uri": uri, "version": shown.version},
                "contentChanges": [{"text": &**text}],
            });
            return self.conversation.notify("textDocument/didChange", &changed);
        }
        while texts.open.len() >= OPEN_MAX {
            let oldest = texts.open.iter().min_by_key(|(_, shown)| shown.turn);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else { break };
            texts.open.remove(&oldest);
            self.say_closed(&oldest)?;
        }
        let shown = ShownText { text: Arc::clone(text), version: 1, turn };
        texts.open.insert(path.to_owned(), shown);
        let opened = json!({"textDocument": {
            "uri": uri, "languageId": language, "version": 1, "text": &**text,
        }});
        self.conversation.notify("textDocument/didOpen", &opened)?;
        self.conversation.work().send_modify(crate::readiness::ReportedWork::open);
        Ok(())
    }

    /// Has it read a file from the disk again.
    ///
    /// # Errors
    ///
    /// Where it has ended.
    pub fn close(&self, path: &Path) -> Result<(), ServerFault> {
        match self.texts().open.remove(path) {
            Some(_) => self.say_closed(path),
            None => Ok(()),
        }
    }

    /// The files whose texts it was shown.
    pub fn shown(&self) -> Vec<PathBuf> {
        self.texts().open.keys().cloned().collect()
    }

    /// Says which files have changed on the disk.
    ///
    /// # Errors
    ///
    /// Where it has ended.
    pub fn notice(
        &self,
        created: &[PathBuf],
        changed: &[PathBuf],
        deleted: &[PathBuf],
    ) -> Result<(), ServerFault> {
        let kinds = [
            (created, DiskChange::Created),
            (changed, DiskChange::Changed),
            (deleted, DiskChange::Deleted),
        ];
        let all = kinds.into_iter().flat_map(|(paths, change)| paths.iter().zip(repeat(change)));
        for changes in all.collect::<Vec<_>>().chunks(NOTICE_FILES_MAX) {
            let named = changes.iter().map(|(path, change)| Ok((wire::uri(path)?, *change)));
            let changes = wire::disk_changes(&named.collect::<Result<Vec<_>, ServerFault>>()?);
            self.conversation.notify("workspace/didChangeWatchedFiles", &changes)?;
        }
        Ok(())
    }

    /// Asks where what stands at a position is defined. The text was shown before.
    ///
    /// # Errors
    ///
    /// What the server does wrong.
    pub async fn definitions(
        &self,
        path: &Path,
        position: Position,
    ) -> Result<Vec<ServerLocation>, ServerFault> {
        let asked = wire::at(&wire::uri(path)?, position);
        self.locations("textDocument/definition", &asked).await
    }

    /// Asks where what stands at a position is used, its declarations left out. The text was shown before.
    ///
    /// # Errors
    ///
    /// What the server does wrong.
    pub async fn references(
        &self,
        path: &Path,
        position: Position,
    ) -> Result<Vec<ServerLocation>, ServerFault> {
        let mut asked = wire::at(&wire::uri(path)?, position);
        asked["context"] = json!({"includeDeclaration": false});
        self.locations("textDocument/references", &asked).await
    }

    async fn locations(
        &self,
        method: &'static str,
        asked: &Value,
    ) -> Result<Vec<ServerLocation>, ServerFault> {
        let said = self.conversation.request(method, asked, self.response_max).await?;
        let locations = wire::locations(said.as_deref())?;
        Ok(locations.into_iter().map(|(path, span)| ServerLocation { path, span }).collect())
    }

    /// Asks it to end, in bounded time. Who keeps its process ends it in any case.
    pub async fn say_farewell(&self) {
        self.conversation.say_farewell().await;
    }

    fn say_closed(&self, path: &Path) -> Result<(), ServerFault> {
        let closed = json!({"textDocument": {"uri": wire::uri(path)?}});
        self.conversation.notify("textDocument/didClose", &closed)
    }

    fn texts(&self) -> std::sync::MutexGuard<'_, ShownTexts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
