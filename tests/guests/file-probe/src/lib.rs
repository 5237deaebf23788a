//! Uses the file system in every way that its arguments say, with nothing but the standard library,
//! and tells what came of it: the attacker of the tests.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};

use moss::guest::{is_cancelled, progress};
use moss::{Capability, ToolError};

moss::export! {
    tools: [file_probe],
    requests: [Capability::files(".", "reads what it is told to")],
}

/// What the guest is to try.
#[moss::data]
struct Probe {
    /// The steps: what to do and with which path, such as `read docs/a.md`.
    steps: Vec<String>,
}

/// Does each step and returns what came of it: `ok` with a text, or the number of the error.
#[moss::tool(title = "Probe files")]
fn file_probe(parameters: Probe) -> Result<Vec<String>, ToolError> {
    Ok(parameters.steps.iter().map(|step| told(run(step))).collect())
}

fn told(outcome: io::Result<String>) -> String {
    match outcome {
        Ok(text) => format!("ok {text}").trim_end().to_owned(),
        Err(error) => match error.raw_os_error() {
            Some(number) => format!("error {number}"),
            None => format!("error {error}"),
        },
    }
}

fn run(step: &str) -> io::Result<String> {
    let (action, path) = step.split_once(' ').unwrap_or((step, ""));
    let (first, second) = path.split_once(" to ").unwrap_or((path, "made"));
    let done = |()| String::new();
    match action {
        "read" => fs::read_to_string(path),
        "tail" => tail(path),
        "size" => fs::metadata(path).map(|metadata| metadata.len().to_string()),
        "kind" => fs::symlink_metadata(path).map(|metadata| kind(metadata.file_type())),
        "target" => fs::read_link(path).map(|target| target.display().to_string()),
        "list" => list(path),
        "count" => fs::read_dir(path).map(|entries| entries.count().to_string()),
        "write" => fs::write(path, "written").map(done),
        "append" => OpenOptions::new().append(true).open(path).map(|_| String::new()),
        "update" => OpenOptions::new().read(true).write(true).open(path).map(|_| String::new()),
        "create" => File::create_new(path).map(|_| String::new()),
        "truncate" => {
            OpenOptions::new().write(true).truncate(true).open(path).map(|_| String::new())
        }
        "shrink" => File::open(path)?.set_len(0).map(done),
        "touch" => File::open(path)?.set_modified(std::time::UNIX_EPOCH).map(done),
        "mkdir" => fs::create_dir(path).map(done),
        "unlink" => fs::remove_file(path).map(done),
        "rmdir" => fs::remove_dir(path).map(done),
        "rename" => fs::rename(first, second).map(done),
        "hardlink" => fs::hard_link(first, second).map(done),
        "hold" => hold(path),
        "wait" => wait(path),
        "replaced" => replaced(path),
        other => Err(io::Error::other(format!("no such step: {other}"))),
    }
}

fn kind(kind: fs::FileType) -> String {
    let known =
        [(kind.is_file(), "file"), (kind.is_dir(), "directory"), (kind.is_symlink(), "link")];
    known.into_iter().find(|(is, _)| *is).map_or("other", |(_, name)| name).to_owned()
}

fn list(path: &str) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join(" "))
}

/// The last bytes of a file, from the end.
fn tail(path: &str) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-4))?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a file ten thousand times without closing it.
fn hold(path: &str) -> io::Result<String> {
    let held = (0..10_000).map(|_| File::open(path)).collect::<io::Result<Vec<_>>>()?;
    Ok(held.len().to_string())
}

/// Says that it waits, and looks for a file until it is there.
fn wait(path: &str) -> io::Result<String> {
    progress("waiting", 0, None);
    while !is_cancelled() && !fs::exists(path)? {}
    Ok(String::new())
}

/// Opens a file, waits for `go`, reads what it opened.
fn replaced(path: &str) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut start = [0; 4];
    file.read_exact(&mut start)?;
    wait("go")?;
    let mut rest = String::new();
    file.read_to_string(&mut rest)?;
    Ok(format!("{}…{}", String::from_utf8_lossy(&start), &rest[rest.len() - 4..]))
}
