//! Why an effect did not come about.

use moss_dispatch::CallError;
use moss_dispatch::blocking::Broken;
use moss_sdk::ToolError;

/// Why an effect did not come about.
#[derive(Debug)]
pub(super) enum Stop {
    /// It ends the call, whatever a tool in between makes of it.
    Call(CallError),
    /// It is an error for the tool, which may do without.
    Tool(ToolError),
}

impl From<CallError> for Stop {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<ToolError> for Stop {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl From<moss_workspace::Error> for Stop {
    fn from(error: moss_workspace::Error) -> Self {
        Self::Tool(error.into())
    }
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Self::Tool(broken.into())
    }
}
