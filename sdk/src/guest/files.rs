//! Finding and reading files inside a plugin, as far as they were granted to it.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};

use crate::error::{ErrorCode, ToolError};
use crate::guest::is_cancelled;

/// Deepest directory that [`find_files`] enters.
pub const DEPTH_MAX: usize = 64;

/// The files beneath a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Their paths, in order.
    pub paths: Vec<String>,
    /// Whether there are more than the bound allowed.
    pub is_truncated: bool,
}

/// Finds the regular files beneath a directory, in order; a file is its own only result. Links are
/// not followed; names that start with a dot and directories named `target` or `node_modules` are
/// left out.
///
/// # Errors
///
/// `NotFound` and `Io` for the path itself, `LimitExceeded` for too deep a directory, `Cancelled`.
/// What cannot be listed further down is left out.
pub fn find_files(path: &str, files_max: usize) -> Result<Found, ToolError> {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let path = if path.is_empty() { "." } else { path };
    let metadata = fs::metadata(path).map_err(|error| io_error(path, &error))?;
    let mut found = Found::default();
    if metadata.is_dir() {
        descend(path, 0, files_max, &mut found)?;
    } else {
        found.paths.push(path.to_owned());
    }
    Ok(found)
}

/// Reads a text file of at most so many bytes.
///
/// # Errors
///
/// `TooLarge`, `Encoding` where it is not UTF-8, and what reading meets.
pub fn read_text(path: &str, bytes_max: usize) -> Result<String, ToolError> {
    let failed = |error| io_error(path, &error);
    let mut bytes = Vec::new();
    let bound = u64::try_from(bytes_max).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path).map_err(failed)?.take(bound).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > bytes_max {
        let message = format!("{path}: larger than {}", size(bytes_max));
        return Err(ToolError::new(ErrorCode::TooLarge, message));
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolError::new(ErrorCode::Encoding, format!("{path}: not UTF-8 text")))
}

/// Makes a tool's error of one from reading a file. What was not granted is not there; moss reports
/// to the caller who withholds it.
pub fn io_error(path: impl fmt::Display, error: &io::Error) -> ToolError {
    let path = path.to_string();
    if let Some(what) = outside(&path) {
        return ToolError::new(ErrorCode::InvalidPath, format!("{path}: {what}"))
            .hint("paths are relative to the workspace, such as `docs/a.md`");
    }
    let (code, what) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorCode::NotFound, "no such file or directory".to_owned()),
        io::ErrorKind::NotADirectory => (ErrorCode::NotADirectory, "not a directory".to_owned()),
        io::ErrorKind::IsADirectory => (ErrorCode::NotAFile, "is a directory".to_owned()),
        io::ErrorKind::PermissionDenied => (ErrorCode::Denied, "not permitted".to_owned()),
        _ => (ErrorCode::Io, error.to_string()),
    };
    ToolError::new(code, format!("{path}: {what}"))
}

/// Says why a path cannot be one of the workspace.
fn outside(path: &str) -> Option<&'static str> {
    if path.starts_with('/') {
        return Some("the path is absolute");
    }
    let mut depth = 0_usize;
    for name in path.split('/') {
        depth = match name {
            "" | "." => depth,
            ".." => match depth.checked_sub(1) {
                Some(depth) => depth,
                None => return Some("the path leads out of the workspace"),
            },
            _ => depth + 1,
        };
    }
    None
}

/// Writes a size in the largest unit that divides it.
fn size(bytes: usize) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{} {name}", bytes / unit),
        None => format!("{bytes} bytes"),
    }
}

fn descend(
    directory: &str,
    depth: usize,
    files_max: usize,
    found: &mut Found,
) -> Result<(), ToolError> {
    if depth > DEPTH_MAX {
        let message = format!("{directory}: more than {DEPTH_MAX} directories deep");
        return Err(ToolError::new(ErrorCode::LimitExceeded, message));
    }
    if is_cancelled() {
        return Err(ToolError::new(ErrorCode::Cancelled, "cancelled"));
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if depth == 0 => return Err(io_error(directory, &error)),
        Err(_) => return Ok(()),
    };
    let mut entries: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.file_type().ok()?)))
        .collect();
    entries.sort_by(|(left, _), (right, _)| left.cmp(right));
    for (name, kind) in entries {
        if found.is_truncated {
            break;
        }
        let path = if directory == "." { name.clone() } else { format!("{directory}/{name}") };
        if name.starts_with('.') {
            continue;
        }
        if kind.is_dir() && name != "target" && name != "node_modules" {
            descend(&path, depth + 1, files_max, found)?;
        } else if kind.is_file() && found.paths.len() == files_max {
            found.is_truncated = true;
        } else if kind.is_file() {
            found.paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_cannot_be_one_of_the_workspace_is_refused() {
        for path in ["a", "./a", "a/../b", "a/..", "", "..a/b"] {
            assert_eq!(outside(path), None, "{path}");
        }
        for path in ["/a", "..", "../a", "a/../../b"] {
            assert!(outside(path).is_some(), "{path}");
            let error = io_error(path, &io::ErrorKind::NotFound.into());
            assert_eq!(error.code, ErrorCode::InvalidPath);
        }
        let missing = io_error("a", &io::ErrorKind::NotFound.into());
        assert_eq!(
            (missing.message.as_str(), missing.hint),
            ("a: no such file or directory", None)
        );
    }

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!((size(8 << 20), size(1500)), ("8 MiB".to_owned(), "1500 bytes".to_owned()));
    }
}
