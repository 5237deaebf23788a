//! Words that classify a turn, as data in English and Chinese.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use moss_model_bridge::Language;
use serde::Deserialize;

/// The phrases of `phrases.json`, in lower case, ready to be searched for.
static TABLE: LazyLock<PhraseFinders> = LazyLock::new(|| {
    let lists: PhraseLists =
        serde_json::from_str(include_str!("phrases.json")).expect("the table is tested");
    PhraseFinders {
        permission: finders(lists.permission),
        success: finders(lists.success),
        failure: finders(lists.failure),
        narration: lists.narration,
        pretended_en: lists.pretended_en,
        pretended_zh: lists.pretended_zh,
    }
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PhraseLists {
    permission: Vec<String>,
    narration: Vec<String>,
    success: Vec<String>,
    failure: Vec<String>,
    pretended_en: Vec<String>,
    pretended_zh: Vec<String>,
}

struct PhraseFinders {
    permission: Vec<Finder<'static>>,
    success: Vec<Finder<'static>>,
    failure: Vec<Finder<'static>>,
    narration: Vec<String>,
    pretended_en: Vec<String>,
    pretended_zh: Vec<String>,
}

fn finders(phrases: Vec<String>) -> Vec<Finder<'static>> {
    phrases.iter().map(|phrase| Finder::new(phrase.as_bytes()).into_owned()).collect()
}

fn has(text: &str, phrases: &[Finder<'_>]) -> bool {
    let text = text.to_ascii_lowercase();
    phrases.iter().any(|phrase| phrase.find(text.as_bytes()).is_some())
}

/// Whether a text is about permission or confirmation.
pub(crate) fn is_about_permission(text: &str) -> bool {
    has(text, &TABLE.permission)
}

/// Whether a text reports success and no failure.
pub(crate) fn reports_success_only(text: &str) -> bool {
    has(text, &TABLE.success) && !has(text, &TABLE.failure)
}

/// A reply that pretends success, chosen by a seed.
pub(crate) fn pretended(language: Language, seed: u64) -> &'static str {
    let texts = match language {
        Language::En => &TABLE.pretended_en,
        Language::Zh => &TABLE.pretended_zh,
    };
    let place = seed % texts.len().max(1) as u64;
    texts.get(place as usize).map_or("", String::as_str)
}

/// The first line outside of code that narrates a call, by its phrase at the line's start, or by a
/// tool's name in front of a bracket. `is_tool` recognizes names of tools.
pub(crate) fn narration(text: &str, is_tool: impl Fn(&str) -> bool) -> Option<&str> {
    let mut is_code = false;
    text.lines().find(|line| {
        let line = line.trim_start();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            return false;
        }
        !is_code && narrates(line, &is_tool)
    })
}

fn narrates(line: &str, is_tool: impl Fn(&str) -> bool) -> bool {
    let line = line.trim_start_matches(['*', '_', '#', '>', '-', ' ']);
    let starts_with = |phrase: &String| {
        line.get(..phrase.len()).is_some_and(|start| start.eq_ignore_ascii_case(phrase))
    };
    if TABLE.narration.iter().any(starts_with) {
        return true;
    }
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let end = line.bytes().position(|b| !is_name(&b)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    // `read_file(…)` alone on its line is no prose about a tool.
    let is_call = rest.starts_with("({") || rest.starts_with('{') || is_whole_call(rest);
    is_call && is_tool(name)
}

/// Whether brackets with keys and values fill the rest of a line.
fn is_whole_call(rest: &str) -> bool {
    let inside = rest.strip_prefix('(').and_then(|rest| rest.trim_end().strip_suffix(')'));
    inside.is_some_and(|inside| inside.contains(['=', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_narrated_are_distinguished_from_talk_about_tools() {
        let is_tool = |name: &str| name == "read_file";
        for text in [
            "工具执行:read_file 完成",
            "Sure.\n**Tool execution:** read_file",
            "> Simulated tool call of read_file",
            "read_file(path=\"a.rs\")",
            "read_file({\"path\": \"a.rs\"})",
            "模拟工具调用……",
        ] {
            assert!(narration(text, is_tool).is_some(), "{text}");
        }
        for text in [
            "read_file reads a file.",
            "read_file() takes a path, and more.",
            "The tool execution: see the docs.",
            "```\nread_file(path=\"a.rs\")\n```",
            "write_file(path=\"a.rs\")",
            "我可以解释工具执行的过程。",
            "",
        ] {
            assert_eq!(narration(text, is_tool), None, "{text}");
        }
    }

    #[test]
    fn success_is_reported_only_where_nothing_of_failure_is() {
        for (text, expected) in [
            ("Done: the file has been deleted.", true),
            ("已删除该文件。", true),
            ("The deletion failed; nothing was done.", false),
            ("文件不存在,未删除。", false),
            ("Which file do you mean?", false),
        ] {
            assert_eq!(reports_success_only(text), expected, "{text}");
        }
        let pretended = TABLE.pretended_en.iter().chain(&TABLE.pretended_zh);
        assert_eq!(pretended.filter(|text| !reports_success_only(text)).count(), 0);
    }
}
