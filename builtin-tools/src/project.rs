//! Looks at the directories around a file: which manifests, configurations and programs of the project are
//! there. What the caller may not read is not there.

use std::collections::BTreeSet;

use moss_checks::{MANIFESTS, PROBES, ProjectDirectory, ProjectFiles};
use moss_sdk::context::Context;
use moss_sdk::file::{Content, EntryKind, FileSnapshot, ListOptions};
use moss_sdk::{ErrorCode, RelPath, ToolError};

/// Most entries of a directory that are looked at.
const LOOK: ListOptions = ListOptions { recursive: false, entries_max: 5_000 };
/// Enough to know what a path is.
const GLANCE: ListOptions = ListOptions { recursive: false, entries_max: 1 };
/// Largest manifest that is read, in bytes.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;
/// Most directories in the workspace root that are looked at for projects.
const CHILDREN_MAX: usize = 50;

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Directory,
    File,
}

/// Says what a path names.
///
/// # Errors
///
/// `NotFound`, and what reading it may meet.
pub(crate) async fn named(cx: &Context, path: &RelPath) -> Result<Named, ToolError> {
    match cx.list(path, GLANCE).await {
        Ok(_) => Ok(Named::Directory),
        Err(error) if error.code == ErrorCode::NotADirectory => Ok(Named::File),
        Err(error) => Err(error),
    }
}

/// Looks at a directory and those above it.
pub(crate) async fn around(cx: &Context, start: &RelPath) -> Result<ProjectFiles, ToolError> {
    let mut directories = Vec::new();
    let mut next = Some(start.clone());
    while let Some(path) = next {
        next = path.parent();
        directories.push(look(cx, &path).await?);
        if path.is_root() {
            break;
        }
    }
    Ok(ProjectFiles { directories })
}

/// Looks at the directories in the workspace root: where the root itself is no project, they may be.
pub(crate) async fn beneath_root(cx: &Context) -> Result<ProjectFiles, ToolError> {
    let listing = cx.list(&RelPath::root(), LOOK).await?;
    let children = listing.entries.into_iter().filter(|entry| entry.kind == EntryKind::Directory);
    let mut directories = Vec::new();
    for child in children.take(CHILDREN_MAX) {
        directories.push(look(cx, &child.path).await?);
    }
    Ok(ProjectFiles { directories })
}

/// Looks at directories, which are then the deepest first: those around others stand behind them.
pub(crate) async fn each(
    cx: &Context,
    mut paths: Vec<RelPath>,
) -> Result<Vec<ProjectDirectory>, ToolError> {
    paths.sort_by_cached_key(|path| {
        let path = path.to_string();
        (std::cmp::Reverse(path.matches('/').count()), path)
    });
    let mut directories = Vec::new();
    for path in paths {
        directories.push(look(cx, &path).await?);
    }
    Ok(directories)
}

async fn look(cx: &Context, path: &RelPath) -> Result<ProjectDirectory, ToolError> {
    let mut found = ProjectDirectory {
        path: if path.is_root() { String::new() } else { path.to_string() },
        ..ProjectDirectory::default()
    };
    for entry in cx.list(path, LOOK).await?.entries {
        let name = entry.path.file_name().unwrap_or_default().to_owned();
        match entry.kind {
            EntryKind::Directory => drop(found.directories.insert(name)),
            EntryKind::File if MANIFESTS.contains(&name.as_str()) => {
                let is_small = entry.size_bytes.is_none_or(|bytes| bytes <= MANIFEST_BYTES_MAX);
                if let Some(text) = text(cx, &entry.path).await?.filter(|_| is_small) {
                    found.manifests.insert(name.clone(), text);
                }
                found.files.insert(name);
            }
            _ => drop(found.files.insert(name)),
        }
    }
    // What configures a framework need not be a manifest: `pytest.ini`, `.rspec`.
    if !found.files.is_empty() || path.is_root() {
        probe(cx, path, &mut found).await?;
    }
    Ok(found)
}

/// Looks for those of [`PROBES`] that a directory has. Most have none of the directories that programs lie in.
async fn probe(
    cx: &Context,
    path: &RelPath,
    found: &mut ProjectDirectory,
) -> Result<(), ToolError> {
    let top = |probe: &'static str| probe.split_once('/').map_or(probe, |(top, _)| top);
    let tops: BTreeSet<&str> = PROBES.iter().map(|probe| top(probe)).collect();
    for directory in tops {
        match cx.list(&path.join(directory)?, GLANCE).await {
            Ok(_) => {}
            Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
            Err(error) if error.code == ErrorCode::OutsideWorkspace => {
                found.outward.insert(directory.to_owned());
            }
            Err(_) => continue,
        }
        for probe in PROBES.iter().filter(|probe| top(probe) == directory) {
            if is_there(cx, &path.join(probe)?).await? {
                found.probed.insert((*probe).to_owned());
            }
        }
    }
    Ok(())
}

async fn text(cx: &Context, path: &RelPath) -> Result<Option<String>, ToolError> {
    match cx.read_unasked(path).await {
        Ok(Some(FileSnapshot { content: Content::Text(text), .. })) => Ok(Some(text.text)),
        Err(error) if error.code == ErrorCode::Cancelled => Err(error),
        // It may not be read, or is no text: its name counts nevertheless.
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Whether a file is there, also where its link leads out of the workspace, as interpreters of virtual
/// environments do.
async fn is_there(cx: &Context, path: &RelPath) -> Result<bool, ToolError> {
    match cx.list(path, GLANCE).await {
        Ok(_) => Ok(false),
        Err(error) if error.code == ErrorCode::Cancelled => Err(error),
        Err(error) => {
            Ok(matches!(error.code, ErrorCode::NotADirectory | ErrorCode::OutsideWorkspace))
        }
    }
}
