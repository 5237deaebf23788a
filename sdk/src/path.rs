//! Names of files inside a workspace.
//!
//! [`RelPath`] is the lexical gate: a value of this type has no `..`, no NUL, no empty component
//! and is not absolute. It does not check links: what a name leads to is decided by the kernel
//! when the workspace resolves it beneath its root.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::error::{ErrorCode, ToolError};

/// Longest accepted path, in bytes.
pub const PATH_BYTES_MAX: usize = 4096;
/// Longest accepted component, in bytes.
pub const COMPONENT_BYTES_MAX: usize = 255;
/// Most components of an accepted path.
pub const COMPONENTS_MAX: usize = 128;

/// A path relative to a workspace root; the root itself is `.`.
///
/// Components are separated by `/`, are never empty, `.` or `..`, and hold no NUL. Cloning one copies no
/// text: whoever knows a file keeps its path, and a workspace may have a million files.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelPath(Arc<str>);

// === impl RelPath ===

impl RelPath {
    /// The workspace root itself, written `.`.
    pub fn root() -> Self {
        Self(".".into())
    }

    /// Reads a relative path. A leading `./` and `.` components are dropped.
    ///
    /// # Errors
    ///
    /// `InvalidPath` for an empty path, NUL or another control character, an empty component, a trailing slash or
    /// anything over the limits; `OutsideWorkspace` for `..` and for absolute paths.
    pub fn parse(text: &str) -> Result<Self, ToolError> {
        let invalid = |what: &str| {
            Err(ToolError::new(ErrorCode::InvalidPath, format!("{}: {what}", shown(text)))
                .hint("give a path relative to the workspace root, such as `src/main.rs`"))
        };
        let outside = |what: &str| {
            Err(ToolError::new(ErrorCode::OutsideWorkspace, format!("{}: {what}", shown(text)))
                .hint("only files beneath the workspace root can be reached"))
        };
        if text.is_empty() {
            return invalid("the path is empty");
        }
        if text.len() > PATH_BYTES_MAX {
            return invalid(&format!("the path is longer than {PATH_BYTES_MAX} bytes"));
        }
        if text.contains('\0') {
            return invalid("the path contains a NUL character");
        }
        if text.chars().any(char::is_control) {
            return invalid("the path contains a control character");
        }
        if text.starts_with('/') {
            return outside("the path is absolute");
        }
        if text.ends_with('/') {
            return invalid("the path ends with a slash");
        }
        let mut components = Vec::new();
        for component in text.split('/') {
            match component {
                "" => return invalid("the path has an empty component"),
                "." => {}
                ".." => return outside("`..` is not allowed"),
                name if name.len() > COMPONENT_BYTES_MAX => {
                    return invalid(&format!("a name is longer than {COMPONENT_BYTES_MAX} bytes"));
                }
                name => components.push(name),
            }
        }
        if components.len() > COMPONENTS_MAX {
            return invalid(&format!("the path has more than {COMPONENTS_MAX} components"));
        }
        if components.is_empty() { Ok(Self::root()) } else { Ok(Self(components.join("/").into())) }
    }

    /// Returns the path as text; `.` for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the workspace root.
    pub fn is_root(&self) -> bool {
        &*self.0 == "."
    }

