//! How much of what may be kept each place has whose names are protected: the workspace's own repository comes first,
//! then the others with equal shares, the oldest first. What a command made to use all of it up is younger than what it
//! is about to change.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::content_before::{ContentBefore, KeepBudget};
use crate::git_names::place_of;

/// A repository, or a protected path by itself.
struct SharingPlace {
    path: PathBuf,
    is_own: bool,
    /// The paths of it, by their numbers.
    paths: Vec<usize>,
}

/// Keeps what paths hold; each is given with the directory around it that commands write.
pub(crate) fn keep(paths: &[(&Path, &Path)]) -> Vec<ContentBefore> {
    let places = places(paths);
    let mut kept: Vec<_> = paths.iter().map(|_| ContentBefore::Unknown).collect();
    let mut left = KeepBudget::OF_COMMAND;
    for (number, place) in places.iter().enumerate() {
        let share = if place.is_own { left } else { left.share(places.len() - number) };
        let mut rest = share;
        for &path in &place.paths {
            kept[path] = ContentBefore::at(paths[path].0, &mut rest);
        }
        left = left.less(share.less(rest));
    }
    kept
}

/// The places of paths, in the order in which they are kept.
fn places(paths: &[(&Path, &Path)]) -> Vec<SharingPlace> {
    let mut found: BTreeMap<PathBuf, SharingPlace> = BTreeMap::new();
    for (number, (path, root)) in paths.iter().enumerate() {
        let place = place_of(path);
        let new = || SharingPlace {
            path: place.to_owned(),
            is_own: place == *root || place == root.join(".git"),
            paths: Vec::new(),
        };
        found.entry(place.to_owned()).or_insert_with(new).paths.push(number);
    }
    let mut places: Vec<_> = found.into_values().collect();
    // Where nobody knows how old it is, it comes last.
    let age = |place: &SharingPlace| place.path.symlink_metadata().and_then(|one| one.created());
    places.sort_by_cached_key(|place| {
        let born = age(place).ok();
        (Reverse(place.is_own), born.is_none(), born.unwrap_or(SystemTime::UNIX_EPOCH))
    });
    places
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn large(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap().set_len(1 << 20).unwrap();
    }

    #[test]
    fn no_repository_uses_up_what_is_kept_of_others() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let mut paths = Vec::new();
        for number in 0..60 {
            paths.push(root.join(format!("a/.git/modules/m{number}/config")));
        }
        paths.push(root.join("a/.git/hooks"));
        paths.extend(["b/.git/config", "c/.git/config", ".git/config"].map(|path| root.join(path)));
        paths.iter().for_each(|path| large(path));
        fs::remove_file(root.join("b/.git/config")).unwrap();
        fs::write(root.join("b/.git/config"), "small").unwrap();
        let all: Vec<_> = paths.iter().map(|path| (path.as_path(), root)).collect();
        let kept = keep(&all);
        assert!(kept[61].can_be_restored() && kept[63].can_be_restored());
        assert!(kept.iter().filter(|one| one.can_be_restored()).count() < 50);
    }

    #[test]
    fn what_was_made_last_is_kept_last() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let old = root.join("z/.git/config");
        large(&old);
        let since = old.symlink_metadata().unwrap().created().unwrap();
        let is_later = |path: &Path| {
            let place = path.parent().unwrap();
            place.symlink_metadata().unwrap().created().unwrap() > since
        };
        let new: Vec<_> =
            (0..100).map(|number| root.join(format!("m{number}/.git/config"))).collect();
        for path in &new {
            large(path);
            // The clock of a file system goes on in steps.
            while !is_later(path) {
                fs::remove_dir_all(path.parent().unwrap()).unwrap();
                large(path);
            }
        }
        let own = root.join(".git/config");
        large(&own);
        let paths: Vec<_> =
            new.iter().chain([&old, &own]).map(|path| (path.as_path(), root)).collect();
        let order: Vec<_> = places(&paths).into_iter().map(|place| place.path).collect();
        assert_eq!(order[..2], [root.join(".git"), root.join("z/.git")]);
    }
}
