//! What a call does for a guest behind its capabilities. Whether a capability was granted is known
//! by then; here each use is held to the policy of the call, and nobody is asked.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use moss_plugin_host::{
    Plugin,
    services::{GuestFiles, GuestStore, HttpBody, HttpError, HttpOptions, Services},
};
use moss_plugin_list::grants::OWN_VARIABLES;
use moss_sdk::code_search::CodeHit;
use moss_sdk::command::{GrantedCommand, GrantedCommandReport};
use moss_sdk::context::{BoxFuture, Editors as _, Files as _};
use moss_sdk::editor::{DefinitionKind, Definitions, Position, Symbol};
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::files::CallFiles;
use super::search;
use super::store::CallStore;
use super::symbols;
use crate::call::behalf::{Behalf, CallCount};
use crate::call::effect::{Effects, FileNames};
use crate::call::host::CallHost;
use crate::call::nested;
use crate::call::{CallScope, record};
use moss_policy::Verdict;

/// What one call does for the guest that it runs.
pub(super) struct CallServices {
    host: CallHost,
    plugin: String,
    files: CallFiles,
    store: CallStore,
    made: CallCount,
    /// The hosts about which was decided, and how.
    asked_hosts: Mutex<HashSet<(String, Verdict)>>,
}

// === impl CallServices ===

impl CallServices {
    pub(super) fn new(scope: &Arc<CallScope>, effects: &Arc<Effects>, plugin: &Plugin) -> Self {
        Self {
            host: CallHost::new(Arc::clone(scope), Arc::clone(effects)),
            plugin: plugin.name().to_owned(),
            files: CallFiles::new(Arc::clone(scope), Arc::clone(effects), plugin.grant()),
            store: CallStore::new(Arc::clone(scope), plugin),
            made: scope.behalf.as_ref().map(Behalf::made).unwrap_or_default(),
            asked_hosts: Mutex::default(),
        }
    }

    /// Whether a defect of moss kept the guest from a file.
    pub(super) fn has_broken(&self) -> bool {
        self.files.has_broken()
    }

    /// Holds a request to the policy of this moment. What is decided about a host is recorded once.
    async fn permit(&self, method: http::Method, host: String) -> Result<(), HttpError> {
        let decision = self.host.effects.decide_request();
        let is_new = {
            let mut asked = self.asked_hosts.lock().unwrap_or_else(PoisonError::into_inner);
            asked.insert((host.clone(), decision.verdict))
        };
        if is_new {
            let recorded = record::requested(&self.host.scope, &host, &decision).await;
            recorded.map_err(|error| HttpError::Failed(error.to_string()))?;
        }
        self.host.effects.permit_request(&method, &decision)
    }

    /// Reads a path as callers write it, of a file that may be read without asking: what editors
    /// know of a file quotes it.
    async fn readable(&self, path: &str) -> Result<RelPath, ToolError> {
        let path = self.host.path(path)?;
        let (workspace, asked) = (Arc::clone(&self.host.scope.workspace), path.clone());
        let resolve = move || workspace.files.resolve(&asked);
        let real = self.host.scope.blocking(resolve).await??.path;
        let names = FileNames { real: &real, asked: &path };
        let decision = self.host.effects.decide_read(&self.host.reader().policy, names);
        match decision.verdict {
            Verdict::Allow => Ok(path),
            Verdict::Ask | Verdict::Deny => {
                let message = format!("reading {path} is {decision}");
                Err(ToolError::new(ErrorCode::Denied, message)
                    .hint("nobody is asked on behalf of a plugin"))
            }
        }
    }
}

impl Services for CallServices {
    fn files(&self) -> &dyn GuestFiles {
        &self.files
    }

    fn store(&self) -> &dyn GuestStore {
        &self.store
    }

    fn variables(&self, is_granted: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
        let all = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        all.filter(|(name, _)| !name.starts_with(OWN_VARIABLES) && is_granted(name)).collect()
    }

    fn send(
        &self,
        request: http::Request<HttpBody>,
        options: HttpOptions,
    ) -> BoxFuture<'_, Result<http::Response<HttpBody>, HttpError>> {
        let daemon = &self.host.scope.daemon;
        let bounds = daemon.config().network.bounds().within(&options);
        let method = request.method().clone();
        let host = request.uri().host().unwrap_or_default().to_owned();
        Box::pin(async move {
            self.permit(method, host).await?;
            daemon.plugins.network.send(request, options.may_be_private, bounds).await
        })
    }

    fn call_tool<'a>(
        &'a self,
        name: &'a str,
        arguments: String,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(nested::call(&self.host.scope, &self.plugin, &self.made, name, arguments))
    }

    fn check_tool(&self, name: &str) -> Result<(), ToolError> {
        nested::check_reads(&self.host.scope, name)
    }

    fn symbols<'a>(
        &'a self,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<Symbol>>, ToolError>> {
        Box::pin(async move {
            let path = self.readable(path).await?;
            Ok(self.host.symbols(&path).await)
        })
    }

    fn definitions<'a>(
        &'a self,
        path: &'a str,
        position: Position,
        kind: DefinitionKind,
    ) -> BoxFuture<'a, Result<Option<Definitions>, ToolError>> {
        Box::pin(async move {
            let path = self.readable(path).await?;
            Ok(self.host.definitions(&path, position, kind).await)
        })
    }

    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<TextQueryResult, ToolError>> {
        let CallHost { scope, effects, .. } = &self.host;
        Box::pin(async move { search::search((scope, effects), &self.made, &query).await })
    }

    fn declarations(&self, names: Vec<String>) -> BoxFuture<'_, Result<Vec<CodeHit>, ToolError>> {
        let CallHost { scope, effects, .. } = &self.host;
        Box::pin(symbols::symbols((scope, effects), &self.made, names))
    }

    fn run_command(
        &self,
        command: GrantedCommand,
    ) -> BoxFuture<'_, Result<GrantedCommandReport, ToolError>> {
        Box::pin(self.host.effects.run_granted(command))
    }
}
