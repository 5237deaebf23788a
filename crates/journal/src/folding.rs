//! Calls without an effect that repeat, refused ones and failed ones: what a caller may leave in the journal of them
//! in full, and what stands for the rest. That they came is counted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::record::{AuditEvent, Record};
use super::redact::RedactedText;

/// Callers of whom something is known at once: more than there are credentials. Others share what one caller has.
const CALLERS_MAX: usize = 320;
/// Tools of one caller that are distinguished; calls of others are counted together.
const TOOLS_MAX: usize = 32;
/// What stands for the other tools, and for the other callers.
const OTHERS: &str = "(others)";

/// How much of calls without an effect is recorded one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldingBounds {
    /// Such calls of a caller that are recorded in full after a rest.
    pub burst: u32,
    /// How many more each second.
    pub per_second: u32,
    /// How long others are counted before the count is recorded.
    pub folded_for: Duration,
}

/// What is known of the calls without an effect of each caller.
#[derive(Debug)]
pub struct RefusalFolding {
    bounds: FoldingBounds,
    callers: Mutex<HashMap<String, CallerRefusals>>,
}

#[derive(Debug)]
struct CallerRefusals {
    left: f64,
    counted_at: Instant,
    /// In the order in which they came: so few are found sooner by looking at each than by a hash.
    folded: Vec<Folded>,
    folded_since: Option<Instant>,
}

/// Calls that are not recorded one by one.
#[derive(Debug)]
struct Folded {
    tool: String,
    outcome: &'static str,
    calls: u64,
    first: Timestamp,
    last: Timestamp,
    call_id: String,
}

/// A call that was refused or failed, without an effect.
#[derive(Debug, Clone, Copy)]
pub struct RefusedCall<'a> {
    /// Name of the credential that called.
    pub caller: &'a str,
    /// The tool, as it was named.
    pub tool: &'a str,
    /// How the call ended, for example `denied`.
    pub outcome: &'static str,
    /// Id of the call, as in the journal.
    pub call_id: &'a str,
}

// === impl RefusalFolding ===

impl RefusalFolding {
    /// Creates an empty counter.
    pub fn new(bounds: FoldingBounds) -> Self {
        Self { bounds, callers: Mutex::default() }
    }

    /// Whether a call is counted and not recorded. Adds the records that are due to `due`.
    pub fn fold(&self, refused: RefusedCall<'_>, now: Instant, due: &mut Vec<Record>) -> bool {
        let bounds = self.bounds;
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = callers.contains_key(refused.caller);
        if !is_known && callers.len() >= CALLERS_MAX {
            callers.retain(|_, known| !known.has_rested(bounds, now));
        }
        let has_own = is_known || callers.len() < CALLERS_MAX;
        let name = if has_own { refused.caller } else { OTHERS };
        let caller = match callers.get_mut(name) {
            Some(known) => known,
            None => {
                callers.entry(name.to_owned()).or_insert_with(|| CallerRefusals::new(bounds, now))
            }
        };
        caller.refill(bounds, now);
        caller.take_due(name, bounds, now, due);
        if caller.left >= 1.0 {
            caller.left -= 1.0;
            return false;
        }
        caller.count(refused, now);
        true
    }

    /// Takes the records of what was counted long enough; all where the journal is closed.
    pub fn take_due(&self, now: Instant, is_closing: bool) -> Vec<Record> {
        let mut due = Vec::new();
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let folded_for = if is_closing { Duration::ZERO } else { self.bounds.folded_for };
        let bounds = FoldingBounds { folded_for, ..self.bounds };
        for (name, caller) in callers.iter_mut() {
            caller.take_due(name, bounds, now, &mut due);
        }
        due
    }
}

// === impl CallerRefusals ===

impl CallerRefusals {
    fn new(bounds: FoldingBounds, now: Instant) -> Self {
        let left = f64::from(bounds.burst);
        Self { left, counted_at: now, folded: Vec::new(), folded_since: None }
    }

    fn refill(&mut self, bounds: FoldingBounds, now: Instant) {
        let more = now.saturating_duration_since(self.counted_at).as_secs_f64();
        self.left += more * f64::from(bounds.per_second);
        self.left = self.left.min(f64::from(bounds.burst));
        self.counted_at = now;
    }

    /// Whether there is nothing to be remembered: it is as one that was never seen.
    fn has_rested(&mut self, bounds: FoldingBounds, now: Instant) -> bool {
        self.refill(bounds, now);
        self.folded.is_empty() && self.left >= f64::from(bounds.burst)
    }

    fn count(&mut self, refused: RefusedCall<'_>, now: Instant) {
        let at = Timestamp::now();
        let RefusedCall { tool, outcome, call_id, .. } = refused;
        let own = self.position(tool, outcome);
        let tool = if own.is_some() || self.folded.len() < TOOLS_MAX { tool } else { OTHERS };
        let known = own.or_else(|| self.position(tool, outcome));
        let position = known.unwrap_or(self.folded.len());
        if known.is_none() {
            let (tool, call_id) = (tool.to_owned(), String::new());
            self.folded.push(Folded { tool, outcome, calls: 0, first: at, last: at, call_id });
        }
        let folded = &mut self.folded[position];
        folded.calls += 1;
        folded.last = at;
        call_id.clone_into(&mut folded.call_id);
        self.folded_since.get_or_insert(now);
    }

