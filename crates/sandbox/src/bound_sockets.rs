//! The Unix sockets of the machine that have a path. To connect to one takes no right to write and no
//! network: whoever sees it reaches it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// Where the kernel lists those of this network namespace.
const TABLE: &str = "/proc/net/unix";
/// Most bytes of that: some 500,000 sockets, connections among them.
const TABLE_BYTES_MAX: u64 = 64 << 20;
/// How many numbers stand before a path.
const NUMBERS: usize = 7;

/// The paths of sockets, as they were named when they were made.
#[derive(Debug, Default)]
pub(crate) struct BoundSockets(BTreeSet<PathBuf>);

/// Sockets that a thread reads while others work: the kernel takes a while to list many.
#[derive(Debug)]
pub(crate) struct PendingSockets(Option<JoinHandle<io::Result<BoundSockets>>>);

// === impl PendingSockets ===

impl PendingSockets {
    /// Begins to read them, where that is wanted.
    pub(crate) fn begin(is_wanted: bool) -> Self {
        Self(is_wanted.then(|| std::thread::spawn(BoundSockets::read)))
    }

    /// Waits until they are read; there are none where that is not wanted.
    pub(crate) fn wait(self) -> io::Result<BoundSockets> {
        let failed = |_| io::Error::other(format!("the thread that reads {TABLE} failed"));
        self.0.map_or_else(|| Ok(BoundSockets::default()), |read| read.join().map_err(failed)?)
    }
}

// === impl BoundSockets ===

impl BoundSockets {
    /// Reads them all: where that cannot be done nobody knows what a command would reach.
    fn read() -> io::Result<Self> {
        let failed = |error: io::Error| {
            io::Error::new(error.kind(), format!("{TABLE} cannot be read: {error}"))
        };
        let table = File::open(TABLE).map_err(failed)?;
        Self::parse(BufReader::with_capacity(64 << 10, table)).map_err(failed)
    }

    fn parse(table: impl BufRead) -> io::Result<Self> {
        let mut table = table.take(TABLE_BYTES_MAX);
        let mut found = BTreeSet::new();
        let (mut line, mut path) = (Vec::new(), Vec::new());
        while table.read_until(b'\n', &mut line)? > 0 {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if let Some(named) = after_numbers(text) {
                add(&mut found, &path);
                path.clear();
                path.extend_from_slice(named);
            } else if !path.is_empty() {
                // A path may have line breaks.
                path.push(b'\n');
                path.extend_from_slice(text);
            }
            line.clear();
        }
        add(&mut found, &path);
        if table.limit() == 0 {
            return Err(io::Error::other("there are too many Unix sockets"));
        }
        Ok(Self(found))
    }

    /// Those that are there now, by their real paths, of which this says whether they matter.
    pub(crate) fn present(self, matters: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let mut parents: HashMap<&Path, Option<PathBuf>> = HashMap::new();
        let mut found = Vec::new();
        for path in &self.0 {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let real = parents.entry(parent).or_insert_with(|| fs::canonicalize(parent).ok());
            let Some(real) = real.as_ref().map(|real| real.join(name)) else { continue };
            // Of another root directory, or renamed since: something else may have the name.
            if matters(&real) && is_socket(&real) {
                found.push(real);
            }
        }
        found
    }
}

/// Whether a path is that of a socket.
pub(crate) fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket())
}

fn add(found: &mut BTreeSet<PathBuf>, path: &[u8]) {
    // Others are names of no file, or were given from a directory that is not known.
    if path.starts_with(b"/") && !found.contains(Path::new(OsStr::from_bytes(path))) {
        found.insert(PathBuf::from(OsStr::from_bytes(path)));
    }
}

/// What stands behind the numbers of a line; none where it does not begin with them.
fn after_numbers(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line;
    for place in 0..NUMBERS {
        rest = rest.trim_ascii_start();
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        // The first one may be hidden.
        let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_hexdigit);
        if !is_number && (place > 0 || !number.ends_with(b":")) {
            return None;
        }
        rest = behind;
    }
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixDatagram, UnixListener};

    use super::*;

    #[test]
    fn paths_are_read_whatever_characters_they_have() {
        let table: &[u8] = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            ffff8880045cb000: 00000002 00000000 00010000 0001 01  1234 /run/a\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 91234 /run/a\n\
            00000000045cb000: 00000003 00000000 00000000 0001 03 91234\n\
            (____ptrval____): 00000002 00000000 00010000 0005 01   234 /two blanks \n\
            00000000045cb000: 00000002 00000000 00010000 0001 01     4 /run/line\nbreak\n\n\
            00000000045cb000: 00000002 00000000 00010000 0001 01     5 @/tmp/.X11-unix/X0\n\
            00000000045cb000: 00000002 00000000 00010000 0001 01     6 relative\n\
            00000000045cb000: 00000002 00000000 00010000 0001 01     7 /no text \xff\n";
        let found = BoundSockets::parse(table).unwrap().0;
        let text = |path: &Path| path.as_os_str().as_bytes().to_owned();
        let found: Vec<_> = found.iter().map(|path| text(path)).collect();
        let expected: [&[u8]; 4] =
            [b"/no text \xff", b"/run/a", b"/run/line\nbreak\n", b"/two blanks "];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_table_without_an_end_is_refused() {
        let line = b"00000000045cb000: 00000003 00000000 00000000 0001 03 91234\n";
        let endless = BufReader::new(io::Cursor::new(line.repeat(2 << 20)));
        assert!(BoundSockets::parse(endless).is_err());
    }

    #[test]
    fn sockets_are_found_by_their_real_paths_and_nothing_else_is() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        let _listener = UnixListener::bind(root.join("link/one socket")).unwrap();
        let _datagrams = UnixDatagram::bind(root.join("real/two")).unwrap();
        let _moved = UnixListener::bind(root.join("real/moved")).unwrap();
        let gone = UnixListener::bind(root.join("real/gone")).unwrap();
        fs::rename(root.join("real/moved"), root.join("real/elsewhere")).unwrap();
        fs::write(root.join("real/moved"), "a file\n").unwrap();
        fs::remove_file(root.join("real/gone")).unwrap();
        let found = BoundSockets::read().unwrap().present(|path| path.starts_with(&root));
        drop(gone);
        assert_eq!(found, [root.join("real/one socket"), root.join("real/two")]);
    }
}
