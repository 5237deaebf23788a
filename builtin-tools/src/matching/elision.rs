//! Lines that stand for lines left out: `...`, `// ... existing code ...`.

/// Words by which a comment between dots says that lines are left out.
const OMISSIONS: &[&str] = &[
    "existing",
    "rest of",
    "remaining",
    "unchanged",
    "not changed",
    "no changes",
    "same as",
    "as before",
    "omitted",
    "previous code",
    "other code",
    "more code",
    "code here",
    "snip",
    "keep",
    "其余",
    "其他代码",
    "剩余",
    "省略",
    "不变",
    "现有代码",
    "原有代码",
    "保持",
    "同上",
];
/// How a comment without dots begins that says so.
const OPENINGS: &[&str] =
    &["rest of", "remainder of", "remaining", "existing", "other", "previous", "original"];
/// What it says is left out.
const CODE: &[&str] = &[
    "code",
    "implementation",
    "methods",
    "functions",
    "imports",
    "content",
    "logic",
    "file",
    "function",
    "class",
    "method",
    "module",
    "component",
];
/// What may come after that.
const CLOSINGS: &[&str] = &[
    "",
    "here",
    "unchanged",
    "omitted",
    "remains",
    "stays",
    "is unchanged",
    "remains unchanged",
    "goes here",
    "stays the same",
];
/// Whole comments that say so.
const WHOLE: &[&str] = &[
    "unchanged",
    "omitted",
    "omitted for brevity",
    "code omitted",
    "code omitted for brevity",
    "no changes",
    "no change",
    "same as before",
    "keep as before",
    "keep as is",
    "其余代码",
    "其余代码不变",
    "其余不变",
    "省略",
    "代码不变",
    "保持不变",
    "现有代码",
];
/// Marks that start a comment, and those that end it.
const COMMENTS: &[(&str, &str)] = &[
    ("//", ""),
    ("#", ""),
    ("--", ""),
    (";", ""),
    ("%", ""),
    ("/*", "*/"),
    ("{/*", "*/}"),
    ("<!--", "-->"),
    ("*", ""),
];

/// Whether a line stands for lines that are left out.
pub(super) fn is_elision(line: &str) -> bool {
    let line = line.trim();
    if matches!(line, "..." | "…" | "[...]" | "[…]" | "(...)") {
        return true;
    }
    comment(line).is_some_and(|text| {
        let inner = text.trim_matches(|c: char| c == '.' || c == '…').trim().to_lowercase();
        let (starts, ends) = (starts_with_dots(text), ends_with_dots(text));
        if inner.is_empty() {
            return starts;
        }
        let says = OMISSIONS.iter().any(|words| inner.contains(words));
        (starts && (ends || says)) || says_all(&inner)
    })
}

/// Whether a comment says nothing but that lines are left out.
fn says_all(text: &str) -> bool {
    if WHOLE.contains(&text) {
        return true;
    }
    let Some(rest) = OPENINGS.iter().find_map(|opening| text.strip_prefix(opening)) else {
        return false;
    };
    let words: Vec<&str> = rest.split_whitespace().filter(|word| *word != "the").collect();
    let at = words.iter().position(|word| CODE.contains(word)).filter(|at| *at < 2);
    at.is_some_and(|at| CLOSINGS.contains(&words[at + 1..].join(" ").as_str()))
}

fn starts_with_dots(text: &str) -> bool {
    text.starts_with("...") || text.starts_with('…')
}

fn ends_with_dots(text: &str) -> bool {
    text.ends_with("...") || text.ends_with('…')
}

/// Returns the text of a line that is nothing but a comment.
fn comment(line: &str) -> Option<&str> {
    COMMENTS.iter().find_map(|(start, end)| {
        let text = line.strip_prefix(start)?.strip_suffix(end)?;
        let text = text.trim_start_matches(['/', '#', '-', '!']).trim();
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        Some(inner.unwrap_or(text))
    })
}

/// Returns the first line of a replacement that stands for lines left out although the search does
/// not have it: written, it would take the place of code. A `...` that is the body of a Python
/// definition is no such line.
pub(crate) fn placeholder<'a>(search: &str, replace: &'a str) -> Option<&'a str> {
    let mut known: Vec<&str> = search.lines().map(str::trim).filter(|l| is_elision(l)).collect();
    let mut body = Body::default();
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
struct Body {
    is_due: bool,
    /// The quotes that end the docstring.
    docstring: Option<&'static str>,
}

impl Body {
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
        ] {
            assert!(is_elision(line), "{line:?}");
        }
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
        ] {
            assert!(!is_elision(line), "{line:?}");
        }
    }

    #[test]
    fn placeholders_of_the_replacement_are_told_from_code() {
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
