//! A file system of our own, spoken to by the kernel: it finds files under more names than it lists,
//! as those of other systems do. It can only be read.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const READLINK: u32 = 5;
const OPEN: u32 = 14;
const READ: u32 = 15;
const STATFS: u32 = 17;
const RELEASE: u32 = 18;
const FLUSH: u32 = 25;
const INIT: u32 = 26;
const OPENDIR: u32 = 27;
const READDIR: u32 = 28;
const RELEASEDIR: u32 = 29;
const ACCESS: u32 = 34;
const INTERRUPT: u32 = 36;
const DESTROY: u32 = 38;
const BATCH_FORGET: u32 = 42;

const ROOT: u64 = 1;
const REQUEST_BYTES: usize = 1 << 20;
const HEADER_BYTES: usize = 40;
/// Never again without asking.
const FOREVER: u64 = 3600;
const NOT_FOUND: i32 = -2;
const NOT_KNOWN: i32 = -38;

/// What the mounted file system has under a name.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Directory(Vec<Entry>),
    File(&'static str),
    Link(&'static str),
}

/// A file in a directory.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The name that listings have; none where it is not listed.
    listed: Option<&'static str>,
    /// Names under which it is found as well.
    aliases: &'static [&'static str],
    node: Node,
}

/// The mounted file system; it goes when this is dropped.
pub(crate) struct Mounted {
    directory: TempDir,
}

/// A node with what the kernel knows it by: its number is its location here and one more.
struct Numbered {
    node: Node,
    /// Names in a directory, with the numbers of what they lead to.
    names: Vec<(Entry, u64)>,
}

pub(crate) fn entry(listed: &'static str, aliases: &'static [&'static str], node: Node) -> Entry {
    Entry { listed: Some(listed), aliases, node }
}

pub(crate) fn unlisted(aliases: &'static [&'static str], node: Node) -> Entry {
    Entry { listed: None, aliases, node }
}

// === impl Mounted ===

