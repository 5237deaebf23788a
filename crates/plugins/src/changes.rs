//! What shows that lists, components or the configuration changed.

use tokio::sync::watch;

/// Follows changes; or nothing, where the daemon lives too short to follow any.
#[derive(Debug, Default)]
pub struct Changes(Option<(watch::Receiver<u64>, watch::Receiver<()>)>);

// === impl Changes ===

impl Changes {
    /// Follows rounds of looking at files, and configurations.
    pub fn of(rounds: watch::Receiver<u64>, configs: watch::Receiver<()>) -> Self {
        Self(Some((rounds, configs)))
    }

    /// Marks all changes so far as reported.
    pub fn are_seen(&mut self) {
        if let Some((rounds, configs)) = &mut self.0 {
            rounds.mark_unchanged();
            configs.mark_unchanged();
        }
    }

    /// Waits for the next change. Returns false where there will be none.
    pub async fn next(&mut self) -> bool {
        let Some((rounds, configs)) = &mut self.0 else { return false };
        let told = tokio::select! {
            told = rounds.changed() => told,
            told = configs.changed() => told,
        };
        told.is_ok()
    }
}
