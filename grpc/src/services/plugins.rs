//! `moss.v1.PluginService`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use moss_plugin_host::Plugin;
use moss_plugin_list::{Grant, PluginEntry, RequestedCapability, Sha256Digest};
use moss_proto::v1;
use moss_proto::v1::change_plugins_request::Change;
use moss_proto::v1::change_plugins_response::Event;
use moss_proto::v1::plugin_service_server::PluginService;
use moss_proto::v1::stream_call_tool_response::Event as WireEvent;
use serde_json::Map;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Request, Response, Status};

use super::error::{self, invalid_field};
use super::methods::methods;
use super::{deadline, from_proto, to_proto};
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_dispatch::{
    AddPlugin, Background, Call, ConfirmMode, Dispatcher as _, Events, Granting, PluginChange,
    PluginLocation, RemovePlugin, Work,
};
use moss_plugins::{PluginState, PluginStatus, compiling::Compilations};

/// Longest path, URL or name, in bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Largest grant and largest settings, in bytes.
const GRANT_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Clone)]
pub(super) struct PluginsRpc(pub(super) Arc<Daemon>);

type PluginWatchStream =
    Pin<Box<dyn Stream<Item = Result<v1::WatchPluginsResponse, Status>> + Send>>;

type ChangeStream = Pin<Box<dyn Stream<Item = Result<v1::ChangePluginsResponse, Status>> + Send>>;

methods! {
    PluginService for PluginsRpc {
        type WatchPluginsStream = PluginWatchStream;
        type ChangePluginsStream = ChangeStream;
        fn list_plugins(v1::ListPluginsRequest) -> v1::ListPluginsResponse;
        fn watch_plugins(v1::WatchPluginsRequest) -> PluginWatchStream;
        fn change_plugins(v1::ChangePluginsRequest) -> ChangeStream;
    }
}

impl PluginsRpc {
    async fn list_plugins(
        &self,
        request: Request<v1::ListPluginsRequest>,
    ) -> Result<Response<v1::ListPluginsResponse>, Status> {
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        Ok(Response::new(v1::ListPluginsResponse { plugins: all(&self.0, &workspace) }))
    }

