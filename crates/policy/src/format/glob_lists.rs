//! Lists of globs in a rule.

use super::grants::Texts;
use super::{GLOB_BYTES_MAX, GLOBS_MAX};
use crate::error::{PolicyFault, shown};
use crate::globs::{Globs, Over, Unusable};

/// Compiles a list of globs.
pub(super) fn globs(texts: Texts, over: Over) -> Result<Option<Globs>, PolicyFault> {
    let Some(texts) = texts else { return Ok(None) };
    let span = texts.span();
    let texts = texts.into_inner();
    if texts.is_empty() {
        return Err(PolicyFault::new(span, "an empty list matches nothing")
            .help("leave the key out to match everything"));
    }
    if texts.len() > GLOBS_MAX {
        return Err(PolicyFault::new(span, format!("more than {GLOBS_MAX} globs in one list")));
    }
    for text in &texts {
        if text.as_ref().is_empty() {
            return Err(PolicyFault::new(text.span(), "an empty glob matches nothing"));
        }
        if text.as_ref().len() > GLOB_BYTES_MAX {
            let message = format!("the glob is longer than {GLOB_BYTES_MAX} bytes");
            return Err(PolicyFault::new(text.span(), message));
        }
    }
    let globs: Vec<&str> = texts.iter().map(|text| text.as_ref().as_str()).collect();
    match Globs::new(&globs, over) {
        Ok(globs) => Ok(Some(globs)),
        Err(Unusable::TooLarge) => Err(PolicyFault::new(span, "the globs are too large together")),
        Err(Unusable::Glob { position, error }) => {
            let text = &texts[position];
            let message = format!("{} is not a glob: {error}", shown(text.as_ref()));
            Err(PolicyFault::new(text.span(), message))
        }
    }
}

/// Compiles globs over workspace paths and refuses those that no workspace path can match.
pub(super) fn path_globs(texts: Texts, ignore_case: bool) -> Result<Option<Globs>, PolicyFault> {
    for text in texts.iter().flat_map(|texts| texts.as_ref()) {
        let glob = text.as_ref();
        let help = if glob.starts_with('/') || glob.starts_with('~') {
            "write the path relative to the workspace root, without the leading slash"
        } else if glob.ends_with('/') {
            "write `dir/**` for all that is beneath a directory"
        } else if glob.len() > 1 && glob.split('/').any(|name| matches!(name, "" | "." | "..")) {
            "write plain names without `.`, `..` and empty ones"
        } else {
            continue;
        };
        let message = format!("{} can never match a workspace path", shown(glob));
        return Err(PolicyFault::new(text.span(), message).help(help));
    }
    globs(texts, Over::Paths { ignore_case })
}
