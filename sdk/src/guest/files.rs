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
        let message = format!("{path}: larger than {bytes_max} bytes");
        return Err(ToolError::new(ErrorCode::TooLarge, message));
    }
    String::from_utf8(bytes)
        .map_err(|_| ToolError::new(ErrorCode::Encoding, format!("{path}: not UTF-8 text")))
}

/// Makes a tool's error of one from reading a file.
pub fn io_error(path: impl fmt::Display, error: &io::Error) -> ToolError {
    let (code, what) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorCode::NotFound, "no such file or directory".to_owned()),
        io::ErrorKind::NotADirectory => (ErrorCode::NotADirectory, "not a directory".to_owned()),
        io::ErrorKind::IsADirectory => (ErrorCode::NotAFile, "is a directory".to_owned()),
        io::ErrorKind::PermissionDenied => (ErrorCode::Denied, "not permitted".to_owned()),
        _ => (ErrorCode::Io, error.to_string()),
    };
    let error = ToolError::new(code, format!("{path}: {what}"));
    match code {
        ErrorCode::NotFound => error.hint("a plugin sees only what moss-tools.json grants to it"),
        ErrorCode::Denied => error.hint("the policy does not let the plugin read it"),
        _ => error,
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
