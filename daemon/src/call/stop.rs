//! Why an effect did not come about.

use moss_dispatch::CallError;
use moss_dispatch::blocking::Broken;
use moss_sdk::ToolError;

/// Why an effect did not come about.
#[derive(Debug)]
pub(super) enum EffectStop {
    /// It ends the call, whatever a tool in between makes of it.
    Call(CallError),
    /// It is an error for the tool, which may do without.
    Tool(ToolError),
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