    async fn watch_plugins(
        &self,
        request: Request<v1::WatchPluginsRequest>,
    ) -> Result<Response<PluginWatchStream>, Status> {
        let workspace = from_proto::workspace(&self.0, &request.into_inner().workspace)?;
        let daemon = Arc::clone(&self.0);
        // One message: what a slow reader has not taken is not made yet.
        let (sender, stream) = mpsc::channel(1);
        self.0.tasks.spawn(async move {
            tokio::select! {
                () = daemon.draining.cancelled() => {}
                () = sender.closed() => {}
                () = report_changes(&daemon, &workspace, &sender) => {}
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }

    async fn change_plugins(
        &self,
        request: Request<v1::ChangePluginsRequest>,
    ) -> Result<Response<ChangeStream>, Status> {
        let (metadata, extensions, request) = request.into_parts();
        let call = change_of(&self.0, request, &extensions, &metadata)?;
        let (events, received) = Events::channel(self.0.config().calls.events_max);
        let running = Arc::clone(&self.0).start(call, events).in_background();
        let (sender, stream) = mpsc::channel(1);
        self.0.tasks.spawn(forward(running, received, sender));
        Ok(Response::new(Box::pin(ReceiverStream::new(stream))))
    }
}

/// Passes progress and the result on. Ends, and so cancels the change, when the reader is gone.
async fn forward(
    mut running: Background,
    mut events: mpsc::Receiver<moss_dispatch::Event>,
    sender: mpsc::Sender<Result<v1::ChangePluginsResponse, Status>>,
) {
    let message = |event| Ok(v1::ChangePluginsResponse { event: Some(event) });
    let all = async {
        while let Some(event) = events.recv().await {
            let told = match to_proto::event(event) {
                WireEvent::Progress(progress) => message(Event::Progress(progress)),
                _ => continue,
            };
            if sender.send(told).await.is_err() {
                return;
            }
        }
        let last = match running.finish().await {
            Ok(outcome) => message(Event::Result(to_proto::outcome(outcome))),
            Err(refusal) => Err(error::call(&refusal)),
        };
        // A reader that is gone by now has no use for the result.
        let _ = sender.send(last).await;
    };
    tokio::select! {
        () = sender.closed() => {}
        () = all => {}
    }
}

/// Reports all plugins, and again whenever something else is known of one.
async fn report_changes(
    daemon: &Daemon,
    workspace: &WorkspaceState,
    sender: &mpsc::Sender<Result<v1::WatchPluginsResponse, Status>>,
) {
    let mut replaced = workspace.installed.statuses_replaced.subscribe();
    let mut compiled = daemon.setup.compilations.subscribe();
    let mut reported = None;
    loop {
        let Ok(place) = sender.reserve().await else { return };
        replaced.mark_unchanged();
        compiled.mark_unchanged();
        let plugins = all(daemon, workspace);
        if reported.as_ref() != Some(&plugins) {
            reported = Some(plugins.clone());
            place.send(Ok(v1::WatchPluginsResponse { plugins }));
        } else {
            drop(place);
        }
        let changed = tokio::select! {
            changed = replaced.changed() => changed,
            changed = compiled.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
    }
}

/// Reads a change of a list with the deadline of its request.
fn change_of(
    daemon: &Daemon,
    request: v1::ChangePluginsRequest,
    extensions: &Extensions,
    metadata: &MetadataMap,
) -> Result<Call, Status> {
    let caller = from_proto::caller(extensions)?;
    let change = match request.change {
        Some(Change::Add(add)) => PluginChange::Add(Box::new(added(add)?)),
        Some(Change::Remove(v1::RemovePlugin { list, name, forget_store })) => {
            let (list, name) = (path("list", list)?, named(name)?);
            PluginChange::Remove(RemovePlugin { list, name, forget_store })
        }
        Some(Change::Accept(v1::AcceptPlugin { list, name })) => {
            PluginChange::Accept { list: path("list", list)?, name: named(name)? }
        }
        Some(Change::Trust(v1::TrustPluginList {})) => PluginChange::Trust,
        Some(Change::Untrust(v1::UntrustPluginList {})) => PluginChange::Untrust,
        None => return Err(invalid_field("change", "missing")),
    };
    Ok(Call {
        is_attended: from_proto::is_attended(&caller, extensions),
        approved_digests: from_proto::approved_digests(&caller, &request.approved_digests)?,
        caller,
        workspace: from_proto::workspace(daemon, &request.workspace)?.name().to_owned(),
        confirm: ConfirmMode::Refuse,
        denial: None,
        dry_run: request.dry_run,
        session_id: None,
        further_workspaces: Vec::new(),
        expected_hashes: BTreeMap::new(),
        deadline: deadline::of_call(metadata.as_ref()),
        parent: from_proto::parent(metadata),
        work: Work::ChangePlugins(change),
    })
}

fn added(add: v1::AddPlugin) -> Result<AddPlugin, Status> {
    from_proto::bounded("name", &add.name, TEXT_BYTES_MAX)?;
    from_proto::bounded("grant_json", &add.grant_json, GRANT_BYTES_MAX)?;
    let sha256 = Some(add.sha256).filter(|text| !text.is_empty()).map(|text| {
        let parsed = Sha256Digest::parse(&text.to_ascii_lowercase());
        parsed.ok_or_else(|| invalid_field("sha256", "expected 64 hexadecimal digits"))
    });
    let grant = match add.grant_json.as_str() {
        _ if add.grant_requested => Granting::Requested,
        "" => Granting::Unsaid,
        text => Granting::Exactly(
            Grant::parse(text).map_err(|problem| invalid_field("grant_json", &problem))?,
        ),
    };
    for (own, name) in &add.tools {
        from_proto::bounded("tools", own, TEXT_BYTES_MAX)?;
        from_proto::bounded("tools", name, TEXT_BYTES_MAX)?;
    }
    from_proto::bounded("config_json", &add.config_json, GRANT_BYTES_MAX)?;
    let config = match add.config_json.as_str() {
        "" => Map::new(),
        text => serde_json::from_str(text)
            .map_err(|error| invalid_field("config_json", &error.to_string()))?,
    };
    let source = place("source", add.source)?;
    Ok(AddPlugin {
        list: path("list", add.list)?,
        name: Some(add.name).filter(|name| !name.is_empty()),
        source: source.ok_or_else(|| invalid_field("source", "missing"))?,
        signature: place("signature", add.signature)?,
        sha256: sha256.transpose()?,
        grant,
        config,
        replace: add.replace,
        tools: add.tools.into_iter().collect(),
        reason: String::new(),
    })
}

fn named(name: String) -> Result<String, Status> {
    from_proto::bounded("name", &name, TEXT_BYTES_MAX)?;
    if name.is_empty() { Err(invalid_field("name", "missing")) } else { Ok(name) }
}

fn place(field: &str, text: String) -> Result<Option<PluginLocation>, Status> {
    if text.contains("://") {
        from_proto::bounded(field, &text, TEXT_BYTES_MAX)?;
        return Ok(Some(PluginLocation::Url(text)));
    }
    Ok(path(field, text)?.map(PluginLocation::File))
}

fn path(field: &str, text: String) -> Result<Option<PathBuf>, Status> {
    from_proto::bounded(field, &text, TEXT_BYTES_MAX)?;
    match PathBuf::from(text) {
        path if path.as_os_str().is_empty() => Ok(None),
        path if path.is_absolute() => Ok(Some(path)),
        _ => Err(invalid_field(field, "not an absolute path")),
    }
}

fn all(daemon: &Daemon, workspace: &WorkspaceState) -> Vec<v1::Plugin> {
    let compilations = &daemon.setup.compilations;
    let statuses = workspace.installed.statuses.load();
    statuses.iter().map(|status| plugin(status, compilations)).collect()
}

fn plugin(status: &PluginStatus, compilations: &Compilations) -> v1::Plugin {
    let line = status.entry.as_ref().map_or_else(String::new, |entry| format!(":{}", entry.line));
    let mut plugin = v1::Plugin {
        name: status.name.clone(),
        listed_in: format!("{}{line}", status.listed_in),
        list: status.listed_in.clone(),
        source: status.source.clone(),
        notice: status.notice().unwrap_or_default(),
        staged_sha256: status.staged.map(|digest| digest.to_string()).unwrap_or_default(),
        ..v1::Plugin::default()
    };
    if let Some(entry) = &status.entry {
        plugin.compiling = compilations.of_listed(&entry.name).map(|now| v1::PluginCompilation {
            since: Some(to_proto::timestamp(now.since)),
            component_bytes: now.bytes as u64,
        });
        plugin.pinned_sha256 = entry.sha256.map(|digest| digest.to_string()).unwrap_or_default();
        plugin.granted = entry.grant.lines();
    }
    match &status.state {
        PluginState::Loading => plugin.set_state(v1::PluginState::Loading),
        PluginState::Failed(error) => {
            plugin.set_state(v1::PluginState::Failed);
            plugin.error.clone_from(error);
        }
        PluginState::Untrusted(what) => {
            plugin.set_state(v1::PluginState::Untrusted);
            plugin.error.clone_from(what);
        }
        PluginState::Ready(loaded) => {
            plugin.set_state(v1::PluginState::Ready);
            describe(&mut plugin, loaded, status.entry.as_ref());
        }
    }
    plugin
}

fn describe(plugin: &mut v1::Plugin, loaded: &Plugin, entry: Option<&PluginEntry>) {
    plugin.version = loaded.version().to_owned();
    plugin.sha256 = loaded.digest().to_string();
    plugin.tools = loaded.specs().iter().map(|spec| spec.name.clone()).collect();
    plugin.left_out = loaded.left_out().to_vec();
    plugin.own_tool_names =
        loaded.renamed().map(|(name, own)| (name.to_owned(), own.to_owned())).collect();
    plugin.readable_paths =
        loaded.grant().files.iter().map(|files| files.path.to_string()).collect();
    let granted = entry.map(|entry| entry.grant.clone()).unwrap_or_default();
    plugin.requests =
        loaded.requests().iter().map(|asked| requested(asked, &granted, loaded.grant())).collect();
    plugin.may = loaded.grant().lines();
    let limits = loaded.limits();
    plugin.limits = Some(v1::PluginLimits {
        timeout_ms: u64::try_from(limits.timeout.as_millis()).unwrap_or(u64::MAX),
        memory_bytes: limits.memory_bytes_max as u64,
        output_bytes: limits.output_bytes_max as u64,
    });
}

/// What a plugin asks for, and who withholds it where it is not given.
fn requested(
    asked: &RequestedCapability,
    granted: &Grant,
    effective: &Grant,
) -> v1::RequestedCapability {
    let alone = Grant::requested(std::slice::from_ref(asked));
    let allowed = effective.covers(&alone);
    let capped = alone.meet(granted).beyond(effective);
    let withheld_by = match allowed {
        true => "",
        false if capped.is_empty() => "list",
        false => "configuration",
    };
    v1::RequestedCapability {
        capability: asked.capability.to_string(),
        reason: asked.reason.clone(),
        allowed,
        withheld_by: withheld_by.to_owned(),
        capped,
    }
}
