//! What commands wrote, whole, where a result has no room for it: files in the directory `artifacts`
//! of the state directory of a workspace. Who made one, and approvers, may read it.
//!
//! A file is at most [`ARTIFACT_BYTES_MAX`] long and all together take at most [`TOTAL_BYTES_MAX`], those that are
//! being written counted as if they were full: the oldest of the others go first. None takes the last [`FREE_BYTES_MIN`] of its disk, which history and journal need.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use moss_sdk::file::{FileLines, Line, LineEnding, LineWindow, Lines, TextForm};
use moss_sdk::{ContentHash, ErrorCode, ToolError};
use moss_workspace::own::{OwnAppender, OwnDir, OwnFile};

use moss_dispatch::{Caller, Role};

/// Most bytes of one file.
pub const ARTIFACT_BYTES_MAX: u64 = 64 << 20;
/// Most bytes of all files of a workspace.
pub const TOTAL_BYTES_MAX: u64 = 1 << 30;
/// Bytes of the disk that no artifact takes, so that edits go on to be recorded.
pub const FREE_BYTES_MIN: u64 = 32 << 20;
/// How a path begins that names one.
pub const SCHEME: &str = "artifact:";

/// Most files of one list.
const LISTED_MAX: usize = 100;
const DIRECTORY: &str = "artifacts";
/// Hexadecimal digits of the hash of a name of a credential, in names of files.
const OWNER_DIGITS: usize = 16;

/// The files of a workspace.
#[derive(Debug)]
pub struct Artifacts {
    directory: OwnDir,
    bounds: ArtifactBounds,
    being_written: BeingWritten,
}

/// How much files take at most.
#[derive(Debug, Clone, Copy)]
struct ArtifactBounds {
    each_bytes: u64,
    total_bytes: u64,
}

/// The names of files that are being written: they stay, and have room to grow.
#[derive(Debug, Clone, Default)]
struct BeingWritten(Arc<Mutex<BTreeSet<String>>>);

/// One that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedArtifact {
    /// The path under which it is read.
    pub path: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When it was written last.
    pub modified: SystemTime,
}

/// One that is being written.
#[derive(Debug)]
pub struct ArtifactWriter {
    /// The path under which it is read.
    pub path: String,
    name: String,
    being_written: BeingWritten,
    file: OwnAppender,
    bytes: u64,
    bytes_max: u64,
    /// Why it has only the first part of what came.
    cut: Option<ArtifactCut>,
}

/// What ended an artifact before its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArtifactCut {
    Limit,
    Disk,
    Write(std::io::ErrorKind),
}

/// The part of a file's name that says who may read it.
fn owner(caller: &str) -> String {
    blake3::hash(caller.as_bytes()).to_hex()[..OWNER_DIGITS].to_owned()
}

/// Returns a window of the lines of an output. What is no UTF-8 is replaced.
pub fn lines(bytes: &[u8], window: LineWindow) -> FileLines {
    let text = String::from_utf8_lossy(bytes);
    let start = usize::try_from(window.start.saturating_sub(1)).unwrap_or(usize::MAX);
    let mut room = window.bytes_max;
    let mut lines = Lines::default();
    for line in text.lines().skip(start).take(window.lines_max) {
        let shown = &line[..line.floor_char_boundary(window.line_bytes_max)];
        if shown.len() > room {
            break;
        }
        room -= shown.len();
        lines.push(Line { text: shown, bytes_cut: (line.len() - shown.len()) as u64 });
    }
    FileLines {
        hash: ContentHash::from_bytes(blake3::hash(bytes).into()),
        size_bytes: bytes.len() as u64,
        form: TextForm {
            encoding: "UTF-8".to_owned(),
            bom: false,
            line_ending: LineEnding::Lf,
            final_newline: text.ends_with('\n'),
        },
        lines_total: text.lines().count() as u64,
        lines,
        unsaved: false,
    }
}

// === impl Artifacts ===

impl Artifacts {
    /// Opens the files in a state directory, which must exist.
    ///
    /// # Errors
    ///
    /// Where the directory is not the user's own.
    pub fn open(state: &Path) -> Result<Self, moss_workspace::Error> {
        let (each_bytes, total_bytes) = (ARTIFACT_BYTES_MAX, TOTAL_BYTES_MAX);
        Self::with_bounds(state, ArtifactBounds { each_bytes, total_bytes })
    }

    fn with_bounds(state: &Path, bounds: ArtifactBounds) -> Result<Self, moss_workspace::Error> {
        let directory = OwnDir::create(&state.join(DIRECTORY))?;
        Ok(Self { directory, bounds, being_written: BeingWritten::default() })
    }

