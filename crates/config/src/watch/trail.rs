//! Which names on a disk decide what a path leads to: every component on the way, through links.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Most symbolic links on the way to a file; as many as the kernel follows.
const LINKS_MAX: usize = 40;
/// Most names on the way to a file.
const NAMES_MAX: usize = 512;

/// The way to a file, which need not be there yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Trail {
    /// Every name on the way, as a path without links before its last component. A change of one
    /// of them may change what the file is.
    pub(super) names: Vec<PathBuf>,
    /// The directory in which the last of the names lies, or would.
    pub(super) directory: PathBuf,
}

/// Follows a path from the root, as far as it is there.
pub(super) fn follow(file: &Path) -> Trail {
    let mut trail = Trail { names: Vec::new(), directory: PathBuf::from("/") };
    let Ok(file) = std::path::absolute(file) else { return trail };
    let mut at = PathBuf::from("/");
    let mut rest = steps(&file);
    let mut links = 0;
    while let Some(step) = rest.pop_front() {
        let TrailStep::Into(name) = step else {
            at.pop();
            continue;
        };
        if trail.names.len() == NAMES_MAX {
            break;
        }
        let named = at.join(name);
        trail.names.push(named.clone());
        trail.directory.clone_from(&at);
        let Ok(metadata) = named.symlink_metadata() else { break };
        if !metadata.is_symlink() {
            at = named;
            continue;
        }
        links += 1;
        let Ok(target) = named.read_link() else { break };
        if links > LINKS_MAX {
            break;
        }
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for step in steps(&target).into_iter().rev() {
            rest.push_front(step);
        }
    }
    trail
}

enum TrailStep {
    Up,
    Into(OsString),
}

fn steps(path: &Path) -> VecDeque<TrailStep> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(TrailStep::Into(name.to_owned())),
            Component::ParentDir => Some(TrailStep::Up),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(root: &Path, file: &str) -> Vec<String> {
        let trail = follow(&root.join(file));
        assert!(trail.names.last().unwrap().parent() == Some(&trail.directory));
        let inside = trail.names.iter().filter_map(|name| name.strip_prefix(root).ok());
        inside.map(|name| name.display().to_string()).filter(|name| !name.is_empty()).collect()
    }

    #[test]
    fn the_way_to_a_file_goes_through_links_and_ends_where_nothing_is() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("dots/v1")).unwrap();
        fs::write(root.join("dots/v1/policy.toml"), "").unwrap();
        fs::create_dir(root.join("config")).unwrap();
        symlink("v1", root.join("dots/current")).unwrap();
        symlink("../dots/current/policy.toml", root.join("config/policy.toml")).unwrap();
        symlink(root.join("config"), root.join("absolute")).unwrap();
        symlink("round", root.join("round")).unwrap();

        assert_eq!(names(&root, "dots/v1/policy.toml"), ["dots", "dots/v1", "dots/v1/policy.toml"]);
        assert_eq!(names(&root, "config/none.toml"), ["config", "config/none.toml"]);
        assert_eq!(names(&root, "none/policy.toml"), ["none"]);
        let linked = ["config", "config/policy.toml", "dots", "dots/current", "dots/v1"];
        let through = names(&root, "config/policy.toml");
        assert_eq!(through[..5], linked);
        assert_eq!(through[5..], ["dots/v1/policy.toml"]);
        let absolute = names(&root, "absolute/none");
        assert_eq!(absolute, ["absolute", "config", "config/none"]);
        assert!(names(&root, "round/x").len() <= LINKS_MAX + 1);
    }
}
