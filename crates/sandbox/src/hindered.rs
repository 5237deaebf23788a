//! Which protected files a program wrote that it could not change: git carries on all the same, and leaves a tree that
//! is half of one commit and half of another.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// What programs write that could not change a file beneath a mount, in lower case.
const SIGNS: [&str; 3] = ["unable to unlink", "read-only file system", "resource busy"];
/// Most lines with such a sign that are looked at.
const LINES_MAX: usize = 100;
/// Longest of them, in bytes.
const LINE_BYTES_MAX: usize = 4 << 10;
/// Most names that are looked for among the protected ones.
const NAMES_MAX: usize = 500;

/// Finds the protected files that a command could not change, as far as it wrote so itself, in their order.
pub(crate) fn named<'a>(protected: &'a [PathBuf], written: [&str; 2]) -> BTreeSet<&'a PathBuf> {
    let lines = written.into_iter().flat_map(str::lines).filter(|line| has_sign(line));
    let names_in = |line| names(cut(line));
    let names: BTreeSet<&Path> = lines.take(LINES_MAX).flat_map(names_in).take(NAMES_MAX).collect();
    names.into_iter().filter_map(|name| meant(protected, name)).collect()
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

fn has_sign(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    SIGNS.iter().any(|sign| lower.contains(sign))
}

/// What may be paths in a line: what is quoted, and words that look like one.
fn names(line: &str) -> impl Iterator<Item = &Path> {
    let quoted = line.split(['\'', '"', '`', '‘', '’']).skip(1).step_by(2);
    let words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"', '`', ':', ',']));
    let words = words.filter(|word| word.contains(['/', '.']));
    quoted.chain(words).map(|name| Path::new(name.trim_start_matches("./")))
}

/// The protected path that a name stands for, which may be given from any directory: that path, what lies in it, or what
/// it lies in. Of several the shortest.
fn meant<'a>(protected: &'a [PathBuf], name: &Path) -> Option<&'a PathBuf> {
    if !matches!(name.components().next_back(), Some(Component::Normal(_))) {
        return None;
    }
    let is_meant = |path: &Path| match name.is_absolute() {
        true => path.starts_with(name) || name.starts_with(path),
        false => {
            let mut around = name.ancestors().filter(|around| !around.as_os_str().is_empty());
            around.any(|around| path.ends_with(around))
                || path.ancestors().any(|above| above.ends_with(name))
        }
    };
    let meant = protected.iter().filter(|path| is_meant(path));
    meant.min_by_key(|path| path.iter().count())
}

/// Whether a path is one of git's own.
pub(crate) fn is_of_git(path: &Path) -> bool {
    path.iter().any(|name| name.as_encoded_bytes().ends_with(b".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_protected_path_is_found_however_a_program_names_it() {
        let all = [
            ".git/config",
            ".git/hooks",
            "cl/.git/config",
            ".github/workflows",
            ".vscode/tasks.json",
        ];
        let protected = all.map(|path| Path::new("/w").join(path));
        for (line, path) in [
            ("error: unable to unlink old '.github/workflows/ci.yml': Read-only file system", 3),
            ("error: could not write config file .git/config: Device or resource busy", 0),
            ("rm: cannot remove 'cl/.git/config': Device or resource busy", 2),
            ("rm: cannot remove 'cl': Device or resource busy", 2),
            ("rm: cannot remove ‘tasks.json’: Read-only file system", 4),
            ("Error: EBUSY: resource busy or locked, rmdir '/w/.vscode'", 4),
            ("sh: 1: cannot create .git/hooks/pre-commit: Read-only file system", 1),
            ("OSError: [Errno 30] Read-only file system: '/w/.vscode/tasks.json'", 4),
        ] {
            let found: Vec<_> = named(&protected, ["", line]).into_iter().collect();
            assert_eq!(found, [&protected[path]], "{line}");
            assert_eq!(is_of_git(found[0]), path <= 2, "{line}");
        }
        for line in [
            "sh: 1: cannot create /usr/x: Read-only file system",
            "wrote .git/config",
            "Read-only file system",
            "mount: /: Device or resource busy",
            "rm: cannot remove '..': Device or resource busy",
        ] {
            assert_eq!(named(&protected, ["", line]), BTreeSet::new(), "{line}");
        }
    }
}
