//! Wildcards over paths, as a parameter has them: `*` and `?` within a name, `**` over directories,
//! `[a-z]`, `{a,b}`. Letter case makes no difference.

use globset::GlobBuilder;
use moss_sdk::{ErrorCode, RelPath, ToolError, glob};
use regex::{Regex, RegexBuilder};

/// Most memory of compiled wildcards.
const COMPILED_BYTES_MAX: usize = 10 << 20;

/// Wildcards of a parameter: `*`, `?`, `[…]`, `{…}`.
#[derive(Debug)]
pub(crate) struct Wildcards {
    text: String,
    matcher: Regex,
    /// Whether they speak of the whole path.
    over_path: bool,
}

// === impl Wildcards ===

impl Wildcards {
    /// Whether a text has any.
    pub(crate) fn are_in(text: &str) -> bool {
        text.contains(['*', '?', '[', '{'])
    }

    /// Compiles the wildcards of a parameter. Without a slash they are matched against names, with one
    /// against the end of the path, or, where they `are_anchored`, the whole path.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for what is no pattern, or too large.
    pub(crate) fn parse(
        parameter: &str,
        pattern: &str,
        are_anchored: bool,
    ) -> Result<Self, ToolError> {
        let over_path = are_anchored || pattern.contains('/');
        let text = if over_path && !are_anchored && !pattern.starts_with("**/") {
            format!("**/{pattern}")
        } else {
            pattern.to_owned()
        };
        let parsed = GlobBuilder::new(&text)
            .literal_separator(true)
            .case_insensitive(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .build();
        let parsed = parsed.map_err(|error| {
            let what = error.kind();
            let message = format!("`{parameter}` is not a pattern of wildcards: {what}");
            ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("put a backslash before a bracket or brace that stands for itself")
        })?;
        let regex = RegexBuilder::new(&glob::over_characters(parsed.regex()))
            .size_limit(COMPILED_BYTES_MAX)
            .build();
        let matcher = regex.map_err(|_| {
            let message = format!("`{parameter}` has too many wildcards");
            ToolError::new(ErrorCode::InvalidArguments, message).hint("make it shorter")
        })?;
        Ok(Self { text, matcher, over_path })
    }

    /// What they were compiled from.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a path fits.
    pub(crate) fn fit(&self, path: &RelPath) -> bool {
        let text =
            if self.over_path { path.as_str() } else { path.file_name().unwrap_or_default() };
        self.matcher.is_match(text)
    }
}
