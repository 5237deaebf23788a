//! How a call is written in text: the block that prompts show, models write and history repeats.

use serde_json::{Map, Value};

/// Backticks of the shortest fence.
const FENCE_MIN: usize = 3;

/// Writes a call as an action block, without a line end behind it. The fence is longer than any
/// run of backticks inside.
pub(crate) fn action_block(name: &str, arguments: &Map<String, Value>, id: Option<&str>) -> String {
    let mut json = format!(
        "{{\"tool\": {}, \"parameters\": {}",
        Value::from(name),
        Value::Object(arguments.clone())
    );
    if let Some(id) = id {
        json.push_str(&format!(", \"id\": {}", Value::from(id)));
    }
    json.push('}');
    let fence = "`".repeat(longest_run(&json, '`').saturating_add(1).max(FENCE_MIN));
    format!("{fence}json action\n{json}\n{fence}")
}

/// The length of the longest run of a character.
pub(crate) fn longest_run(text: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Puts values in the positions that a text of ours names as `{name}`. What a value says is not
/// read again; a name without a value stays.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let inside = &rest[at + 1..];
        let named = values.iter().find_map(|(name, value)| {
            inside.strip_prefix(name)?.strip_prefix('}').map(|after| (*value, after))
        });
        match named {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let arguments = Map::from_iter([("content".to_owned(), Value::from("````rust"))]);
        let block = action_block("create_file", &arguments, Some("call_1"));
        assert_eq!(
            block,
            "`````json action\n{\"tool\": \"create_file\", \"parameters\": {\"content\":\
             \"````rust\"}, \"id\": \"call_1\"}\n`````"
        );
    }

    #[test]
    fn values_are_put_in_once() {
        let filled = fill("{a} {b} {c} {\"a\"}", &[("a", "{b}"), ("b", "2")]);
        assert_eq!(filled, "{b} 2 {c} {\"a\"}");
    }
}
