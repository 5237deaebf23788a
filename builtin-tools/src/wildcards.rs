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
    /// What names end with, where they say nothing else and it is ASCII: that needs no expression.
    ending: Option<Box<str>>,
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
        let ending = text.strip_prefix('*').filter(|rest| !over_path && is_plain(rest));
        let ending = ending.map(Box::from);
        Ok(Self { text, matcher, ending, over_path })
    }

    /// What they were compiled from.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether they are compared with the whole path.
    pub(crate) fn are_over_path(&self) -> bool {
        self.over_path
    }

    /// Whether a path fits.
    pub(crate) fn fit(&self, path: &RelPath) -> bool {
        match self.over_path {
            true => self.matcher.is_match(path.as_str()),
            false => self.fit_text(path.file_name().unwrap_or_default()),
        }
    }

    /// Whether a text fits: a path or a name, as [`Wildcards::are_over_path`] says.
    pub(crate) fn fit_text(&self, text: &str) -> bool {
        match &self.ending {
            // Some letters of other alphabets are as good as ASCII ones where case makes no difference.
            Some(ending) if text.is_ascii() => {
                let start = text.len().checked_sub(ending.len());
                start.is_some_and(|start| text[start..].eq_ignore_ascii_case(ending))
            }
            _ => self.matcher.is_match(text),
        }
    }
}

/// Whether a part of a pattern stands for itself.
fn is_plain(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-+ ".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_fits_the_names_that_its_expression_does() {
        let names = [
            "a.toml",
            "a.TOML",
            ".toml",
            "toml",
            "a.toml.bak",
            "a.tom",
            "ä.toml",
            "a.to\u{212a}",
            "",
            "l",
            "xtoml",
            "a.tomlx",
            "to.ml",
        ];
        for pattern in ["*.toml", "*toml", "*.TOML", "*", "*.tok", "*l"] {
            let wildcards = Wildcards::parse("pattern", pattern, false).unwrap();
            assert!(wildcards.ending.is_some(), "{pattern}");
            for name in names {
                let by_expression = wildcards.matcher.is_match(name);
                assert_eq!(wildcards.fit_text(name), by_expression, "{pattern} {name}");
            }
        }
        for pattern in ["*.t?ml", "**/*.toml", "a/*.toml", "*.{a,b}", "*.[t]oml", "*ä", "x*.toml"]
        {
            let wildcards = Wildcards::parse("pattern", pattern, false).unwrap();
            assert!(wildcards.ending.is_none(), "{pattern}");
        }
    }
}
