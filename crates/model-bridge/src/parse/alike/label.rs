//! Lines that name a tool behind a word for it: `TOOL_NAME: read_file`.

use super::super::sloppy;
use crate::registry::Registry;

/// Words that stand before the name of a tool, and before its arguments.
const OF_TOOLS: &[&str] =
    &["tool", "tool_name", "tool name", "function", "function_name", "action"];
const OF_ARGUMENTS: &[&str] =
    &["action input", "action_input", "input", "args", "arguments", "parameters", "params"];
/// The first bytes of a line that may begin with one of the former, or with the sign of a list.
const FIRSTS: &[u8] = b" \ttTfFaA-*";
/// The most bytes of the word and the sign behind it.
const LABEL_BYTES_MAX: usize = 32;
/// The most bytes of such a line.
const LINE_BYTES_MAX: usize = 256;
/// What a block of code says that is meant for tools.
const FENCE_INFO: &str = "tool";

/// Whether such a line may begin with a byte.
pub(super) fn may_begin(byte: u8) -> bool {
    MAY_BEGIN[usize::from(byte)]
}

const MAY_BEGIN: [bool; 256] = {
    let mut may_begin = [false; 256];
    let mut at = 0;
    while at < FIRSTS.len() {
        may_begin[FIRSTS[at] as usize] = true;
        at += 1;
    }
    may_begin
};

/// Whether a line names a tool and has nothing else.
pub(super) fn names_tool(registry: &Registry, line: &str) -> bool {
    let line = line.trim();
    if line.len() > LINE_BYTES_MAX {
        return false;
    }
    let line = line.strip_prefix(['-', '*']).unwrap_or(line).trim_start();
    let near = &line.as_bytes()[..line.len().min(LABEL_BYTES_MAX)];
    let Some(end) = memchr::memchr(b':', near) else { return false };
    let (label, name) = (&line[..end], &line[end + 1..]);
    is_one_of(label, OF_TOOLS) && registry.tool(name.trim()).is_some()
}

/// Whether a text is nothing but a word for arguments.
pub(super) fn is_of_arguments(text: &str) -> bool {
    text.trim_end().strip_suffix(':').is_some_and(|label| is_one_of(label, OF_ARGUMENTS))
}

/// Whether a line of a block for tools calls one.
pub(super) fn calls_tool(registry: &Registry, line: &str) -> bool {
    let line = line.trim();
    let called = line.split_once('(').map(|(name, _)| name.rsplit(['=', ' ']).next());
    names_tool(registry, line)
        || called.flatten().is_some_and(|name| registry.tool(name).is_some())
        || sloppy::names_tool(registry, line) == Some(true)
}

/// Whether a line begins or ends a block of code; if so, whether what follows is meant for tools.
pub(super) fn fence(line: &str) -> Option<bool> {
    let info = line.trim_start_matches(['`', '~']);
    (line.len() - info.len() >= 3).then(|| info.trim_start().starts_with(FENCE_INFO))
}

fn is_one_of(label: &str, labels: &[&str]) -> bool {
    labels.iter().any(|known| label.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_names_a_tool_is_known() {
        let registry = Registry::from_json(r#"[{"name":"read_file"}]"#).unwrap();
        for (line, expected) in [
            ("TOOL_NAME: read_file", true),
            ("tool: read_file \r", true),
            ("  - tool: read_file", true),
            ("Action: read_file", true),
            ("tool: bash", false),
            ("tool: read_file reads", false),
            ("The tool: read_file", false),
            ("tool read_file", false),
        ] {
            assert_eq!(names_tool(&registry, line), expected, "{line}");
            assert!(!expected || may_begin(line.trim_start().as_bytes()[0]), "{line}");
        }
    }
}
