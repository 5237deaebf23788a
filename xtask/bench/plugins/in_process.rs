//! Calls in this process, in turns: the plugin host, and the bare engine that instantiates the same
//! component and calls it. No files, no gRPC: what is left is what the host adds. The component refuses its arguments
//! before it looks for files, since it is shown a directory by the host and none by the bare engine.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use moss_plugin_host::services::NoServices;
use moss_plugin_host::{
    CallRequest, Engine, EngineOptions, GuestEvents, LogLevel, Plugin, PluginCallError,
};
use moss_plugin_list::PluginList;
use moss_sdk::context::Progress;
use moss_xtask::rows::{Row, Spread};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::bare::plugin::{self, BareComponent};
use crate::testbed::Testbed;

const WARM_UP: usize = 500;
const CALLS: usize = 5000;
const TARGET: &str = "ratio ≤ 1.3";

/// A tool that is called on either side.
struct CalledTool {
    name: &'static str,
    plugin: &'static str,
    tool: &'static str,
    arguments: Json,
}

struct DiscardEvents;

pub(super) async fn measure(place: &Testbed) -> Result<Vec<Row>> {
    let subject = CalledTool {
        name: "in process, component in Rust",
        plugin: "word-count",
        tool: "word_count",
        arguments: json!({ "path": 7 }),
    };
    let row = compared(&place.component, &subject).await.context(subject.name)?;
    Ok(vec![row])
}

async fn compared(file: &Path, subject: &CalledTool) -> Result<Row> {
    let list = json!({ "version": 1, "plugins": [{ "name": subject.plugin, "source": "here" }] });
    let list = PluginList::parse("list", &list.to_string()).map_err(anyhow::Error::msg)?;
    let engine = Engine::new(EngineOptions::default())?;
    let moss = Plugin::load(&engine, &list.plugins[0], fs::read(file)?).await?;
    let bare = BareComponent::load(file, None).map_err(plugin::error)?;
    let (mut with, mut without) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for number in 0..WARM_UP + CALLS {
        // Who is first changes: what the one leaves in the caches of the processor meets both.
        let (one, other) = if number % 2 == 0 {
            let one = timed(async || with_moss(&moss, subject).await).await?;
            (one, timed(async || without_moss(&bare, subject).await).await?)
        } else {
            let other = timed(async || without_moss(&bare, subject).await).await?;
            (timed(async || with_moss(&moss, subject).await).await?, other)
        };
        if number >= WARM_UP {
            with.push(one);
            without.push(other);
        }
    }
    Ok(Row::timed(subject.name, with).against(Spread::of(without)).wanted(TARGET))
}

async fn timed(call: impl AsyncFnOnce() -> Result<()>) -> Result<Duration> {
    let started = Instant::now();
    call().await?;
    Ok(started.elapsed())
}

async fn with_moss(plugin: &Plugin, subject: &CalledTool) -> Result<()> {
    let request = CallRequest {
        tool: subject.tool.to_owned(),
        arguments: subject.arguments.clone(),
        timeout: None,
        cancelled: CancellationToken::new(),
        events: Arc::new(DiscardEvents),
        services: Arc::new(NoServices),
        whom: None,
    };
    match plugin.call(request).await {
        // For its arguments.
        Err(PluginCallError::Failed(_)) => Ok(()),
        ended => bail!("the plugin host ended otherwise: {ended:?}"),
    }
}

async fn without_moss(component: &BareComponent, subject: &CalledTool) -> Result<()> {
    let arguments = subject.arguments.to_string();
    let returned = component.call(subject.tool, &arguments).await.map_err(plugin::error)?;
    if returned.is_ok() {
        bail!("the bare engine ended otherwise: {returned:?}");
    }
    Ok(())
}

// === impl DiscardEvents ===

impl GuestEvents for DiscardEvents {
    fn log(&self, _: LogLevel, _: &str) {}

    fn progress(&self, _: Progress) {}
}
