//! Who carries calls out.

use std::sync::Arc;

use crate::call::Call;
use crate::event::Events;
use crate::running::RunningCall;

/// Carries calls out: all that a front needs of the daemon to use tools.
pub trait Dispatcher: Send + Sync {
    /// Makes a call that continues when it is polled and is cancelled when it is dropped. What
    /// happens meanwhile goes to `events`. Belongs into a runtime.
    fn start(self: Arc<Self>, call: Call, events: Events) -> RunningCall;
}
