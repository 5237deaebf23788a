//! Which tools fit the words of a query, the best first. Values in, values out.

use std::cmp::Reverse;

use rmcp::model::Tool;

/// Words that distinguish no tool from another.
const UNCOUNTED: &[&str] = &[
    "a", "an", "and", "are", "at", "by", "do", "for", "from", "how", "i", "in", "into", "is", "it",
    "me", "my", "of", "on", "or", "that", "the", "this", "to", "tool", "tools", "what", "which",
    "with",
];
/// What a word weighs that a name or a title has; one of a description weighs 1.
const NAMED_WEIGHT: usize = 3;
/// Shortest word of a query that stands for longer ones that begin with it, in bytes.
const BEGINNING_BYTES_MIN: usize = 3;
/// Shortest part of a word that is left of it without its ending, in bytes.
const STEM_BYTES_MIN: usize = 3;

/// The tools that fit a query.
#[derive(Debug)]
pub(crate) struct FittingTools<'a> {
    /// The best first; those that have less than half of the words of the best are left out.
    pub(crate) tools: Vec<&'a Tool>,
    /// How many of the words the best has.
    pub(crate) words_found: usize,
}

/// Returns the words of a query that count, each once.
pub(crate) fn words_of(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in parts(query).map(str::to_lowercase) {
        let is_known = words.iter().any(|known| stem(known) == stem(&word));
        if !is_known && !UNCOUNTED.contains(&&*word) {
            words.push(word);
        }
    }
    words
}

/// Finds the tools that have words of a query: who has more of them comes first, then who is named by them.
pub(crate) fn fitting<'a>(tools: &'a [Tool], words: &[String]) -> FittingTools<'a> {
    let mut ranked: Vec<(usize, usize, &Tool)> = Vec::new();
    for tool in tools {
        let named = spoken(&format!("{} {}", tool.name, tool.title.as_deref().unwrap_or_default()));
        let described = spoken(tool.description.as_deref().unwrap_or_default());
        let weight = |word: &String| match (has(&named, word), has(&described, word)) {
            (true, _) => NAMED_WEIGHT,
            (false, true) => 1,
            (false, false) => 0,
        };
        let weights: Vec<usize> = words.iter().map(weight).filter(|weight| *weight > 0).collect();
        if !weights.is_empty() {
            ranked.push((weights.len(), weights.iter().sum(), tool));
        }
    }
    ranked.sort_by_key(|(found, weight, _)| Reverse((*found, *weight)));
    let words_found = ranked.first().map_or(0, |(found, ..)| *found);
    ranked.retain(|(found, ..)| found * 2 >= words_found);
    FittingTools { tools: ranked.into_iter().map(|(.., tool)| tool).collect(), words_found }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty())
}

/// The words of a text in small letters; `editTool` is `edit` and `tool` as well.
fn spoken(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in parts(text) {
        words.push(part.to_lowercase());
        let mut start = 0;
        for (at, pair) in part.as_bytes().windows(2).enumerate() {
            if pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() {
                words.push(part[start..=at].to_lowercase());
                start = at + 1;
            }
        }
        if start > 0 {
            words.push(part[start..].to_lowercase());
        }
    }
    words
}

/// Whether a word is among others: in another form, as the beginning of one, or, where nothing stands
/// between words, within one.
fn has(words: &[String], word: &str) -> bool {
    let meant = stem(word);
    words.iter().any(|one| {
        stem(one) == meant
            || (word.len() >= BEGINNING_BYTES_MIN && one.starts_with(word))
            || (!word.is_ascii() && one.contains(word))
    })
}

/// What forms of an English word have in common: `searches`, `searched` and `searching` are `search`.
fn stem(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let without = |word: &mut String, ending: &str, may: fn(&str) -> bool| {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.len() >= STEM_BYTES_MIN
            && may(rest)
        {
            *word = rest.to_owned();
        }
    };
    // `class` is no plural, and `string` no form of a verb.
    let has_vowel = |rest: &str| rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let mut stem = word.to_owned();
    without(&mut stem, "s", |rest| !rest.ends_with('s'));
    without(&mut stem, "ing", has_vowel);
    without(&mut stem, "ed", has_vowel);
    without(&mut stem, "e", |_| true);
    if let Some(rest) = stem.strip_suffix('y') {
        stem = format!("{rest}i");
    }
    let bytes = stem.as_bytes();
    if let [.., before, last] = bytes
        && before == last
        && bytes.len() > STEM_BYTES_MIN
    {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &'static str, title: &str, description: &'static str) -> Tool {
        let mut tool = Tool::new(name, description, serde_json::Map::new());
        tool.title = Some(title.to_owned());
        tool
    }

    fn catalog() -> Vec<Tool> {
        vec![
            tool(
                "codebase_search",
                "Search the codebase",
                "Finds the code that answers a question.",
            ),
            tool("list_directory", "List directory", "Lists a directory with sizes and times."),
            tool(
                "editTool",
                "Apply blocks",
                "Applies blocks to a file, where errors show what is there.",
            ),
            tool("lint_check", "Check for errors", "Checks a file, and what the linters say."),
            tool("terminal_job", "Follow a background command", "Follows jobs that were started."),
            tool("xunit", "检查", "检查代码中的错误"),
        ]
    }

    fn names(query: &str) -> Vec<String> {
        let catalog = catalog();
        let fitting = fitting(&catalog, &words_of(query));
        fitting.tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    #[test]
    fn the_tool_with_most_of_the_words_comes_first() {
        for (query, first) in [
            ("check code for errors", "lint_check"),
            ("background job", "terminal_job"),
            ("background tasks", "terminal_job"),
            ("Listing the directories", "list_directory"),
            ("edit", "editTool"),
            ("edit-tool", "editTool"),
            ("searching code", "codebase_search"),
            ("代码", "xunit"),
        ] {
            assert_eq!(names(query).first().map(String::as_str), Some(first), "{query}");
        }
        // By its name rather than by what is said of it.
        assert_eq!(names("errors"), ["lint_check", "editTool"]);
        assert_eq!(names("definition of a language server"), Vec::<String>::new());
    }

    #[test]
    fn a_tool_with_few_of_the_words_is_left_out_where_another_has_most() {
        assert_eq!(names("check lint errors"), ["lint_check"]);
        let catalog = catalog();
        let fitting = fitting(&catalog, &words_of("background server of the language"));
        assert_eq!((fitting.tools.len(), fitting.words_found), (1, 1));
    }

    #[test]
    fn words_that_say_nothing_are_not_counted_and_others_once() {
        assert_eq!(words_of("Which tool is for the tests, Test and testing?"), ["tests"]);
        assert_eq!(words_of("  for the "), Vec::<String>::new());
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["search", "searches", "searched", "searching"][..],
            &["run", "runs", "running"],
            &["replace", "replaces", "replaced", "replacing"],
            &["directory", "directories"],
            &["class", "classes"],
            &["call", "calls", "calling"],
        ] {
            for form in forms {
                assert_eq!(stem(form), stem(forms[0]), "{form}");
            }
        }
        assert_ne!(stem("string"), stem("structure"));
        assert_eq!(["js", "is", "red", ""].map(stem), ["js", "is", "red", ""]);
    }
}
