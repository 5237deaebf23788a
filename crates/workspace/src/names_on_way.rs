//! What a path goes by that leads to nothing.

use std::collections::VecDeque;

use crate::Workspace;
use moss_sdk::RelPath;
use moss_sdk::file::EntryKind;

/// Most symbolic links that are followed.
const LINKS_MAX: usize = 40;

/// Returns what the error about a path that leads to nothing depends on: every name that it goes by, links followed, unless
/// a directory is there.
pub fn names_on_way(files: &Workspace, path: &RelPath) -> Vec<RelPath> {
    let mut pending: VecDeque<String> = path.components().map(str::to_owned).collect();
    let (mut real, mut links, mut names) = (RelPath::root(), 0, Vec::new());
    while let Some(name) = pending.pop_front() {
        match name.as_str() {
            "" | "." => continue,
            ".." => {
                real = real.parent().unwrap_or_else(RelPath::root);
                continue;
            }
            _ => {}
        }
        let Ok(next) = real.join(&name) else { break };
        let found = files.resolve(&next);
        if !found.is_ok_and(|found| found.kind == Some(EntryKind::Directory)) {
            names.push(next.clone());
        }
        match files.link_target(&next) {
            Ok(target) => {
                links += 1;
                if links > LINKS_MAX || target.starts_with('/') {
                    break;
                }
                target.rsplit('/').for_each(|name| pending.push_front(name.to_owned()));
            }
            Err(_) => real = next,
        }
    }
    names
}
