//! How many questions may wait, and how much memory what they are about may take: over all, for one
//! caller, for one session. Whoever fills the share of one locks out nobody else.

use moss_dispatch::{TooManyConfirmations, confirmation::Question};

/// Bounds on questions that wait. Those of calls whose caller decides them, with the approver's
/// credential, do not count: a person is never locked out by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfirmationLimits {
    /// Most questions of all callers.
    pub pending_max: usize,
    /// Most questions of one caller.
    pub caller_pending_max: usize,
    /// Most questions of one session of a caller.
    pub session_pending_max: usize,
    /// Most bytes that the questions of all callers hold.
    pub bytes_max: usize,
    /// Most bytes that the questions of one caller hold.
    pub caller_bytes_max: usize,
}

/// What waits already, of one share.
#[derive(Debug)]
struct PendingShare {
    pending: usize,
    bytes: usize,
}

// === impl ConfirmationLimits ===

impl ConfirmationLimits {
    /// Refuses a question for which there is no room beside those that wait.
    ///
    /// # Errors
    ///
    /// The limit that is reached.
    pub(super) fn admit<'a>(
        &self,
        question: &Question,
        waiting: impl Iterator<Item = &'a Question>,
    ) -> Result<(), TooManyConfirmations> {
        if question.is_attended {
            return Ok(());
        }
        let [mut all, mut of_caller, mut of_session] = [const { PendingShare::new() }; 3];
        for other in waiting.filter(|other| !other.is_attended) {
            all.add(other);
            if other.caller == question.caller {
                of_caller.add(other);
                if question.session.is_some() && other.session == question.session {
                    of_session.add(other);
                }
            }
        }
        let counts = [
            (
                &of_session,
                self.session_pending_max,
                "of this session",
                "confirmations.session_pending_max",
            ),
            (
                &of_caller,
                self.caller_pending_max,
                "of this caller",
                "confirmations.caller_pending_max",
            ),
            (&all, self.pending_max, "of all callers", "confirmations.pending_max"),
        ];
        if let Some((_, max, whose, limit)) =
            counts.into_iter().find(|(share, max, ..)| share.pending >= *max)
        {
            return Err(TooManyConfirmations::Pending { max, whose, limit });
        }
        let bytes = question.held_bytes;
        let sizes = [
            (&of_caller, self.caller_bytes_max, "of this caller", "confirmations.caller_bytes_max"),
            (&all, self.bytes_max, "of all callers", "confirmations.bytes_max"),
        ];
        match sizes.into_iter().find(|(share, max, ..)| share.bytes.saturating_add(bytes) > *max) {
            Some((_, max, whose, limit)) => {
                Err(TooManyConfirmations::Bytes { bytes, max, whose, limit })
            }
            None => Ok(()),
        }
    }
}

// === impl PendingShare ===

impl PendingShare {
    const fn new() -> Self {
        Self { pending: 0, bytes: 0 }
    }

    fn add(&mut self, question: &Question) {
        self.pending += 1;
        self.bytes = self.bytes.saturating_add(question.held_bytes);
    }
}