    /// Returns the components in order; none for the root.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|component| *component != ".")
    }

    /// Compares two paths component by component, as a walk meets them: `a/b` comes before `a-b`.
    #[must_use]
    pub fn cmp_components(&self, other: &Self) -> Ordering {
        // No name holds a control character, so a separator may count as the least of all bytes: what
        // differs first decides, and a path comes after those of which it is the beginning.
        fn bytes(path: &RelPath) -> &[u8] {
            if path.is_root() { &[] } else { path.0.as_bytes() }
        }
        let rank = |byte: u8| if byte == b'/' { 0 } else { byte };
        let (a, b) = (bytes(self), bytes(other));
        match a.iter().zip(b).find(|(a, b)| a != b) {
            Some((a, b)) => rank(*a).cmp(&rank(*b)),
            None => a.len().cmp(&b.len()),
        }
    }

    /// Returns the last component; none for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// Returns the containing directory; none for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(self.0.rsplit_once('/').map_or_else(Self::root, |(parent, _)| Self(parent.into())))
    }

    /// Returns the path as seen from a directory that it is in, or that it is itself; none for any other.
    #[must_use]
    pub fn beneath(&self, directory: &Self) -> Option<Self> {
        if directory.is_root() {
            return Some(self.clone());
        }
        match self.0.strip_prefix(directory.as_str())? {
            "" => Some(Self::root()),
            rest => rest.strip_prefix('/').map(|rest| Self(rest.into())),
        }
    }

    /// Returns the path of an entry of this directory.
    ///
    /// # Errors
    ///
    /// As [`RelPath::parse`].
    pub fn join(&self, name: &str) -> Result<Self, ToolError> {
        if self.is_root() {
            return Self::parse(name);
        }
        let mut joined = String::with_capacity(self.0.len() + 1 + name.len());
        joined.push_str(&self.0);
        joined.push('/');
        joined.push_str(name);
        // A walk joins every name that it meets: what is plainly well-formed is not parsed again.
        let is_plain = !matches!(name, "" | "." | "..")
            && name.len() <= COMPONENT_BYTES_MAX
            && joined.len() <= PATH_BYTES_MAX
            && name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'/')
            && self.0.bytes().filter(|byte| *byte == b'/').count() + 2 <= COMPONENTS_MAX;
        if is_plain { Ok(Self(joined.into())) } else { Self::parse(&joined) }
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Quotes a path for a message, bounded and with control characters escaped.
fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(200).flat_map(char::escape_debug).collect();
    if shown.len() < text.len() && text.chars().count() > 200 {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_dropped() {
        for (text, path) in [("./a", "a"), ("a/./b", "a/b"), (".", "."), ("./.", "."), ("a", "a")] {
            assert_eq!(RelPath::parse(text).unwrap().as_str(), path, "{text}");
        }
    }

    #[test]
    fn paths_are_ordered_as_their_components_are() {
        let paths = [
            ".", "a", "a b", "a!", "a-b", "a/b", "a/b-c", "a/b/c", "aa", "a.b", "ä", "ä/b", "b",
            "A",
        ];
        let paths = paths.map(|path| RelPath::parse(path).unwrap());
        for a in &paths {
            for b in &paths {
                let expected = a.components().cmp(b.components());
                assert_eq!(a.cmp_components(b), expected, "{a} {b}");
            }
        }
    }

    #[test]
    fn escapes_and_malformed_paths_are_refused() {
        let long = "a/".repeat(COMPONENTS_MAX) + "a";
        let cases = [
            ("", ErrorCode::InvalidPath),
            ("a/", ErrorCode::InvalidPath),
            ("a//b", ErrorCode::InvalidPath),
            ("a\0b", ErrorCode::InvalidPath),
            ("a\nb", ErrorCode::InvalidPath),
            (&long, ErrorCode::InvalidPath),
            ("..", ErrorCode::OutsideWorkspace),
            ("a/../b", ErrorCode::OutsideWorkspace),
            ("/etc/passwd", ErrorCode::OutsideWorkspace),
        ];
        for (text, code) in cases {
            assert_eq!(RelPath::parse(text).unwrap_err().code, code, "{text:?}");
        }
    }

    #[test]
    fn joining_is_parsing() {
        let deep = RelPath::parse(&["d"; COMPONENTS_MAX].join("/")).unwrap();
        let shallow = RelPath::parse("a/b").unwrap();
        let long = "x".repeat(COMPONENT_BYTES_MAX + 1);
        for directory in [&RelPath::root(), &shallow, &deep] {
            for name in ["c", ".c", "é", "", ".", "..", "c/d", "../x", "/c", "c\n", "c\0", &long] {
                let text = format!("{directory}/{name}");
                assert_eq!(directory.join(name).ok(), RelPath::parse(&text).ok(), "{text:?}");
            }
        }
    }

    #[test]
    fn parent_and_name_split_a_path() {
        let path = RelPath::parse("a/b/c").unwrap();
        assert_eq!(path.parent().unwrap().as_str(), "a/b");
        assert_eq!(path.file_name(), Some("c"));
        assert_eq!(RelPath::parse("a").unwrap().parent(), Some(RelPath::root()));
        assert_eq!(RelPath::root().parent(), None);
        assert_eq!(RelPath::root().join("x").unwrap().as_str(), "x");
    }
}
