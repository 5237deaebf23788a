//! The result of a scan, settled in path order: what counts, where the bound on entries is, and
//! which file comes first.

use std::collections::HashMap;

use moss_sdk::file::SkippedTexts;
use moss_sdk::ranking::RANKS;
use rustix::io::Errno;

use super::directory::{EntryRole, ScannedEntry, add};
use super::{DirectoryTask, ScanTerms, ScannedDirectory, ScannedFile, ScannedTree};
use crate::error::Error;
use crate::root::Workspace;

/// Goes over the directories of a scan in path order.
pub(super) struct ScanOrdering<'a> {
    workspace: &'a Workspace,
    terms: ScanTerms<'a>,
    directories: Vec<Option<ScannedDirectory>>,
    /// Directories that the scan did not come to, by their numbers.
    waiting: HashMap<u32, DirectoryTask>,
    ranked: [Vec<ScannedFile>; RANKS],
    skipped: SkippedTexts,
    truncated: bool,
    /// The directories from the first one down, each with the entry that is next.
    way: Vec<(u32, u32)>,
}

// === impl ScanOrdering ===

impl<'a> ScanOrdering<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        terms: ScanTerms<'a>,
        directories: Vec<Option<ScannedDirectory>>,
        waiting: HashMap<u32, DirectoryTask>,
    ) -> Self {
        Self {
            workspace,
            terms,
            directories,
            waiting,
            ranked: Default::default(),
            skipped: SkippedTexts::default(),
            truncated: false,
            way: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<ScannedTree, Error> {
        self.enter(0)?;
        let mut looked_at = 0;
        while let Some((number, entry)) = self.next() {
            if looked_at == self.terms.entries_max {
                self.truncated = true;
                break;
            }
            looked_at += 1;
            self.take(number, entry)?;
        }
        let Self { directories, ranked, skipped, truncated, .. } = self;
        Ok(ScannedTree { directories, files: ranked.concat(), skipped, truncated })
    }

    /// The next entry in path order: its directory and its number there.
    fn next(&mut self) -> Option<(u32, u32)> {
        loop {
            let (number, entry) = self.way.last_mut()?;
            let directory = self.directories[*number as usize].as_ref();
            let count = directory.map_or(0, |directory| directory.entries.len());
            if (*entry as usize) < count {
                *entry += 1;
                return Some((*number, *entry - 1));
            }
            self.way.pop();
        }
    }

    fn take(&mut self, directory: u32, entry: u32) -> Result<(), Error> {
        let holder = self.directories[directory as usize].as_ref().expect("it has an entry");
        let ScannedEntry { role, .. } = holder.entries[entry as usize];
        let SkippedTexts { ignored, denied, unapproved, unreadable, .. } = &mut self.skipped;
        match role {
            EntryRole::File(rank) => {
                self.ranked[rank as usize].push(ScannedFile { directory, entry });
            }
            EntryRole::Directory(number) => return self.enter(holder.beneath + number),
            EntryRole::Ignored => *ignored += 1,
            EntryRole::Denied => *denied += 1,
            EntryRole::Unapproved => *unapproved += 1,
            EntryRole::Unreadable => *unreadable += 1,
            EntryRole::Passed => {}
        }
        Ok(())
    }

    /// Continues with a directory; reads it where the scan did not come to it.
    fn enter(&mut self, number: u32) -> Result<(), Error> {
        if let Some(task) = self.waiting.remove(&number) {
            match self.workspace.scan_directory(task, self.terms) {
                Ok((mut found, beneath)) => {
                    found.beneath = add(&mut self.directories, beneath.len());
                    self.waiting.extend((found.beneath..).zip(beneath));
                    self.directories[number as usize] = Some(found);
                }
                Err(Errno::CANCELED) => return Err(Error::Cancelled),
                Err(_) => {}
            }
        }
        match &self.directories[number as usize] {
            Some(directory) => {
                self.skipped.unreadable += directory.unnameable;
                self.truncated |= directory.truncated;
                self.way.push((number, 0));
            }
            None => self.skipped.unreadable += 1,
        }
        Ok(())
    }
}
