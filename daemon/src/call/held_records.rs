//! What is held back of a call's records, until it has an effect or ends. It writes nothing by itself.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use moss_journal::AuditEvent;

/// What is noted of a call and not on record yet, in its order.
type HeldNotes = VecDeque<(Timestamp, Noted)>;

/// What is to be recorded of a call that came to nothing yet: while it runs for a moment only, and had
/// no effect, all that is written of it may be that it was counted among others that were refused or failed.
#[derive(Debug, Default)]
pub(super) struct DeferredRecords {
    held: Mutex<Option<HeldNotes>>,
    /// Held by who writes them.
    pub(super) releasing: tokio::sync::Mutex<()>,
}

/// Something that a record is made of once it is written.
#[derive(Debug, Clone)]
pub(super) enum Noted {
    /// The call came in.
    Started,
    Event(Box<AuditEvent>),
}

/// Shows that nothing is held of a call any more: it is recorded, however it ends. Who lets it do more than look at
/// files or change them hands this on.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnRecord(());

// === impl Noted ===

impl Noted {
    fn reports_effect(&self) -> bool {
        matches!(self, Self::Event(event) if event.reports_effect())
    }
}

// === impl DeferredRecords ===

impl DeferredRecords {
    /// From now on, what is noted is held.
    pub(super) fn begin(&self) {
        *self.lock() = Some(VecDeque::new());
    }

    /// Whether all records of the call are held, and none says that it had an effect.
    pub(super) fn is_without_effect(&self) -> bool {
        let held = self.lock();
        // What it begins with is written first.
        let is_whole = |held: &&HeldNotes| matches!(held.front(), Some((_, Noted::Started)));
        let has_effect = |held: &HeldNotes| held.iter().any(|(_, noted)| noted.reports_effect());
        held.as_ref().filter(is_whole).is_some_and(|held| !has_effect(held))
    }

    /// Holds what is noted; gives it back where nothing is held any more.
    pub(super) fn hold(&self, time: Timestamp, noted: Noted) -> Option<Noted> {
        match &mut *self.lock() {
            Some(held) => {
                held.push_back((time, noted));
                None
            }
            None => Some(noted),
        }
    }

    /// Drops what is held; from now on nothing is held any more.
    pub(super) fn clear(&self) {
        *self.lock() = None;
    }

    /// Returns the first of what is held, which stays held until [`DeferredRecords::drop_first`]. Where nothing is left,
    /// what is noted is held no more.
    pub(super) fn first(&self) -> Option<(Timestamp, Noted)> {
        let mut held = self.lock();
        *held = held.take().filter(|held| !held.is_empty());
        held.as_ref()?.front().cloned()
    }

    /// Drops the first of what is held: it is written.
    pub(super) fn drop_first(&self) {
        self.lock().as_mut().and_then(VecDeque::pop_front);
    }

    /// Shows that nothing is held; none while something may be.
    pub(super) fn released(&self) -> Option<OnRecord> {
        self.lock().is_none().then_some(OnRecord(()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<HeldNotes>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use moss_policy::{Action, Decision, Layer, RuleRef, Verdict};

    use super::*;

    #[test]
    fn a_call_that_was_allowed_an_effect_may_have_had_it() {
        let decision = |action, verdict| {
            let layer = Layer::User;
            let (file, line, name, reason, answer) = (None, None, None, None, None);
            let rule = RuleRef { layer, file, line, name, reason, for_person: false, answer };
            let rule = Arc::new(rule);
            AuditEvent::Decision {
                action,
                path: None,
                host: None,
                match_level: None,
                drift_lines: None,
                command: None,
                decision: Decision { verdict, protected: false, for_person: false, rule },
            }
        };
        for (event, expected) in [
            (decision(Action::Read, Verdict::Deny), true),
            (decision(Action::Read, Verdict::Allow), true),
            (decision(Action::Create, Verdict::Ask), true),
            (decision(Action::Modify, Verdict::Allow), false),
            (decision(Action::Exec, Verdict::Ask), true),
            (decision(Action::Exec, Verdict::Allow), false),
            (decision(Action::Network, Verdict::Allow), false),
            (AuditEvent::JobStarted { job: "1".to_owned() }, false),
        ] {
            let held = DeferredRecords::default();
            assert!(!held.is_without_effect(), "nothing is held");
            held.begin();
            assert!(held.hold(Timestamp::now(), Noted::Started).is_none());
            assert!(held.is_without_effect() && held.released().is_none());
            let shown = format!("{event:?}");
            assert!(held.hold(Timestamp::now(), Noted::Event(Box::new(event))).is_none());
            assert_eq!(held.is_without_effect(), expected, "{shown}");
            for _ in 0..2 {
                assert!(held.first().is_some() && held.first().is_some(), "it stays held");
                held.drop_first();
                assert!(held.released().is_none() && !held.is_without_effect());
            }
            assert!(held.first().is_none() && held.released().is_some());
        }
    }
}
