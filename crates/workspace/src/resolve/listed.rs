//! The name under which a directory lists a file, where its file system takes other names for the
//! same file: 8.3 names, another letter case, another composition of letters.
//!
//! The kernel reports the name that was asked for. Where a file system can have such aliases, each
//! name on a way is looked up by inode in its directory's listing, and only the listed name is
//! decided on. A name that the listing lacks is refused. Elsewhere this costs nothing.

use std::os::fd::OwnedFd;

use moss_sdk::RelPath;
use rustix::fs::Dir;
use rustix::io::{Errno, Result};
use unicode_normalization::UnicodeNormalization as _;

use crate::aliases::Aliases;
use crate::error::Error;
use crate::handle;
use crate::root::Workspace;
use crate::spelling::fold;

/// What a listing says of a name that was found.
#[derive(Debug, PartialEq, Eq)]
enum ListedName {
    /// It is listed under this name.
    As(String),
    /// It is listed under a name that is not text.
    Unnameable,
    /// It is not listed, or under several names.
    Missing,
    /// There are more names than are read.
    TooMany,
}

/// Finds the name under which entries list a file. A listed name is that of its file, whatever
/// inodes say.
fn pick(
    asked: &str,
    inode: u64,
    names_max: usize,
    entries: impl Iterator<Item = Result<(Vec<u8>, u64)>>,
) -> Result<ListedName> {
    let mut same: Vec<Vec<u8>> = Vec::new();
    for (count, entry) in entries.enumerate() {
        let (name, listed) = entry?;
        if name == asked.as_bytes() {
            return Ok(ListedName::As(asked.to_owned()));
        }
        if count == names_max {
            return Ok(ListedName::TooMany);
        }
        if listed == inode && name != b"." && name != b".." {
            same.push(name);
        }
    }
    // A file with several names in one directory: the one that is the same but for its spelling.
    if same.len() > 1 {
        let form = fold(asked);
        same.retain(|name| std::str::from_utf8(name).is_ok_and(|name| fold(name) == form));
    }
    Ok(match (same.pop(), same.is_empty()) {
        (Some(name), true) => {
            String::from_utf8(name).map_or(ListedName::Unnameable, ListedName::As)
        }
        _ => ListedName::Missing,
    })
}

/// Whether a directory finds the same file under another spelling of its name, as one does that ignores letter case.
#[cfg(target_os = "linux")]
fn has_other_spelling(directory: &OwnedFd, name: &str, inode: u64) -> bool {
    other_spellings(name).any(|other| {
        let found = handle::find_at(directory, &other).ok().flatten();
        found.is_some_and(|found| found.identity.inode == inode)
    })
}

/// Spellings that are one name where letter case, composition and what is not drawn are ignored.
#[cfg(target_os = "linux")]
fn other_spellings(name: &str) -> impl Iterator<Item = String> {
    let cases = [name.to_uppercase(), name.to_lowercase()];
    let others = [name.nfc().collect(), name.nfd().collect(), format!("{name}\u{ad}")];
    cases.into_iter().chain(others).filter(move |other| other != name)
}

// === impl Workspace ===

impl Workspace {
    /// Whether no file of the workspace has names that are not listed, which is known without
    /// looking at any.
    pub(crate) fn has_no_aliases(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.options.same_filesystem_only && self.aliases == Aliases::None;
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Whether a directory can have names that it does not list.
    pub(crate) fn has_aliases(&self, directory: &OwnedFd) -> bool {
        self.aliases_of(directory).are_in(directory)
    }

    fn aliases_of(&self, directory: &OwnedFd) -> Aliases {
        match self.options.same_filesystem_only {
            true => self.aliases,
            false => Aliases::of(directory),
        }
    }

    /// Whether every name on a real path is certain to be listed, which is known without reading a
    /// listing.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_surely_listed(&self, real: &RelPath) -> Result<bool> {
        if self.has_no_aliases() {
            return Ok(true);
        }
        let mut directory = handle::open_at(&self.directory, ".", handle::DIRECTORY)?;
        let mut names = real.components().peekable();
        while let Some(name) = names.next() {
            if self.has_aliases(&directory) {
                return Ok(false);
            }
            if names.peek().is_some() {
                directory = handle::open_at(&directory, name, handle::DIRECTORY)?;
            }
        }
        Ok(true)
    }

    /// The path by the names that the directories on it list; none where something on it changed
    /// meanwhile.
    #[cfg(target_os = "linux")]
    pub(crate) fn listed_path(
        &self,
        real: RelPath,
        path: &RelPath,
    ) -> std::result::Result<Option<RelPath>, Error> {
        if self.has_no_aliases() {
            return Ok(Some(real));
        }
        let failed = |errno| Error::io(path, "look at", errno);
        let mut listed = RelPath::root();
        let mut directory =
            handle::open_at(&self.directory, ".", handle::DIRECTORY).map_err(failed)?;
        for name in real.components() {
            // It is held while its name is looked for: some file systems number what is in use.
            let held = match handle::open_at(&directory, name, rustix::fs::OFlags::PATH) {
                Ok(held) => held,
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                Err(errno) => return Err(failed(errno)),
            };
            let inode = handle::stat(&held).map_err(failed)?.identity.inode;
            let name = self.listed_name(&directory, name, inode, path)?;
            listed = listed.join(&name)?;
            directory = held;
        }
        Ok(Some(listed))
    }

