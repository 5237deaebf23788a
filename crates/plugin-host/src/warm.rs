//! Instances that are kept between calls, for guests that take long to start. Only those whose last
//! call went well and that hold nothing of it are kept; one is used again only for the same plugin
//! version, and for whom it was used before.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::task::AbortOnDropHandle;

use crate::engine::Engine;
use crate::error::PluginCallError;
use crate::face::LiveInstance;
use crate::instance::{Run, RunSetup};
use moss_plugin_list::WarmLimits;

/// What waits for calls of one version of a plugin.
pub(crate) struct Warm {
    limits: Option<WarmLimits>,
    waiting: Arc<Mutex<IdleInstances>>,
}

#[derive(Default)]
struct IdleInstances {
    /// Who waits longest stands first.
    instances: Vec<Idle>,
    /// Ends the instances that nobody calls, while there are any.
    sweeper: Option<AbortOnDropHandle<()>>,
}

/// A run whose instance may serve another call.
pub(crate) struct WarmInstance {
    pub(crate) run: Run,
    /// None before the first call.
    pub(crate) live: Option<LiveInstance>,
    calls: usize,
}

struct Idle {
    kept: WarmInstance,
    /// Who is served by it next: nobody else may be.
    whom: String,
    since: Instant,
    _place: OwnedSemaphorePermit,
}

// === impl Warm ===

impl Warm {
    pub(crate) fn new(limits: Option<WarmLimits>) -> Self {
        Self { limits, waiting: Arc::default() }
    }

    /// Takes an instance that served the same before, or makes room for a new one.
    pub(crate) fn take(
        &self,
        engine: &Engine,
        whom: Option<&str>,
        setup: RunSetup,
    ) -> Result<WarmInstance, PluginCallError> {
        match whom.and_then(|whom| self.waiting_for(whom)) {
            Some(mut kept) => {
                kept.run.renew(engine, setup);
                Ok(kept)
            }
            None => Ok(WarmInstance { run: Run::new(engine, setup)?, live: None, calls: 0 }),
        }
    }

    fn waiting_for(&self, whom: &str) -> Option<WarmInstance> {
        let limits = self.limits?;
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.end_idle(limits);
        let index = waiting.instances.iter().rposition(|idle| idle.whom == whom)?;
        Some(waiting.instances.remove(index).kept)
    }

    /// Keeps an instance whose call went well, if it may be used again.
    pub(crate) fn keep(&self, engine: &Engine, whom: Option<String>, mut kept: WarmInstance) {
        let (Some(limits), Some(whom)) = (self.limits, whom) else { return };
        kept.calls += 1;
        if kept.calls >= limits.calls_max || !kept.run.holds_nothing() {
            return;
        }
        kept.run.release(engine);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.end_idle(limits);
        if waiting.instances.len() >= limits.instances_max {
            waiting.instances.remove(0);
        }
        let Some(place) = engine.keep_warm() else { return };
        waiting.instances.push(Idle { kept, whom, since: Instant::now(), _place: place });
        if waiting.sweeper.is_none() {
            let sweep = sweep(Arc::downgrade(&self.waiting), limits);
            waiting.sweeper = Some(AbortOnDropHandle::new(tokio::spawn(sweep)));
        }
    }
}

/// Ends instances when their time is over, until none waits.
async fn sweep(waiting: Weak<Mutex<IdleInstances>>, limits: WarmLimits) {
    loop {
        let next = {
            let Some(waiting) = waiting.upgrade() else { return };
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.end_idle(limits);
            let Some(oldest) = waiting.instances.first() else {
                // Whoever keeps the next one starts another.
                waiting.sweeper = None;
                return;
            };
            oldest.since + limits.idle
        };
        tokio::time::sleep_until(next.into()).await;
    }
}

// === impl IdleInstances ===

impl IdleInstances {
    fn end_idle(&mut self, limits: WarmLimits) {
        self.instances.retain(|idle| idle.since.elapsed() < limits.idle);
    }
}
