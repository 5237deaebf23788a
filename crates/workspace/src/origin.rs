//! Who makes a change, and why.

/// Who made a change, and why.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Id of the call, as in the journal.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// Name of the credential that called.
    pub caller: String,
    /// One sentence for people.
    pub summary: String,
}
