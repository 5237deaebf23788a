//! Reading the paths that guests write: relative, beneath the directory that they are used with.

use moss_sdk::RelPath;
use moss_sdk::path::PATH_BYTES_MAX;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::Filesystem;
use crate::services::{FileKind, LastLink};

/// A path that a guest asks for.
pub(super) struct GuestPath {
    pub(super) path: RelPath,
    /// Whether it can only mean a directory: it ends with a slash or a dot.
    pub(super) is_directory: bool,
}

// === impl Filesystem ===

impl Filesystem {
    /// Makes a path of a text. `..` removes the name before it, where that is a
    /// directory; it never leads above the directory that the path starts from, and not back over a
    /// link, which would lead elsewhere.
    pub(super) async fn locate(&self, base: &RelPath, text: &str) -> Result<GuestPath, ErrorCode> {
        if text.is_empty() {
            return Err(ErrorCode::NoEntry);
        }
        if text.len() > PATH_BYTES_MAX {
            return Err(ErrorCode::NameTooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(ErrorCode::Invalid);
        }
        if text.starts_with('/') {
            return Err(ErrorCode::NotPermitted);
        }
        let mut path = base.clone();
        let mut depth = 0_usize;
        let mut is_directory = false;
        for name in text.split('/') {
            is_directory = matches!(name, "" | "." | "..");
            match name {
                "" | "." => {}
                ".." => {
                    depth = depth.checked_sub(1).ok_or(ErrorCode::NotPermitted)?;
                    path = self.above(&path).await?;
                }
                name => {
                    depth += 1;
                    path = path.join(name).map_err(|_| ErrorCode::NameTooLong)?;
                }
            }
        }
        Ok(GuestPath { path, is_directory })
    }

    async fn above(&self, path: &RelPath) -> Result<RelPath, ErrorCode> {
        match self.stat(path, LastLink::Keep).await?.kind {
            FileKind::Directory => path.parent().ok_or(ErrorCode::NotPermitted),
            FileKind::File => Err(ErrorCode::NotDirectory),
            FileKind::Link => Err(ErrorCode::NotPermitted),
        }
    }
}
