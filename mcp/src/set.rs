//! Which tools a client sees: schemas fill the context of its model.

use rmcp::model::Tool;

/// The tools of the default set, as far as the catalog has them: enough to read, search, edit and run.
const DEFAULT: &[&str] = &[
    "codebase_search",
    "read_file",
    "list_directory",
    "get_project_structure",
    "grep_search",
    "file_search",
    "find_code_location",
    "create_file",
    "delete_file",
    "replace_text",
    "replace_lines",
    "patch",
    "run_terminal_cmd",
    "run_tests",
    "diff_history",
    "clarify",
];

/// Which tools a client sees and may call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolSet {
    /// A few that are always wanted; the others are found with `find_tools`, and may be called.
    #[default]
    Default,
    /// Those that change nothing; no other is called.
    ReadOnly,
    /// Every tool of the catalog.
    All,
    /// A list of the user's own; no other is called.
    Named {
        /// What the user calls it.
        name: String,
        /// The names of its tools.
        tools: Vec<String>,
    },
}

// === impl ToolSet ===

impl ToolSet {
    /// The names of the sets that there always are.
    pub const BUILT_IN: [&str; 3] = ["default", "read-only", "all"];

    /// Finds a set that there always is.
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::Default),
            "read-only" => Some(Self::ReadOnly),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    /// The name of the set.
    pub fn name(&self) -> &str {
        match self {
            Self::Default => "default",
            Self::ReadOnly => "read-only",
            Self::All => "all",
            Self::Named { name, .. } => name,
        }
    }

    /// Whether the client sees the tool from the start.
    pub(crate) fn lists(&self, tool: &Tool) -> bool {
        match self {
            Self::Default => DEFAULT.contains(&&*tool.name),
            Self::ReadOnly => is_read_only(tool),
            Self::All => true,
            Self::Named { tools, .. } => tools.iter().any(|name| *name == tool.name),
        }
    }

    /// Whether the client may call the tool.
    pub(crate) fn allows(&self, tool: &Tool) -> bool {
        match self {
            Self::Default | Self::All => true,
            Self::ReadOnly | Self::Named { .. } => self.lists(tool),
        }
    }

    /// Whether resources may be read by a tool that only reads.
    pub(crate) fn may_read_by(&self, name: &str) -> bool {
        match self {
            Self::Default | Self::ReadOnly | Self::All => true,
            Self::Named { tools, .. } => tools.iter().any(|tool| tool == name),
        }
    }

    /// Where a client finds the names of the tools that it may call.
    pub(crate) fn names_hint(&self) -> &'static str {
        match self.has_more() {
            true => {
                "tools/list has the names of most tools, find_tools without arguments the others"
            }
            false => "tools/list has the names of the tools that there are here",
        }
    }

    /// Whether there is more to find than is listed.
    pub(crate) fn has_more(&self) -> bool {
        *self == Self::Default
    }
}

fn is_read_only(tool: &Tool) -> bool {
    tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true)
}
