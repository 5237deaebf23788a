//! The thread on which bytes of the network are read and written: a server that sends more than it
//! should keeps this one busy, and not those of calls.

use std::sync::{Mutex, PoisonError};

use moss_plugin_host::services::HttpError;
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

/// A runtime of one thread, which is there when it is needed first.
#[derive(Debug, Default)]
pub(super) struct Traffic(Mutex<Option<Runtime>>);

// === impl Traffic ===

impl Traffic {
    /// Runs something on the thread; connections that it opens stay there.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<AbortOnDropHandle<T>, HttpError> {
        let mut runtime = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if runtime.is_none() {
            let made = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("moss-network")
                .enable_all()
                .build();
            *runtime = Some(made.map_err(|error| HttpError::Failed(error.to_string()))?);
        }
        let task = runtime.as_ref().map(|runtime| runtime.spawn(work));
        Ok(AbortOnDropHandle::new(task.expect("it was made above")))
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        let runtime = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runtime) = runtime {
            // Nothing waits for what nobody waits for any more.
            runtime.shutdown_background();
        }
    }
}
