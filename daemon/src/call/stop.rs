//! Why an effect did not come about, and by what that is known again when a tool has passed it on.

use std::collections::VecDeque;

use moss_dispatch::CallError;
use moss_dispatch::blocking::Broken;
use moss_sdk::{ErrorMark, ToolError};

/// Most stops of one call that are remembered: of more, the newest.
const STOPS_MAX: usize = 256;

/// Why an effect did not come about.
#[derive(Debug, Clone)]
pub(super) enum EffectStop {
    /// It ends the call, whatever a tool in between makes of it.
    Call(CallError),
    /// It is an error for the tool, which may do without.
    Tool(ToolError),
}

/// What stopped effects of one call, of which its tool only sees errors of its own kind.
#[derive(Debug, Default)]
pub(super) struct EffectStops(VecDeque<(ErrorMark, CallError)>);

// === impl EffectStops ===

impl EffectStops {
    /// Makes the error that a tool in between gets, and remembers what ends the call.
    pub(super) fn pass_on(&mut self, stop: CallError) -> ToolError {
        let mark = ErrorMark::unique();
        let reported = ToolError { mark: Some(mark), ..stop.as_tool_error() };
        if self.0.len() == STOPS_MAX {
            self.0.pop_front();
        }
        self.0.push_back((mark, stop));
        reported
    }

    /// What an error stands for: the stop whose mark it has. What a guest passes on has none: it is the newest stop
    /// with that code whose message is in it.
    pub(super) fn meant_by(&self, error: &ToolError, is_from_guest: bool) -> Option<&CallError> {
        let is_worded = |stop: &CallError| {
            let reported = stop.as_tool_error();
            error.code == reported.code && error.message.contains(&reported.message)
        };
        let newest = || self.0.iter().rev();
        let own = newest().find(|(mark, _)| error.mark == Some(*mark));
        let found = own.or_else(|| newest().find(|(_, stop)| is_from_guest && is_worded(stop)));
        found.map(|(_, stop)| stop)
    }
}

impl From<CallError> for EffectStop {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<ToolError> for EffectStop {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl From<moss_workspace::Error> for EffectStop {
    fn from(error: moss_workspace::Error) -> Self {
        Self::Tool(error.into())
    }
}

impl From<Broken> for EffectStop {
    fn from(broken: Broken) -> Self {
        Self::Tool(broken.into())
    }
}

#[cfg(test)]
mod tests {
    use moss_sdk::ErrorCode;

    use super::*;

    fn denied(message: &str) -> CallError {
        CallError::Denied { message: message.to_owned(), rule: Some("a rule".to_owned()) }
    }

    #[test]
    fn an_error_stands_for_the_stop_whose_mark_it_has() {
        let mut stops = EffectStops::default();
        let first = stops.pass_on(denied("reading a is denied"));
        let second = stops.pass_on(denied("reading b is denied"));
        let worded = ToolError { message: "nothing was done".to_owned(), ..first.clone() };
        let unmarked = |message: &str| ToolError::new(ErrorCode::Denied, message);
        let other_code = ToolError::new(ErrorCode::NotFound, "reading a is denied");
        for (error, by_native_tool, by_guest) in [
            (&first, Some("reading a is denied"), Some("reading a is denied")),
            (&second, Some("reading b is denied"), Some("reading b is denied")),
            (&worded, Some("reading a is denied"), Some("reading a is denied")),
            (&unmarked("so: reading a is denied"), None, Some("reading a is denied")),
            (&unmarked("writing is denied"), None, None),
            (&other_code, None, None),
        ] {
            for (is_from_guest, expected) in [(false, by_native_tool), (true, by_guest)] {
                let meant = stops.meant_by(error, is_from_guest).map(ToString::to_string);
                assert_eq!(meant.as_deref(), expected, "{error:?}, {is_from_guest}");
            }
        }
        for _ in 0..STOPS_MAX {
            stops.pass_on(denied("reading c is denied"));
        }
        assert_eq!(stops.0.len(), STOPS_MAX);
        assert!(stops.meant_by(&first, true).is_none());
    }
}