    /// Makes a file for a caller, and room for it. Waits for the disk.
    ///
    /// # Errors
    ///
    /// `Io`; `LimitExceeded` where those that are being written take all the room.
    pub fn begin(&self, caller: &str) -> Result<ArtifactWriter, ToolError> {
        let id = crate::ids::random();
        let name = format!("{id}-{}", owner(caller));
        let mut being_written = self.being_written.lock();
        self.make_room(&being_written)?;
        let file = self.directory.appender(&name)?;
        being_written.insert(name.clone());
        drop(being_written);
        Ok(ArtifactWriter {
            path: format!("{SCHEME}{id}"),
            name,
            being_written: self.being_written.clone(),
            file,
            bytes: 0,
            bytes_max: self.bounds.each_bytes,
            cut: None,
        })
    }

    /// Removes the oldest files until one more fits. What is being written counts as if it were full, and stays.
    fn make_room(&self, being_written: &BTreeSet<String>) -> Result<(), ToolError> {
        let ArtifactBounds { each_bytes, total_bytes } = self.bounds;
        let mut files = self.directory.files()?;
        files.retain(|file| !being_written.contains(&file.name));
        files.sort_by_key(|file| file.modified);
        let reserved = each_bytes.saturating_mul(being_written.len() as u64 + 1);
        if reserved > total_bytes {
            let count = being_written.len();
            let message = format!("{count} commands that run now write as much as may be kept");
            return Err(ToolError::new(ErrorCode::LimitExceeded, message));
        }
        let mut total: u64 = files.iter().map(|file| file.size_bytes).sum();
        for OwnFile { name, size_bytes, .. } in files {
            if total + reserved <= total_bytes {
                break;
            }
            self.directory.remove(&name)?;
            total -= size_bytes;
        }
        Ok(())
    }

    /// Lists those that a caller may read, the newest first, up to 100. Waits for the disk.
    ///
    /// # Errors
    ///
    /// `Io`.
    pub fn list(&self, caller: &Caller) -> Result<Vec<ListedArtifact>, moss_workspace::Error> {
        let (own, sees_all) = (owner(caller.name()), caller.role() == Role::Approver);
        let mut files = self.directory.files()?;
        files.sort_by_key(|file| std::cmp::Reverse(file.modified));
        let listed = files.into_iter().filter_map(|OwnFile { name, size_bytes, modified }| {
            let (id, of) = name.split_once('-')?;
            let path = format!("{SCHEME}{id}");
            (sees_all || of == own).then_some(ListedArtifact { path, size_bytes, modified })
        });
        Ok(listed.take(LISTED_MAX).collect())
    }

    /// Reads one whole. Waits for the disk.
    ///
    /// # Errors
    ///
    /// `NotFound` also where it is somebody else's.
    pub fn read(&self, path: &str, caller: &Caller) -> Result<Vec<u8>, ToolError> {
        let missing = || {
            ToolError::new(
                ErrorCode::NotFound,
                format!("{path}: there is no such output of a command"),
            )
            .hint("outputs are kept until newer ones need the room; run the command again")
        };
        let id = path.strip_prefix(SCHEME).ok_or_else(missing)?;
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let files = self.directory.files()?;
        let found = files.iter().filter(|_| is_id).find(|file| file.name.starts_with(id));
        let file = found.ok_or_else(missing)?;
        let is_theirs = file.name.ends_with(&format!("-{}", owner(caller.name())));
        if !is_theirs && caller.role() != Role::Approver {
            return Err(missing());
        }
        self.directory.read(&file.name, ARTIFACT_BYTES_MAX)?.ok_or_else(missing)
    }
}

// === impl ArtifactWriter ===

impl ArtifactWriter {
    /// Writes what came, as far as there is room. Waits for the disk.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.cut.is_some() {
            return;
        }
        let room = usize::try_from(self.bytes_max - self.bytes).unwrap_or(usize::MAX);
        let part = &bytes[..bytes.len().min(room)];
        let needed = FREE_BYTES_MIN + part.len() as u64;
        if self.file.free_bytes().is_some_and(|free| free < needed) {
            self.cut = Some(ArtifactCut::Disk);
            return;
        }
        self.cut = match self.file.write_all(part) {
            Err(error) => Some(ArtifactCut::Write(error.kind())),
            Ok(()) => {
                self.bytes += part.len() as u64;
                (part.len() < bytes.len()).then_some(ArtifactCut::Limit)
            }
        };
    }

    /// Says what is missing and why, where it has not all that came.
    pub fn missing(&self) -> Option<String> {
        let reason = match self.cut? {
            ArtifactCut::Limit => format!("it is full with {} MiB", self.bytes_max >> 20),
            ArtifactCut::Disk => {
                format!("the disk of moss's state has less than {} MiB left", FREE_BYTES_MIN >> 20)
            }
            ArtifactCut::Write(kind) => format!("it cannot be written: {kind}"),
        };
        Some(format!("the artifact has only the first part of the output: {reason}"))
    }
}

impl Drop for ArtifactWriter {
    fn drop(&mut self) {
        self.being_written.lock().remove(&self.name);
    }
}

