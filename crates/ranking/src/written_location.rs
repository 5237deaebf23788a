//! Locations as people, compilers and stack traces write them: `src/lib.rs:40`, `src/lib.rs:40:7`.

use moss_sdk::context::Context;
use moss_sdk::file::ListOptions;
use moss_sdk::{ErrorCode, RelPath, ToolError};

/// Enough to know whether a path is a directory.
const GLANCE: ListOptions = ListOptions { recursive: false, entries_max: 1 };

/// A line of a file, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenLocation {
    /// What stands for the file.
    pub path: String,
    /// The line, from 1; 0 where that is written.
    pub line: u32,
}

// === impl WrittenLocation ===

impl WrittenLocation {
    /// Reads `path:line` and `path:line:column`, also with the arrow or the colon that compilers print around them; none
    /// for what is written in another way.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix("-->").unwrap_or(text).trim_start();
        let (before, last) = text.strip_suffix(':').unwrap_or(text).rsplit_once(':')?;
        let last = number(last)?;
        let (path, line) = match before.rsplit_once(':') {
            Some((path, line)) => number(line).map_or((before, last), |line| (path, line)),
            None => (before, last),
        };
        (!path.is_empty()).then(|| Self { path: path.to_owned(), line })
    }

    /// The file that it names; missing where there is no such file and it may be words.
    ///
    /// # Errors
    ///
    /// Where it can only be a location and there is no such file, or that lies outside of where is searched.
    pub async fn file(&self, cx: &Context, root: &RelPath) -> Result<Option<RelPath>, ToolError> {
        let problem = match cx.path(&self.path) {
            Ok(file) => match cx.list(&file, GLANCE).await {
                Err(error) if error.code == ErrorCode::NotADirectory => {
                    let is_within = file.beneath(root).is_some();
                    return if is_within { Ok(Some(file)) } else { Err(outside(&file, root)) };
                }
                Err(error) => error,
                Ok(_) => {
                    let message = format!("`search` names a line of {file}, which is a directory");
                    ToolError::new(ErrorCode::InvalidArguments, message)
                }
            },
            Err(error) => error,
        };
        if self.is_path() { Err(problem) } else { Ok(None) }
    }

    /// Whether what stands before the line names a file and nothing else, whether or not there is one: `localhost:8080`
    /// and `status:404` may be words as well.
    pub fn is_path(&self) -> bool {
        let text = &*self.path;
        let is_word = |text: &str| {
            !text.is_empty()
                && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '+' | '-'))
        };
        let name = text.rsplit('/').next().unwrap_or(text);
        let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            !stem.is_empty() && is_word(extension) && extension.chars().any(char::is_alphabetic)
        });
        let is_other = text.contains(char::is_whitespace) || text.contains("://");
        !is_other && (has_extension || text.contains('/'))
    }
}

fn outside(file: &RelPath, root: &RelPath) -> ToolError {
    let message = format!("`search` names {file}, which is not in `path`: {root}");
    ToolError::new(ErrorCode::InvalidArguments, message)
        .hint("leave out `path`, and name the file from the workspace root")
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_as_compilers_print_them_and_names_are_none() {
        for (text, path, line) in [
            ("src/a.rs:12", "src/a.rs", 12),
            ("src/a.rs:12:4", "src/a.rs", 12),
            ("src/a.c:12:4:", "src/a.c", 12),
            (" --> src/a.rs:12:4", "src/a.rs", 12),
            ("C:\\a.rs:12", "C:\\a.rs", 12),
            ("Makefile:3", "Makefile", 3),
            ("a:0", "a", 0),
        ] {
            let expected = WrittenLocation { path: path.to_owned(), line };
            assert_eq!(WrittenLocation::parse(text), Some(expected), "{text}");
        }
        for other in ["a::b", "a:b", ":3", "std::fmt:x", "a", "a:+3", "a:", "a:99999999999"] {
            assert_eq!(WrittenLocation::parse(other), None, "{other}");
        }
    }

    #[test]
    fn what_may_be_words_is_no_sure_path() {
        let is_path = |text: &str| WrittenLocation::parse(text).unwrap().is_path();
        for text in ["src/a.rs:1", "a.rs:1:2", "docs/x:3", "./Makefile:3"] {
            assert!(is_path(text), "{text}");
        }
        for text in
            ["localhost:8080", "status:404", "127.0.0.1:80", "http://localhost:80", "see a.rs:3"]
        {
            assert!(!is_path(text), "{text}");
        }
    }
}
