//! Where a search looks: the whole workspace, a directory, a file, or what wildcards fit.

use moss_sdk::context::{Context, TextVisitor as _};
use moss_sdk::file::{ListOptions, Visited};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::EXTENT;
use super::hits::Hits;
use crate::extent::without_slash;
use crate::wildcards::Wildcards;

/// Enough to know what a path is.
const GLANCE: ListOptions = ListOptions { recursive: false, entries_max: 1 };

/// The files that a search looks into.
#[derive(Debug)]
pub(super) enum GrepScope {
    /// All files beneath a directory that ignore files leave.
    Directory(RelPath),
    /// In one file, whatever ignore files say.
    File(RelPath),
    /// In files whose paths fit.
    Wildcards(Wildcards),
}

// === impl GrepScope ===

impl GrepScope {
    /// Finds out what a path is. What is there goes before what wildcards mean.
    ///
    /// # Errors
    ///
    /// `NotFound` for what is neither there nor has wildcards; as [`Context::path`] and
    /// [`Wildcards::parse`].
    ///
    /// [`Context::path`]: moss_sdk::context::Files::path
    pub(super) async fn of(cx: &Context, path: Option<&str>) -> Result<Self, ToolError> {
        let Some(text) = path.map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok(Self::Directory(RelPath::root()));
        };
        let path = cx.path(without_slash(text))?;
        match cx.list(&path, GLANCE).await {
            Ok(_) => Ok(Self::Directory(path)),
            Err(error) if error.code == ErrorCode::NotADirectory => Ok(Self::File(path)),
            Err(error) if error.code == ErrorCode::NotFound && Wildcards::are_in(text) => {
                Wildcards::parse("path", path.as_str(), false).map(Self::Wildcards)
            }
            Err(error) => Err(error),
        }
    }

    /// Searches these files and adds what is found to `hits`.
    pub(super) async fn search(
        self,
        cx: &Context,
        hits: Hits,
    ) -> Result<(Hits, Visited), ToolError> {
        match self {
            Self::Directory(path) => cx.visit(&path, EXTENT, hits).await,
            Self::Wildcards(wildcards) => {
                cx.visit(&RelPath::root(), EXTENT, hits.within(wildcards)).await
            }
            Self::File(path) => {
                let mut hits = hits;
                if !hits.wants(&path) {
                    return Ok((hits, Visited::default()));
                }
                let (finding, visited) = cx.scan_text(&path, hits.scanner()).await?;
                // There is no other file that it could go on to.
                let _ = finding.map(|finding| hits.gather(finding));
                Ok((hits, visited))
            }
        }
    }
}