// === impl BeingWritten ===

impl BeingWritten {
    fn lock(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_read_by_who_made_it_and_by_approvers() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::open(state.path()).unwrap();
        let mut writer = artifacts.begin("caller").unwrap();
        writer.push(b"one\n");
        writer.push(b"two\n");
        assert_eq!(writer.missing(), None);
        let (caller, approver) = (Caller::from(Role::Caller), Caller::from(Role::Approver));
        for reader in [&caller, &approver] {
            assert_eq!(artifacts.read(&writer.path, reader).unwrap(), b"one\ntwo\n");
        }
        let other = artifacts.begin("other").unwrap();
        let refused = artifacts.read(&other.path, &caller).unwrap_err();
        assert_eq!(refused.code, ErrorCode::NotFound);
        assert_eq!(artifacts.read(&other.path, &approver).unwrap(), b"");
        let listed = |reader| {
            let listed = artifacts.list(reader).unwrap();
            listed.into_iter().map(|one| (one.path, one.size_bytes)).collect::<Vec<_>>()
        };
        assert_eq!(listed(&caller), [(writer.path.clone(), 8)]);
        assert_eq!(listed(&approver).len(), 2);
        for wrong in ["artifact:", "artifact:../x", "artifact:0", "src/a"] {
            assert!(artifacts.read(wrong, &approver).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_output_ends_where_its_room_does() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = Artifacts::open(state.path()).unwrap();
        let mut writer = artifacts.begin("caller").unwrap();
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..65 {
            writer.push(&chunk);
        }
        let missing = writer.missing().unwrap();
        assert!(missing.contains("full with 64 MiB"), "{missing}");
        let size = artifacts.directory.files().unwrap()[0].size_bytes;
        assert_eq!(size, ARTIFACT_BYTES_MAX);
    }

    /// Artifacts of at most 10 bytes, 30 bytes together.
    fn small(state: &Path) -> Artifacts {
        Artifacts::with_bounds(state, ArtifactBounds { each_bytes: 10, total_bytes: 30 }).unwrap()
    }

    fn written(artifacts: &Artifacts, bytes: &[u8]) -> String {
        let mut writer = artifacts.begin("caller").unwrap();
        writer.push(bytes);
        writer.path.clone()
    }

    /// The paths of those that are there, and how many bytes they take.
    fn kept(artifacts: &Artifacts) -> (BTreeSet<String>, u64) {
        let listed = artifacts.list(&Caller::from(Role::Approver)).unwrap();
        let bytes = listed.iter().map(|one| one.size_bytes).sum();
        (listed.into_iter().map(|one| one.path).collect(), bytes)
    }

    /// Gives the files of a directory times in the order of a list of paths.
    #[expect(clippy::disallowed_methods, reason = "a test sets what no artifact has set")]
    fn in_order(artifacts: &Artifacts, state: &Path, paths: &[&String]) {
        for (place, path) in paths.iter().enumerate() {
            let id = path.strip_prefix(SCHEME).unwrap();
            let files = artifacts.directory.files().unwrap();
            let name = &files.iter().find(|file| file.name.starts_with(id)).unwrap().name;
            let file = std::fs::File::options()
                .append(true)
                .open(state.join(DIRECTORY).join(name))
                .unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1 + place as u64);
            file.set_modified(time).unwrap();
        }
    }

    #[test]
    fn the_oldest_go_first_where_all_together_would_be_too_long() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = small(state.path());
        let [first, second, third] =
            [b"12345678", b"abcdefgh", b"ABCDEFGH"].map(|bytes| written(&artifacts, bytes));
        in_order(&artifacts, state.path(), &[&second, &third, &first]);
        let fourth = written(&artifacts, b"x");
        assert_eq!(kept(&artifacts), (BTreeSet::from([third, first, fourth]), 17));
    }

    #[test]
    fn what_is_being_written_stays_and_all_together_keep_to_their_bound() {
        let state = tempfile::tempdir().unwrap();
        let artifacts = small(state.path());
        let old = written(&artifacts, b"old");
        let mut writers: Vec<_> = (0..3).map(|_| artifacts.begin("caller").unwrap()).collect();
        let refused = artifacts.begin("caller").unwrap_err();
        assert_eq!(refused.code, ErrorCode::LimitExceeded);
        assert!(!kept(&artifacts).0.contains(&old));
        writers.iter_mut().for_each(|writer| writer.push(&[b'x'; 50]));
        let paths: BTreeSet<_> = writers.iter().map(|writer| writer.path.clone()).collect();
        assert_eq!(kept(&artifacts), (paths, 30));
        let ended = writers.pop().unwrap().path.clone();
        let next = artifacts.begin("caller").unwrap();
        let (kept, bytes) = kept(&artifacts);
        assert!(!kept.contains(&ended) && kept.contains(&next.path) && bytes == 20);
        drop(writers);
    }
}
