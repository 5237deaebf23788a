//! When a server knows the project well enough to be asked: each has its own way of saying so.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

/// Most kinds of work that a server may report at once; what is beyond is not followed.
const WORK_MAX: usize = 256;
/// Longest name of a kind of work, in bytes; what has a longer one is not followed.
const TOKEN_BYTES_MAX: usize = 1 << 10;
/// From then on a server that gives no sign is asked all the same.
const PATIENCE: Duration = Duration::from_secs(60);

/// The sign by which a server says that it has loaded the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadySign {
    /// `experimental/serverStatus` says that it is quiescent: what `rust-analyzer` does.
    Quiescent,
    /// A message of its log has this in it.
    Logged(&'static str),
    /// It reports no work any more; where it never did, so long after the first text was opened.
    WorkDone(Duration),
}

/// What a server has said about its work so far.
#[derive(Debug, Clone)]
pub(crate) struct ReportedWork {
    sign: ReadySign,
    since: Instant,
    /// When the first text was opened.
    opened: Option<Instant>,
    is_quiescent: bool,
    is_logged: bool,
    has_worked: bool,
    work: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
struct ServerStatus {
    #[serde(default)]
    quiescent: bool,
}

#[derive(Default, Deserialize)]
struct LoggedMessage<'m> {
    #[serde(borrow)]
    message: Option<Cow<'m, str>>,
}

#[derive(Default, Deserialize)]
struct WorkProgress<'m> {
    #[serde(borrow)]
    token: Option<&'m RawValue>,
    #[serde(borrow, default)]
    value: WorkStep<'m>,
}

#[derive(Default, Deserialize)]
struct WorkStep<'m> {
    #[serde(borrow)]
    kind: Option<Cow<'m, str>>,
}

/// Whether a notification is a message of the log that has a text in it.
pub(crate) fn logs(method: &str, parameters: Option<&RawValue>, sign: &str) -> bool {
    let message = || read::<LoggedMessage<'_>>(parameters).message;
    method == "window/logMessage" && message().is_some_and(|text| text.contains(sign))
}

/// Reads what a notification says; what is not understood is ignored.
fn read<'m, T: Deserialize<'m> + Default>(parameters: Option<&'m RawValue>) -> T {
    parameters.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
}

// === impl ReportedWork ===

impl ReportedWork {
    pub(crate) fn new(sign: ReadySign) -> Self {
        Self {
            sign,
            since: Instant::now(),
            opened: None,
            is_quiescent: false,
            is_logged: false,
            has_worked: false,
            work: BTreeSet::new(),
        }
    }

    /// Notes that a text was opened.
    pub(crate) fn open(&mut self) {
        self.opened.get_or_insert_with(Instant::now);
    }

    /// Takes a notification; says whether it was about work.
    pub(crate) fn take(&mut self, method: &str, parameters: Option<&RawValue>) -> bool {
        match method {
            "experimental/serverStatus" => {
                self.is_quiescent = read::<ServerStatus>(parameters).quiescent;
            }
            "window/logMessage" => {
                if let ReadySign::Logged(sign) = self.sign {
                    self.is_logged |= logs(method, parameters, sign);
                }
            }
            "$/progress" => self.progress(&read(parameters)),
            _ => return false,
        }
        true
    }

    fn progress(&mut self, progress: &WorkProgress<'_>) {
        let token = progress.token.map_or("null", RawValue::get);
        match progress.value.kind.as_deref() {
            Some("begin") if self.work.len() < WORK_MAX && token.len() <= TOKEN_BYTES_MAX => {
                self.has_worked = true;
                self.work.insert(token.to_owned());
            }
            Some("end") => {
                self.work.remove(token);
            }
            _ => {}
        }
    }

    /// When it is ready if it sends no more: a time that may be over; none where it has to say so.
    pub(crate) fn ready_at(&self) -> Option<Instant> {
        let said = match self.sign {
            ReadySign::Quiescent => return self.is_quiescent.then_some(self.since),
            ReadySign::Logged(_) => self.is_logged.then_some(self.since),
            ReadySign::WorkDone(_) if !self.work.is_empty() => None,
            ReadySign::WorkDone(_) if self.has_worked => Some(self.since),
            ReadySign::WorkDone(quiet) => self.opened.map(|opened| opened + quiet),
        };
        let anyway = self.since + PATIENCE;
        Some(said.map_or(anyway, |at| at.min(anyway)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    impl ReportedWork {
        fn hear(&mut self, method: &str, parameters: &Value) {
            let text = serde_json::value::to_raw_value(parameters).unwrap();
            self.take(method, Some(&text));
        }
    }

    fn is_ready(work: &ReportedWork) -> bool {
        work.ready_at().is_some_and(|at| at <= Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn each_sign_is_read_as_it_is_meant() {
        let mut rust = ReportedWork::new(ReadySign::Quiescent);
        assert_eq!(rust.ready_at(), None);
        for (quiescent, expected) in [(false, false), (true, true), (false, false)] {
            rust.hear("experimental/serverStatus", &json!({"quiescent": quiescent}));
            assert_eq!(is_ready(&rust), expected);
        }
        let mut python = ReportedWork::new(ReadySign::Logged("source file"));
        python.hear("window/logMessage", &json!({"message": "Loading"}));
        assert!(!is_ready(&python));
        python.hear("window/logMessage", &json!({"message": "Found 3 source files"}));
        assert!(is_ready(&python));
        let mut other = ReportedWork::new(ReadySign::WorkDone(Duration::from_secs(1)));
        let progress = |kind: &str| json!({"token": 1, "value": {"kind": kind}});
        other.open();
        assert!(!is_ready(&other));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(is_ready(&other));
        other.hear("$/progress", &progress("begin"));
        assert!(!is_ready(&other));
        other.hear("$/progress", &progress("end"));
        assert!(is_ready(&other));
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_gives_a_sign_is_asked_some_time() {
        let python = ReportedWork::new(ReadySign::Logged("source file"));
        let rust = ReportedWork::new(ReadySign::Quiescent);
        tokio::time::advance(PATIENCE).await;
        assert!(is_ready(&python) && !is_ready(&rust));
    }

    #[test]
    fn work_without_end_takes_no_memory_without_end() {
        let mut work = ReportedWork::new(ReadySign::Quiescent);
        for token in 0..10 * WORK_MAX {
            work.hear("$/progress", &json!({"token": token, "value": {"kind": "begin"}}));
        }
        assert_eq!(work.work.len(), WORK_MAX);
        let mut work = ReportedWork::new(ReadySign::Quiescent);
        let long = "x".repeat(TOKEN_BYTES_MAX);
        work.hear("$/progress", &json!({"token": long, "value": {"kind": "begin"}}));
        work.hear("$/progress", &json!({"token": "short", "value": {"kind": "begin"}}));
        work.hear("$/progress", &json!(["no progress"]));
        assert_eq!(work.work.iter().map(String::as_str).collect::<Vec<_>>(), ["\"short\""]);
    }
}
