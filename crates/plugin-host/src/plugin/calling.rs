//! Calls of a plugin's tools: a slot among those that run at once, an instance, its end.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use moss_sdk::Effect;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Plugin;
use crate::call_slots::CallSlot;
use crate::error::PluginCallError;
use crate::imports::context::{GuestEvents, GuestReporter};
use crate::imports::services::Served;
use crate::instance::RunSetup;
use crate::outcome::{self, CallUsage, OutputForm, PluginOutcome};
use crate::services::Services;
use crate::warm::WarmInstance;

/// One call of a plugin's tool.
pub struct CallRequest {
    /// The tool, by the name in its spec.
    pub tool: String,
    /// The arguments; they passed the tool's strict schema.
    pub arguments: Value,
    /// What is left of the caller's time. The plugin's own limit holds besides.
    pub timeout: Option<Duration>,
    /// Ends the guest when it is cancelled, wherever it is.
    pub cancelled: CancellationToken,
    /// Hears the guest while it runs.
    pub events: Arc<dyn GuestEvents>,
    /// What the daemon does for the guest.
    pub services: Arc<dyn Services>,
    /// Whom an instance may be kept for, where the list wants that: the workspace and the role of
    /// the caller. Nobody else gets it.
    pub whom: Option<String>,
}

// === impl Plugin ===

impl Plugin {
    /// Waits for a slot and runs a tool in an instance of its own. Dropping the future stops the
    /// guest.
    ///
    /// # Errors
    ///
    /// What the tool says, limits, cancellation, crashes and results that are none. After any of
    /// them the plugin can be called again, unless it failed so often that it is paused.
    pub async fn call(&self, mut request: CallRequest) -> Result<PluginOutcome, PluginCallError> {
        let started = Instant::now();
        let place = self.wait_for_place(request.timeout, &request.cancelled).await?;
        request.timeout = request.timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
        self.call_in(place, request).await
    }

    /// Takes a slot where one is free.
    ///
    /// # Errors
    ///
    /// Where as many calls run as may; a plugin that is paused.
    pub fn take_place(&self) -> Result<CallSlot<'_>, PluginCallError> {
        self.check_pause()?;
        self.places.take()
    }

    /// Waits for a slot as long as the caller does.
    ///
    /// # Errors
    ///
    /// Where too many wait already; a plugin that is paused; the end of the time; cancellation.
    pub async fn wait_for_place(
        &self,
        timeout: Option<Duration>,
        cancelled: &CancellationToken,
    ) -> Result<CallSlot<'_>, PluginCallError> {
        self.check_pause()?;
        tokio::select! {
            biased;
            place = self.places.wait() => place,
            () = cancelled.cancelled() => Err(PluginCallError::Cancelled),
            () = tokio::time::sleep(timeout.unwrap_or(Duration::MAX)) => Err(PluginCallError::Deadline),
        }
    }

    fn check_pause(&self) -> Result<(), PluginCallError> {
        match self.paused() {
            Some(paused) => Err(PluginCallError::Paused(paused)),
            None => Ok(()),
        }
    }

    /// Runs a tool in a slot that was taken, as [`Plugin::call`] does.
    ///
    /// # Errors
    ///
    /// As [`Plugin::call`].
    pub async fn call_in(
        &self,
        _place: CallSlot<'_>,
        request: CallRequest,
    ) -> Result<PluginOutcome, PluginCallError> {
        let ended = self.run(request).await;
        self.pause.record(&ended, Instant::now());
        ended
    }

    async fn run(&self, request: CallRequest) -> Result<PluginOutcome, PluginCallError> {
        let started = Instant::now();
        let Some(tool) = self.specs().iter().position(|spec| spec.name == request.tool) else {
            return Err(PluginCallError::UnknownTool(request.tool));
        };
        let arguments = request.arguments.to_string();
        let setup = RunSetup {
            limits: self.limits,
            timeout: request.timeout,
            cancelled: request.cancelled,
            revocation: Arc::clone(&self.revocation),
            voice: GuestReporter::new(request.events),
            settings: self.settings.clone(),
            granted: Arc::clone(&self.granted),
            served: Served::new(Arc::clone(&self.rights), request.services),
        };
        let output_bytes_max = self.limits.output_bytes_max;
        let mut kept = self.warm.take(&self.engine, request.whom.as_deref(), setup)?;
        let (WarmInstance { run, live, .. }, code) = (&mut kept, &self.code);
        let (store, watch) = run.parts();
        let own_name = &self.description.specs[tool].name;
        let guest = async {
            let live = match live {
                Some(live) => live,
                None => live.insert(code.instantiate(store).await?),
            };
            live.call(store, own_name, &arguments, output_bytes_max).await
        };
        let returned = watch.over(guest).await;
        run.store.data().finish_printing();
        let outcome = returned.and_then(|told| told.map_err(|error| outcome::read_error(&error)));
        let outcome = outcome.map_err(|error| match run.store.data().trouble() {
            Some(trouble) => error.with_trouble(&trouble),
            None => error,
        })?;
        let content = &mut run.store.data_mut().content;
        let (shown_bytes, content) = (content.size_bytes(), content.take());
        let (output, edits) =
            outcome::read(outcome, self.form(tool), shown_bytes, output_bytes_max)?;
        if self.specs()[tool].effect == Effect::Read && !edits.is_empty() {
            return Err(PluginCallError::Result(
                "a tool that declares that it only reads returned edits".to_owned(),
            ));
        }
        let usage = CallUsage {
            duration: started.elapsed(),
            peak_memory_bytes: run.store.data().limiter.memory_bytes_peak(),
        };
        self.warm.keep(&self.engine, request.whom, kept);
        Ok(PluginOutcome { output, content, edits, usage })
    }

    fn form(&self, tool: usize) -> OutputForm {
        self.description.forms[tool]
    }
}

// === impl CallRequest ===

impl fmt::Debug for CallRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRequest")
            .field("tool", &self.tool)
            .field("arguments", &self.arguments)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