    /// Where the calls of a tool that ended so are counted.
    fn position(&self, tool: &str, outcome: &str) -> Option<usize> {
        self.folded.iter().position(|folded| folded.tool == tool && folded.outcome == outcome)
    }

    fn take_due(&mut self, name: &str, bounds: FoldingBounds, now: Instant, due: &mut Vec<Record>) {
        let is_due = |since| now.saturating_duration_since(since) >= bounds.folded_for;
        if !self.folded_since.is_some_and(is_due) {
            return;
        }
        self.folded_since = None;
        due.extend(self.folded.drain(..).map(|folded| Record {
            call_id: folded.call_id,
            tool: RedactedText::new(&folded.tool),
            event: AuditEvent::CallsRefused {
                caller: RedactedText::new(name),
                outcome: folded.outcome,
                calls: folded.calls,
                first_at: folded.first.to_string(),
                last_at: folded.last.to_string(),
            },
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: FoldingBounds =
        FoldingBounds { burst: 3, per_second: 2, folded_for: Duration::from_secs(10) };

    fn refused<'a>(caller: &'a str, tool: &'a str) -> RefusedCall<'a> {
        RefusedCall { caller, tool, outcome: "denied", call_id: "1" }
    }

    #[test]
    fn beyond_its_share_refused_calls_are_counted_and_the_count_is_recorded() {
        let folding = RefusalFolding::new(BOUNDS);
        let (start, mut due) = (Instant::now(), Vec::new());
        let mut fold = |caller, tool, after: u64| {
            let now = start + Duration::from_millis(after);
            folding.fold(refused(caller, tool), now, &mut due)
        };
        let first: Vec<_> = (0..5).map(|_| fold("a", "t", 0)).collect();
        assert_eq!(first, [false, false, false, true, true]);
        assert!(!fold("b", "t", 0), "another caller has its own share");
        assert_eq!([fold("a", "t", 500), fold("a", "t", 501)], [false, true]);
        assert!(!fold("a", "t", 60_000));
        let [Record { event: AuditEvent::CallsRefused { calls, .. }, .. }] = &due[..] else {
            panic!("{due:?}")
        };
        assert_eq!(*calls, 3);
        assert!(folding.take_due(start + Duration::from_secs(600), true).is_empty());
    }

    #[test]
    fn each_tool_and_each_end_has_its_count_in_the_order_in_which_they_came() {
        let folding = RefusalFolding::new(FoldingBounds { burst: 0, ..BOUNDS });
        let (now, mut due) = (Instant::now(), Vec::new());
        let calls = [("b", "denied"), ("a", "denied"), ("b", "failed"), ("b", "denied")];
        for (tool, outcome) in calls {
            assert!(folding.fold(RefusedCall { outcome, ..refused("c", tool) }, now, &mut due));
        }
        let counts = folding.take_due(now, true).into_iter().map(|record| match record.event {
            AuditEvent::CallsRefused { outcome, calls, .. } => (record.tool, outcome, calls),
            other => panic!("{other:?}"),
        });
        let count = |tool, outcome, calls| (RedactedText::new(tool), outcome, calls);
        let expected = [count("b", "denied", 2), count("a", "denied", 1), count("b", "failed", 1)];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_is_counted_is_bounded_and_complete_at_the_end() {
        let folding = RefusalFolding::new(FoldingBounds { burst: 1, per_second: 1, ..BOUNDS });
        let (now, mut due) = (Instant::now(), Vec::new());
        for number in 0..1000 {
            folding.fold(refused("a", &format!("t{number}")), now, &mut due);
            folding.fold(refused(&format!("c{number}"), "t"), now, &mut due);
        }
        assert!(folding.take_due(now, false).is_empty() && due.is_empty());
        let records = folding.take_due(now, true);
        assert_eq!(records.len(), TOOLS_MAX + 2);
        let calls = records.iter().map(|record| match &record.event {
            AuditEvent::CallsRefused { calls, .. } => *calls,
            other => panic!("{other:?}"),
        });
        assert_eq!(calls.sum::<u64>(), 999 + 1000 - CALLERS_MAX as u64);
    }

    #[test]
    fn who_has_used_up_its_share_is_not_forgotten_for_others() {
        let folding = RefusalFolding::new(FoldingBounds { burst: 1, per_second: 1, ..BOUNDS });
        let (start, mut due) = (Instant::now(), Vec::new());
        let mut fold = |caller: &str, after| {
            folding.fold(refused(caller, "t"), start + Duration::from_secs(after), &mut due)
        };
        for number in 0..CALLERS_MAX {
            assert!(!fold(&format!("c{number}"), 0));
        }
        assert!(!fold("late", 0), "there is a share for all others");
        assert!(fold("later", 0) && fold("late", 0), "but one");
        assert!(fold("c0", 0));
        assert!(!fold("later", 60) && fold("later", 60), "those that have rested make room");
    }
}
