//! Lines that stand for lines left out: `...`, `// ... existing code ...`.

mod words;

use words::{
    BRACKETS, CLOSINGS, CLOSINGS_ZH, CODE, CODE_ZH, COMMENTS, OMISSIONS, OPENINGS, OPENINGS_ZH,
    WHOLE,
};

/// Whether a line stands for lines that are left out.
pub(super) fn is_elision(line: &str) -> bool {
    let line = line.trim();
    if matches!(line, "..." | "…" | "……" | "[...]" | "[…]" | "(...)") {
        return true;
    }
    COMMENTS.iter().any(|(start, end)| comment(line, start, end).is_some_and(is_left_out))
        || is_bare(line)
}

/// Whether a comment says that lines are left out: between dots, after dots in such words, or in
/// words that say nothing else.
fn is_left_out(text: &str) -> bool {
    let text = BRACKETS.iter().find_map(|brackets| between(text, *brackets)).unwrap_or(text);
    let inner = without_dots(text).to_lowercase();
    let (starts, ends) = (starts_with_dots(text), ends_with_dots(text));
    if inner.is_empty() {
        return starts;
    }
    (starts && (ends || speaks_of_it(&inner))) || says_all(&inner)
}

/// Whether a line that is no comment says so: no code is written so, and hardly a text.
fn is_bare(line: &str) -> bool {
    let inner = BRACKETS.iter().find_map(|brackets| between(line, *brackets));
    let text = inner.unwrap_or(line);
    let words = without_dots(text).to_lowercase();
    let (starts, ends) = (starts_with_dots(text), ends_with_dots(text));
    let is_spread = starts && !ends && !text.trim_start_matches(['.', '…']).starts_with(' ');
    match (starts, ends) {
        (true, true) => speaks_of_it(&words) || says_all(&words),
        (true, false) => !is_spread && says_all(&words),
        (false, true) => says_all(&words),
        (false, false) => inner.is_some() && says_all(&words) && says_how(&words),
    }
}

fn speaks_of_it(text: &str) -> bool {
    OMISSIONS.iter().any(|words| text.contains(words))
}

/// Whether a sentence says only that lines are left out.
fn says_all(sentence: &str) -> bool {
    let text = sentence.trim_end_matches(['.', '。', '！', '!', ',', '，', ';', '；']).trim();
    if WHOLE.contains(&text) || says_all_in_chinese(text) {
        return true;
    }
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '-' | '(' | ')'))
        .filter(|word| !matches!(*word, "" | "the" | "this" | "your" | "all" | "my"))
        .collect();
    let text = words.join(" ");
    let rest = OPENINGS.iter().find_map(|opening| {
        text.strip_prefix(opening).filter(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    let words: Vec<&str> =
        rest.unwrap_or(&text).split(' ').filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| CODE.contains(word)).filter(|at| *at < 2) else {
        return false;
    };
    let closing = words[at + 1..].join(" ");
    let is_closing = CLOSINGS.iter().any(|known| known.replace("the ", "") == closing);
    // What does not begin so is one of them only where its end says so.
    is_closing && (rest.is_some() || (at == 0 && says_how(sentence)))
}

fn says_all_in_chinese(text: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || "，,：:的".contains(c);
    let text = text.replace(is_between, "");
    let after = |rest: &str| -> Option<usize> {
        OPENINGS_ZH.iter().find(|opening| rest.starts_with(**opening)).map(|opening| opening.len())
    };
    let mut rest = text.as_str();
    while let Some(length) = after(rest) {
        rest = &rest[length..];
    }
    let closing = CODE_ZH.iter().find_map(|code| rest.strip_prefix(code));
    let has_opening = rest.len() < text.len();
    closing.is_some_and(|end| CLOSINGS_ZH.contains(&end) && (has_opening || !end.is_empty()))
}

/// Whether a sentence says what becomes of what it names.
fn says_how(text: &str) -> bool {
    ["unchanged", "omitted", "the same", "as before", "as is", "not shown", "不变", "省略", "原样"]
        .iter()
        .any(|words| text.contains(words))
}

fn without_dots(text: &str) -> &str {
    text.trim_matches(|c: char| matches!(c, '.' | '…') || c.is_whitespace())
}

fn starts_with_dots(text: &str) -> bool {
    text.starts_with("...") || text.starts_with('…')
}

fn ends_with_dots(text: &str) -> bool {
    text.ends_with("...") || text.ends_with('…')
}

/// Returns what stands between brackets that a text begins and ends with.
fn between(text: &str, (open, close): (char, char)) -> Option<&str> {
    Some(text.strip_prefix(open)?.strip_suffix(close)?.trim())
}

/// Returns the text of a line that is nothing but a comment.
fn comment<'a>(line: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let text = line.strip_prefix(start)?.strip_suffix(end)?;
    Some(text.trim_start_matches(['/', '#', '-', '!', '*', ';', '%']).trim())
}