    /// The name under which a directory lists the file that was found in it under a name.
    ///
    /// # Errors
    ///
    /// `Alias` where it is not listed, `Unnameable` where its name is not text, `Limit`.
    pub(crate) fn listed_name(
        &self,
        directory: &OwnedFd,
        name: &str,
        inode: u64,
        path: &RelPath,
    ) -> std::result::Result<String, Error> {
        if self.has_no_aliases() || !self.has_aliases(directory) {
            return Ok(name.to_owned());
        }
        let failed = |errno| Error::io(path, "list the directory of", errno);
        let names_max = self.limits().directory_names_max;
        let readable = match handle::readable(directory) {
            // It may be searched and not listed: another spelling shows whether it ignores letter case.
            #[cfg(target_os = "linux")]
            Err(Errno::ACCESS) if self.aliases_of(directory) == Aliases::InFoldedDirectories => {
                return match has_other_spelling(directory, name, inode) {
                    true => Err(Error::Alias { path: path.clone(), name: name.to_owned() }),
                    false => Ok(name.to_owned()),
                };
            }
            readable => readable.map_err(failed)?,
        };
        let entries = Dir::read_from(readable).map_err(failed)?;
        let entries = entries.map(|entry| {
            let entry = entry?;
            Ok((entry.file_name().to_bytes().to_vec(), entry.ino()))
        });
        match pick(name, inode, names_max, entries).map_err(failed)? {
            ListedName::As(name) => Ok(name),
            ListedName::Unnameable => Err(Error::Unnameable { path: path.to_string() }),
            ListedName::Missing => Err(Error::Alias { path: path.clone(), name: name.to_owned() }),
            ListedName::TooMany => {
                let what = "names in one directory";
                Err(Error::Limit { what, max: names_max as u64 })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(asked: &str, inode: u64, entries: &[(&str, u64)]) -> ListedName {
        let entries = entries.iter().map(|(name, inode)| Ok((name.as_bytes().to_vec(), *inode)));
        pick(asked, inode, 8, entries).unwrap()
    }

    #[test]
    fn an_alias_has_the_name_that_its_directory_lists() {
        let short = [(".", 1), ("..", 9), (".env.production", 3), ("secret-files", 4), ("a", 5)];
        let is = |name: &str| ListedName::As(name.to_owned());
        assert_eq!(listed("ENV~1", 3, &short), is(".env.production"));
        assert_eq!(listed("SECRET~1", 4, &short), is("secret-files"));
        assert_eq!(listed("A", 5, &short), is("a"));
        assert_eq!(listed("a", 5, &short), is("a"));
        assert_eq!(listed("strasse", 3, &[("Straße", 3)]), is("Straße"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn every_name_has_another_spelling() {
        let of = |name| other_spellings(name).collect::<Vec<_>>();
        assert_eq!(of("Env"), ["ENV", "env", "Env\u{ad}"]);
        assert_eq!(of("12"), ["12\u{ad}"]);
        assert!(of("\u{e4}").contains(&"a\u{308}".to_owned()));
    }

    #[test]
    fn a_listed_name_is_its_own_whatever_inodes_say() {
        let entries = [("ENV~1", 7), ("secret", 7)];
        assert_eq!(listed("ENV~1", 3, &entries), ListedName::As("ENV~1".to_owned()));
    }

    #[test]
    fn a_name_that_no_listing_settles_is_refused() {
        assert_eq!(listed("ENV~1", 3, &[("a", 1), ("b", 2)]), ListedName::Missing);
        assert_eq!(listed("ENV~1", 3, &[]), ListedName::Missing);
        assert_eq!(listed("ENV~1", 1, &[(".", 1), ("..", 1)]), ListedName::Missing);
        // Two names of one file.
        assert_eq!(listed("ENV~1", 3, &[(".env", 3), ("shown", 3)]), ListedName::Missing);
        assert_eq!(listed("A", 3, &[("a", 3), ("b", 3)]), ListedName::As("a".to_owned()));
        let many: Vec<_> = (0..9).map(|inode| ("x", inode)).collect();
        assert_eq!(listed("ENV~1", 3, &many), ListedName::TooMany);
        let entries = [Ok((vec![0xff], 3))].into_iter();
        assert_eq!(pick("ENV~1", 3, 8, entries).unwrap(), ListedName::Unnameable);
    }
}
