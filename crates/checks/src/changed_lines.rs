//! Which lines changed: between two texts, and as git says it.

use std::collections::{BTreeMap, BTreeSet};

use crate::line_map::LineMap;

/// Lists the new files of a repository, and the lines of the others that differ from the last commit, for
/// [`lines_of_git`]. It only reads.
pub const GIT_CHANGES: &str = "git ls-files --others --exclude-standard && \
                               git diff --no-color --no-ext-diff -U0 --relative \
                               --src-prefix=a/ --dst-prefix=b/ HEAD";

/// The lines of a text that are not those of an older one.
pub fn changed_lines(old: &str, new: &str) -> BTreeSet<u64> {
    let map = LineMap::new(old, new);
    let count = new.lines().count() as u64;
    (1..=count).filter(|line| map.old_line(*line).is_none()).collect()
}

/// Reads what [`GIT_CHANGES`] writes: the lines of each file, none of a file that is new as a whole.
pub fn lines_of_git(text: &str) -> BTreeMap<String, Option<BTreeSet<u64>>> {
    let mut files = BTreeMap::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next_if(|line| !line.starts_with("diff --git ")) {
        if !line.is_empty() {
            files.insert(unquoted(line), None);
        }
    }
    let mut file = None;
    // Lines of the file itself that follow a head of lines.
    let mut left = 0;
    for line in lines {
        match line.strip_prefix("@@ ") {
            _ if left > 0 => left -= u64::from(line.starts_with(['+', '-'])),
            Some(head) => {
                let Some((old, new)) = hunk(head) else { continue };
                left = old.1 + new.1;
                if let Some(file) = &file {
                    let known: &mut Option<BTreeSet<u64>> =
                        files.entry(String::clone(file)).or_insert_with(|| Some(BTreeSet::new()));
                    if let Some(known) = known {
                        known.extend(new.0..new.0.saturating_add(new.1));
                    }
                }
            }
            None => {
                if let Some(name) = line.strip_prefix("+++ ") {
                    let name = unquoted(name.trim_end_matches('\t'));
                    file = name.strip_prefix("b/").map(str::to_owned);
                }
            }
        }
    }
    files
}

/// `-3,2 +3 @@ fn f()`: first line and number of lines, before and after.
fn hunk(head: &str) -> Option<((u64, u64), (u64, u64))> {
    let mut words = head.split(' ');
    let side = |word: &str, sign: char| {
        let word = word.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((side(words.next()?, '-')?, side(words.next()?, '+')?))
}

/// A name as git writes it: in quotes where it has unusual characters, these as in C.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                bytes.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_new_or_changed_are_those_of_the_new_text() {
        let changed = |old, new| changed_lines(old, new).into_iter().collect::<Vec<_>>();
        assert_eq!(changed("a\nb\nc\n", "a\nB\nc\nd\n"), [2, 4]);
        assert_eq!(changed("a\nb\n", "b\n"), Vec::<u64>::new());
        assert_eq!(changed("", "a\nb\n"), [1, 2]);
    }

    #[test]
    fn what_git_writes_is_read() {
        // As git 2.47 writes it.
        let text = "new file.py\n\"\\303\\244.py\"\ndiff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n\
                    @@ -3,0 +4,2 @@ def f():\n+++ not a head\n+@@ -9 +9 @@\n@@ -7 +9 @@\n-x\n\\ No newline at end of file\n+y\n\
                    diff --git a/gone.py b/gone.py\n--- a/gone.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\
                    diff --git a/with blank.py b/with blank.py\n--- a/with blank.py\t\n+++ b/with blank.py\t\n@@ -1 +1 @@\n-a\n+b\n";
        let found = lines_of_git(text);
        let lines =
            |path: &str| found[path].clone().map(|lines| lines.into_iter().collect::<Vec<_>>());
        assert_eq!((lines("new file.py"), lines("ä.py")), (None, None));
        assert_eq!(lines("a.py"), Some(vec![4, 5, 9]));
        assert_eq!(lines("with blank.py"), Some(vec![1]));
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn what_git_does_not_write_is_nothing() {
        for text in ["", "diff --git a b\n@@\n@@ -x +y @@\n+++ \n+++ b/", "\"\\"] {
            assert!(
                lines_of_git(text)
                    .values()
                    .all(|lines| lines.as_ref().is_none_or(BTreeSet::is_empty))
            );
        }
    }
}
