//! Names become addresses on threads that wait for the system, which nothing ends before its time.
//! There are few of them, apart from all other work: a server of names that does not respond holds up
//! requests, and nothing else.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Most lookups at once, those included that nobody waits for any more.
const LOOKUPS_MAX: usize = 32;

/// The slots for lookups.
#[derive(Debug)]
pub(super) struct Lookups(Arc<Semaphore>);

// === impl Lookups ===

impl Default for Lookups {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS_MAX)))
    }
}

impl Lookups {
    /// Returns the addresses of a host.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(super) async fn find(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
        let place = Arc::clone(&self.0).acquire_owned().await.expect("nobody closes it");
        let host = host.to_owned();
        let found = spawn_blocking(move || {
            let found = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
            drop(place);
            found
        });
        let found = found.await.map_err(|error| error.to_string())?;
        found.map_err(|error: std::io::Error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_lookup_waits_for_its_slot() {
        let lookups = Lookups::default();
        let all = Arc::clone(&lookups.0).acquire_many_owned(LOOKUPS_MAX as u32).await.unwrap();
        let mut waiting = Box::pin(lookups.find("localhost", 80));
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx)));
        assert!(polled.await.is_pending());
        drop(all);
        assert!(waiting.await.unwrap().iter().all(|address| address.ip().is_loopback()));
        assert!(lookups.find("nobody.invalid", 80).await.is_err());
    }
}