/// Returns the first line of a replacement that stands for lines left out although the search does
/// not have it: written, it would replace code. A `...` that is the body of a Python
/// definition is no such line.
pub fn placeholder<'a>(search: &str, replace: &'a str) -> Option<&'a str> {
    let mut known: Vec<&str> = search.lines().map(str::trim).filter(|l| is_elision(l)).collect();
    let mut body = PythonBody::default();
    for line in replace.lines() {
        let text = line.trim();
        if is_elision(text) && !(text == "..." && body.is_due) {
            match known.iter().position(|known| *known == text) {
                Some(at) => drop(known.swap_remove(at)),
                None => return Some(text),
            }
        }
        body.read(text);
    }
    None
}

/// Whether the body of a Python definition is due, before which there may be a docstring.
#[derive(Default)]
struct PythonBody {
    is_due: bool,
    /// The quotes that end the docstring.
    docstring: Option<&'static str>,
}

impl PythonBody {
    fn read(&mut self, line: &str) {
        if let Some(quotes) = self.docstring {
            if line.ends_with(quotes) {
                self.docstring = None;
            }
            return;
        }
        let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| line.starts_with(quotes));
        match quotes.filter(|_| self.is_due) {
            Some(quotes) if line.len() > 3 && line.ends_with(quotes) => {}
            Some(quotes) => self.docstring = Some(quotes),
            None if line.is_empty() => {}
            None => self.is_due = line.ends_with(':'),
        }
    }
}

/// Splits a text at the lines that stand for lines left out; none where it has no such line.
pub(super) fn segments(text: &str) -> Option<Vec<String>> {
    let mut segments = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if is_elision(line) {
            segments.push(String::new());
        } else if let Some(last) = segments.last_mut() {
            last.push_str(line);
        }
    }
    (segments.len() > 1).then_some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stand_for_others_are_known() {
        for line in [
            "...",
            "  …",
            "// ...",
            "# ... existing code ...",
            "/* ... rest of the file ... */",
            "<!-- ... -->",
            "// rest of the code remains unchanged",
            "// ...existing code...",
            "-- ... remaining columns",
            "// ... 其余代码不变 ...",
            "{/* ... existing JSX ... */}",
            "# unchanged",
            "# (unchanged)",
            "/* keep as before */",
            "// ... keep the rest ...",
            "# rest of the file",
            "// existing code here",
            "// remaining methods",
            "# Rest of the implementation unchanged",
            "// ... existing imports",
            "(rest of methods ...)",
            "(unchanged code ...)",
            "[... rest unchanged ...]",
            "... rest of code ...",
            "... existing code ...",
            "... rest of the class remains the same",
            "/* other methods remain the same */",
            "// unchanged methods",
            "// unchanged code...",
            "<!-- rest of the content stays the same -->",
            "(* existing code *)",
            "{- ... rest of the module ... -}",
            "' ... existing code",
            "REM ... rest of the file ...",
            "<%# existing code %>",
            "; remaining code unchanged",
            "% (rest of the code is unchanged)",
            "# implementation remains the same",
            "// [rest of the implementation]",
            "// the rest of the code stays as is.",
            "# 其余代码保持不变",
            "// 其他方法不变",
            "/* 省略其余的代码 */",
            "# 此处省略",
            "// ……现有代码……",
            "（其余代码不变）",
            "……其余代码不变……",
            "-- 剩下的逻辑同上",
        ] {
            assert!(is_elision(line), "{line:?}");
        }
    }

    #[test]
    fn lines_that_only_look_like_a_placeholder_are_none() {
        for line in [
            "...args,",
            "f(...x)",
            "// wait for it...",
            "# keep the existing order",
            "\"...\"",
            "// see the rest of the file",
            "",
            "    pass  # ...",
            "// keep trying until it works...",
            "// check the existing files...",
            "// Unchanged fields are skipped",
            "# rest of the arguments",
            "# remaining file handles",
            "// existing code paths must not see this",
            "// the rest of the file is data",
            "// ... and then some text",
            "// the rest of the list stays as it is",
            "g(*args, ...)",
            "f(existing, code)",
            "(existing code)",
            "[rest, code]",
            "...rest",
            "...existing code",
            "{...other}",
            "<...>",
            "// other functions call this",
            "# the same code runs twice",
            "// unchanged code is not sent again",
            "// 其他代码会调用这个方法",
            "# 现有代码的入口",
            "// 省略号",
            "# 方法",
            "!important",
            "'rest of the code'",
            "* a list of other methods",
            "remaining = code",
            "# file unchanged since the last release",
        ] {
            assert!(!is_elision(line), "{line:?}");
        }
    }

    #[test]
    fn placeholders_of_the_replacement_are_distinguished_from_code() {
        assert_eq!(
            placeholder("a\n", "b\n// ... existing code ...\n"),
            Some("// ... existing code ...")
        );
        assert_eq!(placeholder("a\n...\n", "b\n...\n"), None);
        assert_eq!(placeholder("a\n...\n", "b\n...\n...\n"), Some("..."));
        assert_eq!(placeholder("a\n", "def f():\n    ...\n"), None);
        assert_eq!(placeholder("a\n", "f(...x)\n"), None);
        let documented = "def f():\n    \"\"\"Does it.\n\n    All of it.\n    \"\"\"\n    ...\n";
        assert_eq!(placeholder("a\n", documented), None);
        assert_eq!(placeholder("a\n", "def f():\n    '''Does it.'''\n    ...\n"), None);
        assert_eq!(placeholder("a\n", "def f():\n    x = 1\n    ...\n"), Some("..."));
    }
}
