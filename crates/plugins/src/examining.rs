//! The files that are being looked at, each in a task of its own: what comes of them is reported as
//! it comes. Dropping this ends what still runs.

use std::collections::HashMap;

use tokio::task::{Id, JoinError, JoinSet};

use crate::slot::Examined;

/// The examinations that are under way, by the index of their slot.
#[derive(Debug, Default)]
pub(super) struct Examining {
    tasks: JoinSet<Examined>,
    slots: HashMap<Id, usize>,
}

// === impl Examining ===

impl Examining {
    pub(super) fn start(
        &mut self,
        slot: usize,
        examination: impl Future<Output = Examined> + Send + 'static,
    ) {
        let id = self.tasks.spawn(examination).id();
        self.slots.insert(id, slot);
    }

    /// Waits for the next that is done; none where there is no more.
    pub(super) async fn next(&mut self) -> Option<(usize, Examined)> {
        let joined = self.tasks.join_next_with_id().await?;
        Some(self.of_slot(joined))
    }

    /// Returns one more that is done already.
    pub(super) fn next_if_ready(&mut self) -> Option<(usize, Examined)> {
        let joined = self.tasks.try_join_next_with_id()?;
        Some(self.of_slot(joined))
    }

    fn of_slot(&self, joined: Result<(Id, Examined), JoinError>) -> (usize, Examined) {
        let (id, examined) = joined.unwrap_or_else(|error| {
            (error.id(), Examined::nothing_known(format!("loading panicked: {error}")))
        });
        (self.slots[&id], examined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_done_first_comes_first_and_a_defect_is_a_result() {
        let mut examining = Examining::default();
        let (allow, allowed) = tokio::sync::oneshot::channel::<()>();
        examining.start(0, async move {
            allowed.await.unwrap();
            Examined::nothing_known("late".to_owned())
        });
        let defect = || -> Examined { panic!("a defect, on purpose") };
        examining.start(1, async move { defect() });
        assert_eq!(examining.next().await.unwrap().0, 1);
        assert!(examining.next_if_ready().is_none());
        allow.send(()).unwrap();
        assert_eq!(examining.next().await.unwrap().0, 0);
        assert!(examining.next().await.is_none());
    }
}
