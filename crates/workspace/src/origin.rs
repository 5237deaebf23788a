//! Who makes a change, and why.

/// Who made a change, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// Who called.
    pub caller: String,
    /// One sentence for people.
    pub summary: String,
}
