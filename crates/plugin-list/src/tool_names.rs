//! What can name a tool, and how many tools a plugin has.

/// Most tools of one plugin.
pub const TOOLS_MAX: usize = 64;
/// Longest name of a plugin or a tool, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// Whether a text can name a tool.
pub fn is_tool_name(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
