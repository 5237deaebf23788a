//! What models put around or in place of the text that they mean: line numbers, fences, escapes,
//! `...` for lines that they leave out.

use std::borrow::Cow;

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

/// How escape sequences are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\"` and `\'` alone.
    Quotes,
    /// Also `\n`, `\t`, `\r` and `\\`.
    All,
}

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
        Some(text.trim_start_matches(['/', '#', '-', '!']).trim())
    })
}

/// Returns the first line of a replacement that stands for lines left out although the search does
/// not have it: written, it would take the place of code. A `...` that is the body of a Python
/// definition is no such line.
pub(super) fn placeholder<'a>(search: &str, replace: &'a str) -> Option<&'a str> {
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

/// Takes line numbers or a code fence off both texts of an edit; none where the search has neither.
pub(super) fn unwrapped(search: &str, replace: &str) -> Option<(String, String)> {
    if let Some(search) = without_numbers(search) {
        let replace = without_numbers(replace).unwrap_or_else(|| replace.to_owned());
        return Some((search, replace));
    }
    let search = without_fence(search)?;
    Some((search.to_owned(), without_fence(replace).unwrap_or(replace).to_owned()))
}

/// Takes off the line numbers that a listing puts before lines: every line has one, and they rise
/// by one.
pub(super) fn without_numbers(text: &str) -> Option<String> {
    let mut next = None;
    let mut lines = String::with_capacity(text.len());
    let several = text.trim_end().contains('\n');
    for line in text.split_inclusive('\n') {
        let (digits, rest) = split_number(line.trim_start())?;
        let number: u64 = digits.parse().ok()?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = number.checked_add(1);
        let text = match rest.chars().next()? {
            '\t' | '\u{2192}' | '|' => rest.get(rest.chars().next()?.len_utf8()..)?,
            ':' if several => &rest[1..],
            ' ' if rest.trim_start().starts_with(['|', '\u{2192}', '\u{2502}']) => {
                let rest = rest.trim_start();
                &rest[rest.chars().next()?.len_utf8()..]
            }
            _ => return None,
        };
        lines.push_str(text);
    }
    next.map(|_| lines)
}

fn split_number(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| line.split_at(end))
}

/// Takes off a code fence around a text.
pub(super) fn without_fence(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start_matches('\n').split_once('\n')?;
    let body = rest.trim_end().strip_suffix("```")?;
    let is_fence = first.trim_end().strip_prefix("```").is_some_and(|tag| !tag.contains('`'));
    (is_fence && (body.is_empty() || body.ends_with('\n'))).then_some(body)
}

/// Undoes escape sequences in one pass from left to right; none where there are none.
pub(super) fn unescaped(text: &str, escapes: Escapes) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut found = false;
    while let Some(c) = chars.next() {
        let undone = match (c, chars.peek(), escapes) {
            ('\\', Some(quote @ ('"' | '\'')), _) => Some(*quote),
            ('\\', Some('n'), Escapes::All) => Some('\n'),
            ('\\', Some('t'), Escapes::All) => Some('\t'),
            ('\\', Some('r'), Escapes::All) => Some('\r'),
            ('\\', Some('\\'), Escapes::All) => Some('\\'),
            _ => None,
        };
        match undone {
            Some(undone) => {
                result.push(undone);
                chars.next();
                found = true;
            }
            None => result.push(c),
        }
    }
    found.then_some(result)
}

/// Undoes escape sequences where there are some.
pub(super) fn unescaped_or_same(text: &str, escapes: Escapes) -> Cow<'_, str> {
    unescaped(text, escapes).map_or(text.into(), Cow::Owned)
}

/// Takes blank lines off both ends of the search, and off the replacement where it has as many; none
/// where there are none, or the edit changes how many there are.
pub(super) fn without_outer_blank_lines<'a>(
    search: &'a str,
    replace: &'a str,
) -> Option<(&'a str, &'a str)> {
    let (old, new) = (Blanks::around(search), Blanks::around(replace));
    let is_kept = |old: usize, new: usize| new == 0 || new == old;
    let is_blank = old.before + old.after == 0 || old.inner.is_empty();
    if is_blank || !is_kept(old.before, new.before) || !is_kept(old.after, new.after) {
        return None;
    }
    Some((old.inner, new.inner))
}

/// A text and the blank lines around it.
struct Blanks<'a> {
    before: usize,
    inner: &'a str,
    after: usize,
}

impl<'a> Blanks<'a> {
    /// A text of blank lines alone has all of them before it.
    fn around(text: &'a str) -> Self {
        let is_blank = |line: &&str| line.trim().is_empty();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let before = lines.iter().copied().take_while(is_blank).count();
        let rest = &lines[before..];
        let after = rest.iter().rev().copied().take_while(is_blank).count();
        let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
        let start = length(&lines[..before]);
        let end = start + length(&rest[..rest.len() - after]);
        Self { before, inner: &text[start..end], after }
    }
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

    #[test]
    fn wrappings_are_taken_off_whole_or_not_at_all() {
        assert_eq!(without_numbers("  9\ta\n 10\t b\n").as_deref(), Some("a\n b\n"));
        assert_eq!(without_numbers("1: a\n2: b").as_deref(), Some(" a\n b"));
        assert_eq!(without_numbers("1 | a\n2 | b").as_deref(), Some(" a\n b"));
        for text in ["1: a", "1\ta\n3\tb\n", "a\n", "", "1\ta\nb\n", "12\n13\n", "8080:80\n8081:81"]
        {
            assert_eq!(without_numbers(text).is_some(), text.starts_with("8080"), "{text:?}");
        }
        assert_eq!(without_fence("```python\nb = 2\n```\n"), Some("b = 2\n"));
        assert_eq!(without_fence("```\n```"), Some(""));
        for text in ["b = 2\n", "```\na\n", "a\n```\n", "```a```"] {
            assert_eq!(without_fence(text), None, "{text:?}");
        }
    }

    #[test]
    fn escapes_are_undone_once() {
        let all = |text| unescaped(text, Escapes::All);
        assert_eq!(all(r"a\nb").as_deref(), Some("a\nb"));
        assert_eq!(all(r#"print(\"a\\n\")"#).as_deref(), Some(r#"print("a\n")"#));
        assert_eq!(all(r"\\d+").as_deref(), Some(r"\d+"));
        assert_eq!(all("a"), None);
        assert_eq!(all("\\"), None);
        assert_eq!(unescaped(r#"\"\n\""#, Escapes::Quotes).as_deref(), Some(r#""\n""#));
    }
}