impl Mounted {
    /// Mounts a root; none, with a word on standard error, where this system does not let us.
    pub(crate) fn new(root: Vec<Entry>) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let lacks = |what: String| {
            crate::fixture::not_tested(&format!("a file system with aliases: {what}"));
            None
        };
        let device = match File::options().read(true).write(true).open("/dev/fuse") {
            Ok(device) => device,
            Err(error) => return lacks(format!("/dev/fuse cannot be opened: {error}")),
        };
        let options = "fd=0,rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other";
        let mounted = Command::new("mount")
            .args(["-i", "-t", "fuse", "-o", options, "aliases"])
            .arg(directory.path())
            .stdin(Stdio::from(device.try_clone().unwrap()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output();
        match mounted {
            Ok(mounted) if mounted.status.success() => {}
            Ok(mounted) => return lacks(String::from_utf8_lossy(&mounted.stderr).into_owned()),
            Err(error) => return lacks(format!("`mount` cannot be started: {error}")),
        }
        let mut nodes = Vec::new();
        number(Node::Directory(root), &mut nodes);
        // It ends when nobody holds the file system any more.
        std::thread::spawn(move || serve(device, &nodes));
        Some(Self { directory })
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.directory.path().to_owned()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(self.directory.path());
    }
}

/// Takes a file system away, also while it is in use.
pub(crate) fn unmount(directory: &Path) {
    let _ = Command::new("umount").arg("-l").arg(directory).status();
}

fn number(node: Node, nodes: &mut Vec<Numbered>) -> u64 {
    let place = nodes.len();
    let entries = match &node {
        Node::Directory(entries) => entries.clone(),
        Node::File(_) | Node::Link(_) => Vec::new(),
    };
    nodes.push(Numbered { node, names: Vec::new() });
    for entry in entries {
        let below = number(entry.node.clone(), nodes);
        nodes[place].names.push((entry, below));
    }
    place as u64 + ROOT
}

/// Answers the kernel until the file system is taken away.
fn serve(mut device: File, nodes: &[Numbered]) {
    let mut buffer = vec![0; REQUEST_BYTES];
    while let Ok(length) = device.read(&mut buffer) {
        let request = &buffer[..length];
        let opcode = u32_at(request, 4);
        if matches!(opcode, FORGET | BATCH_FORGET | INTERRUPT) {
            continue;
        }
        let (error, body) =
            match answer(nodes, opcode, u64_at(request, 16), &request[HEADER_BYTES..]) {
                Ok(body) => (0, body),
                Err(error) => (error, Vec::new()),
            };
        let mut reply = Vec::new();
        reply.extend((16 + body.len() as u32).to_le_bytes());
        reply.extend(error.to_le_bytes());
        reply.extend(u64_at(request, 8).to_le_bytes());
        reply.extend(body);
        if device.write_all(&reply).is_err() || opcode == DESTROY {
            return;
        }
    }
}

fn answer(nodes: &[Numbered], opcode: u32, inode: u64, body: &[u8]) -> Result<Vec<u8>, i32> {
    let node = |inode: u64| nodes.get((inode.wrapping_sub(ROOT)) as usize).ok_or(NOT_FOUND);
    match opcode {
        // Version 7.31, what the kernel offers is not taken, 128 KiB at a time.
        INIT => Ok(words(&[7, 31, 131_072, 0, 0, 131_072, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
        LOOKUP => {
            let name = body.split(|byte| *byte == 0).next().unwrap_or_default();
            let is_named = |(entry, _): &&(Entry, u64)| {
                let mut names = entry.listed.iter().chain(entry.aliases);
                names.any(|known| known.as_bytes() == name)
            };
            let (_, found) = node(inode)?.names.iter().find(is_named).ok_or(NOT_FOUND)?;
            let mut reply = Vec::new();
            for word in [*found, 0, FOREVER, FOREVER, 0] {
                reply.extend(word.to_le_bytes());
            }
            reply.extend(attributes(*found, node(*found)?));
            Ok(reply)
        }
        GETATTR => {
            let mut reply = Vec::new();
            reply.extend(FOREVER.to_le_bytes());
            reply.extend([0; 8]);
            reply.extend(attributes(inode, node(inode)?));
            Ok(reply)
        }
        READLINK => match node(inode)?.node {
            Node::Link(target) => Ok(target.as_bytes().to_vec()),
            _ => Err(NOT_FOUND),
        },
        OPEN | OPENDIR => Ok(vec![0; 16]),
        READ => {
            let Node::File(text) = node(inode)?.node else { return Err(NOT_FOUND) };
            let offset = (u64_at(body, 8) as usize).min(text.len());
            let end = (offset + u32_at(body, 16) as usize).min(text.len());
            Ok(text.as_bytes()[offset..end].to_vec())
        }
        READDIR => Ok(listing(node(inode)?, u64_at(body, 8), u32_at(body, 16) as usize)),
        STATFS => Ok(vec![0; 80]),
        RELEASE | RELEASEDIR | FLUSH | ACCESS | DESTROY => Ok(Vec::new()),
        _ => Err(NOT_KNOWN),
    }
}

fn attributes(inode: u64, numbered: &Numbered) -> Vec<u8> {
    let (mode, size) = match numbered.node {
        Node::Directory(_) => (0o040_755, 0),
        Node::File(text) => (0o100_644, text.len() as u64),
        Node::Link(target) => (0o120_777, target.len() as u64),
    };
    let mut attributes = Vec::new();
    for word in [inode, size, 0, 0, 0, 0] {
        attributes.extend(word.to_le_bytes());
    }
    attributes.extend(words(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0]));
    attributes
}

fn listing(numbered: &Numbered, offset: u64, bytes_max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let listed = numbered.names.iter().filter_map(|(entry, inode)| Some((entry.listed?, *inode)));
    for (place, (name, inode)) in (1..).zip(listed).skip(offset as usize) {
        let mut one = Vec::new();
        one.extend(inode.to_le_bytes());
        one.extend(u64::to_le_bytes(place));
        one.extend((name.len() as u32).to_le_bytes());
        one.extend([0; 4]);
        one.extend(name.as_bytes());
        one.resize(one.len().next_multiple_of(8), 0);
        if bytes.len() + one.len() > bytes_max {
            break;
        }
        bytes.extend(one);
    }
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}
