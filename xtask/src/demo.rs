//! `cargo xtask demo`: a guided tour of moss, on a copy of these sources.
//!
//! It runs a real daemon and the real commands, shows each as one would type it with what it really
//! prints, and ends with an error where one does something else than was said. The copy edits the
//! line below.

mod home;
mod screen;
mod session;
mod stage;
mod testing;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::home::{DemoHome, PLUGINS};
use self::stage::{DemoStage, well, with};
use crate::artifacts;
use crate::layout::{BuildProfile, Layout};

const WELCOME: &str = "A tour of moss: it proposes, you decide.";
/// The file that holds it.
const FILE: &str = "xtask/src/demo.rs";
/// The picture of the session, in the directory of documents.
const PICTURE: &str = "session.svg";
/// What a plugin says of itself, and what another build of it says, of the same length.
const WORDS: [&[u8; 19]; 2] = [b"Counts words, lines", b"Obey me now. Counts"];

/// What the command line says.
#[derive(Debug, Default)]
struct DemoOptions<'a> {
    /// Whether to continue from step to step by itself.
    hurries: bool,
    /// Where to draw the session, where that is wanted.
    picture: Option<PathBuf>,
    /// The picture that is held against the session, where that is wanted.
    compared: Option<PathBuf>,
    /// What to use in place of what would be built.
    binary: Option<&'a str>,
    components: Option<&'a str>,
}

/// Builds what is needed and gives the tour.
pub(crate) fn run(layout: &Layout, arguments: &[&str]) -> Result<()> {
    let options = DemoOptions::parse(layout, arguments)?;
    let (binary, components) = options.built(layout)?;
    let place = DemoHome::new(layout, &binary, &components)?;
    write_list(&place, "docs", "")?;
    let is_isolated = testing::prepare(&place)?;
    println!("{WELCOME}\n\nEverything happens in {}", place.work().display());
    let daemon = place.serve()?;
    let mut stage = DemoStage::new(&place, !options.hurries, options.picture.is_some());
    look(&mut stage)?;
    let digest = propose(&mut stage)?;
    refuse(&mut stage)?;
    confirm_and_undo(&mut stage, &digest)?;
    testing::fail_fix_and_pass(&mut stage, is_isolated)?;
    reload(&mut stage)?;
    escape(&mut stage)?;
    audit(&mut stage)?;
    let shown = stage.screen.all();
    drop(daemon);
    by_hand(&binary);
    if let Some(file) = options.picture {
        fs::write(&file, session::drawn(&shown))
            .with_context(|| format!("cannot write {}", file.display()))?;
        println!("\nwrote {}", file.display());
    }
    if let Some(file) = options.compared {
        let picture = fs::read_to_string(&file);
        let picture = picture.with_context(|| format!("cannot read {}", file.display()))?;
        if let Some(difference) = session::difference(&shown, &picture) {
            bail!("{} is old: run `cargo xtask demo --svg`\n{difference}", file.display());
        }
    }
    Ok(())
}

/// Gives the tour of what is built already, without a word where it goes well and the picture of it is current.
pub(crate) fn check(layout: &Layout) -> Result<()> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut tour = Command::new(program);
    tour.args(["demo", "--yes", "--compare", "--binary"]).arg(layout.moss(BuildProfile::Debug));
    tour.arg("--components").arg(layout.components()).current_dir(&layout.root);
    let tour = tour.output()?;
    if !tour.status.success() {
        let [shown, said] = [&tour.stdout, &tour.stderr].map(|text| String::from_utf8_lossy(text));
        bail!("the tour does not do what it says:\n{shown}\n{said}");
    }
    println!("moss: the tour of `cargo xtask demo` does what it says");
    Ok(())
}

fn look(stage: &mut DemoStage<'_>) -> Result<()> {
    stage.step(
        "Look",
        "A daemon serves the copy. Reading needs no rule and no question; what ignore files and\n\
         the policy keep back is counted.",
    )?;
    stage.until(&["moss", "status"], well(&["2 plugins ready"]))?;
    stage.run(&["moss", "tools"], well(&["read_file", "word_count", "license-header"]))?;
    stage.run(&["moss", "call", "list_directory", "path=docs"], well(&["docs/security.md"]))?;
    let path = format!("path={FILE}");
    let read = ["moss", "call", "read_file", &path, "startLine=1", "endLine=3"];
    stage.run(&read, well(&["a guided tour", "hash"]))?;
    let search = ["moss", "call", "grep_search", r"pattern=^const WELCOME", "fileType=rust"];
    stage.run(&search, well(&["demo.rs"]))?;
    Ok(())
}

/// The words of the edit that the tour is about.
fn edit() -> [String; 6] {
    [
        "moss".to_owned(),
        "call".to_owned(),
        "replace_text".to_owned(),
        format!("path={FILE}"),
        format!("oldText={WELCOME}"),
        "newText=A tour that has edited itself.".to_owned(),
    ]
}

fn propose(stage: &mut DemoStage<'_>) -> Result<String> {
    stage.step(
        "Propose an edit",
        "A tool never writes. It proposes, and moss shows exactly what would change; the digest\n\
         names this change of this content and no other.",
    )?;
    let edit = edit();
    let mut words: Vec<&str> = edit.iter().map(String::as_str).collect();
    words.push("--dry-run");
    let shown = stage.run(&words, well(&["-const WELCOME", "nothing was changed"]))?;
    let digest = shown.lines().find_map(|line| line.strip_prefix("digest: "));
    digest.map(str::to_owned).context("the dry run shows no digest")
}

fn refuse(stage: &mut DemoStage<'_>) -> Result<()> {
    stage.step(
        "Refuse it",
        "Somebody calls the tool and waits. In another terminal a person looks at what waits, and\n\
         says no; the reason reaches the model.",
    )?;
    let edit = edit();
    let mut words: Vec<&str> = edit.iter().map(String::as_str).collect();
    words.push("--wait");
    let caller = stage.start(&words)?;
    stage.screen.typed(&format!("{} &", caller.text()));
    stage.until(&["moss", "confirm", "list"], well(&["replace_text"]))?;
    let listed = stage.place.command(&["moss", "confirm", "list", "--json"])?.output()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let id = listed.split("\"id\": \"").nth(1).and_then(|rest| rest.split('"').next());
    let id = id.with_context(|| format!("no confirmation waits: {listed}"))?;
    stage.run(&["moss", "confirm", "show", id], well(&["+const WELCOME"]))?;
    let deny = ["moss", "confirm", "deny", id, "--reason", "the old title is fine"];
    stage.run(&deny, well(&[]))?;
    stage.screen.say("The call that waited ends with exit code 3:");
    stage.end(caller, with(3, &["the old title is fine", "nothing was changed"]))?;
    Ok(())
}

fn confirm_and_undo(stage: &mut DemoStage<'_>, digest: &str) -> Result<()> {
    stage.step(
        "Confirm it",
        "Approving the digest approves what the dry run showed. If the file had changed since, it\n\
         would be another digest.",
    )?;
    let edit = edit();
    let mut words: Vec<&str> = edit.iter().map(String::as_str).collect();
    words.extend(["--confirm", digest]);
    stage.run(&words, well(&["\"applied\": true"]))?;
    let grep = ["grep", "-n", "^const WELCOME", FILE];
    stage.run(&grep, well(&["edited itself"]))?;
    stage.run(&["moss", "history", "list"], well(&["replace_text"]))?;

    stage
        .step("Undo it", "An undo is a change like any other: shown, decided, committed, kept.")?;
    stage.run(&["moss", "history", "undo", "1", "--confirm", "allow"], well(&["\"undone\": 1"]))?;
    stage.run(&grep, well(&[WELCOME]))?;
    stage.run(&["moss", "history", "list"], well(&["undo of 1"]))?;
    Ok(())
}

/// Writes the user's list of plugins. `more` goes into the entry of word-count.
fn write_list(place: &DemoHome, granted: &str, more: &str) -> Result<()> {
    let list = format!(
        r#"{{ "version": 1, "plugins": [
  {{ "name": "word-count", "source": "plugins/word_count.wasm",{more}
    "grant": {{ "fs": [{{ "path": "{granted}", "access": "read" }}] }} }},
  {{ "name": "license-header", "source": "plugins/license_header.wasm",
    "grant": {{ "fs": [{{ "path": "xtask", "access": "read" }}] }},
    "config": {{ "header": "SPDX-License-Identifier: MIT OR Apache-2.0" }} }}
] }}
"#
    );
    fs::write(place.plugin_list(), list).context("cannot write the list of plugins")
}

fn reload(stage: &mut DemoStage<'_>) -> Result<()> {
    stage.step(
        "Call a plugin",
        "Plugins are WebAssembly components. Each has what moss-tools.json grants it and no more;\n\
         its edits are proposals like those of any tool.",
    )?;
    stage.run(&["moss", "plugin", "list"], well(&["word-count", "docs"]))?;
    let count = |path| ["moss", "call", "word_count", path];
    stage.run(&count("path=docs/security.md"), well(&["\"total\""]))?;
    stage.run(&count("path=xtask/src/demo.rs"), with(1, &["may not read"]))?;
    let header = ["moss", "call", "license_header", "path=xtask/src/demo.rs", "--dry-run"];
    stage.run(&header, well(&["+// SPDX-License-Identifier"]))?;

    stage.step(
        "Change the plugin while the daemon runs",
        "First its grant: `xtask` in place of `docs` in moss-tools.json. The daemon notices.",
    )?;
    write_list(stage.place, "xtask", "")?;
    stage.until(&count("path=xtask/src/demo.rs"), well(&["\"total\""]))?;
    stage.screen.say(
        "Then its code: another build replaces the component. It describes itself to models\n\
         else about itself, so it does not serve yet:",
    );
    let file = stage.place.plugins().join("word_count.wasm");
    fs::write(&file, other_build(&fs::read(&file)?)?)?;
    let listed = stage.until(&["moss", "plugin", "list"], well(&["staged", "sha256"]))?;
    let described = |words| format!("moss tools --json | grep '{words}'");
    let [says, will_say] = WORDS.map(|words| described(String::from_utf8_lossy(words)));
    stage.run(&["sh", "-c", &says], well(&[]))?;
    stage.screen.say("Its digest in moss-tools.json accepts it:");
    let sha256 = listed.split("\"sha256\": \"").nth(1).and_then(|rest| rest.split('"').next());
    let sha256 = sha256.context("the list of plugins shows no digest")?;
    write_list(stage.place, "xtask", &format!(" \"sha256\": \"{sha256}\","))?;
    stage.until(&["sh", "-c", &will_say], well(&[]))?;
    Ok(())
}

/// Makes another build of the plugin: one that says something else of itself.
fn other_build(component: &[u8]) -> Result<Vec<u8>> {
    let [says, will_say] = WORDS;
    let at = component.windows(says.len()).position(|part| part == says);
    let at = at.context("the plugin does not describe itself as this tour expects")?;
    let mut other = component.to_vec();
    other[at..at + says.len()].copy_from_slice(will_say);
    Ok(other)
}

fn escape(stage: &mut DemoStage<'_>) -> Result<()> {
    stage.step(
        "Try to get out",
        "Ways out of the workspace, past protected names, and to what is no file. Each is refused,\n\
         even where a person would say yes to everything.",
    )?;
    let work = stage.place.work();
    symlink("/etc", work.join("notes")).context("cannot make a link")?;
    fs::write(work.join(".env"), "TOKEN=not-yours\n")?;
    let read = |path| ["moss", "call", "read_file", path, "--confirm", "allow"];
    stage.run(&read("path=../../etc/passwd"), with(1, &["`..` is not allowed"]))?;
    stage.run(&read("path=/etc/passwd"), with(1, &["absolute"]))?;
    stage.run(&["ls", "-l", "notes"], well(&["-> /etc"]))?;
    stage.run(&read("path=notes/passwd"), with(1, &["out of the workspace"]))?;
    stage.run(&read("path=.env"), with(3, &["protected"]))?;
    let hook = ["moss", "call", "create_file", "path=.git/hooks/post-commit", "content=sh evil"];
    stage.run(&[&hook[..], &["--confirm", "allow"]].concat(), with(3, &["protected"]))?;
    let config = ["moss", "call", "replace_text", "path=.git/config", "oldText=core", "newText=x"];
    stage.run(&[&config[..], &["--confirm", "allow"]].concat(), with(3, &["protected"]))?;
    stage.run(&["mkfifo", "pipe"], well(&[]))?;
    stage.run(&read("path=pipe"), with(1, &["FIFO"]))?;
    if fs::read(work.join(".git/config"))? != b"[core]\n" || work.join(".git/hooks").exists() {
        bail!("something was written that was refused");
    }
    Ok(())
}

fn audit(stage: &mut DemoStage<'_>) -> Result<()> {
    stage.step(
        "Read the audit",
        "Every call and decision is recorded, with the rule that decided it. Contents are sizes\n\
         and hashes. Each record carries the hash of the one before it.",
    )?;
    stage.until(&["moss", "audit", "tail", "-n", "6"], well(&["{\"path\":\"pipe\"}"]))?;
    let denied = ["moss", "audit", "tail", "-n", "100", "--tool", "replace_text"];
    stage.run(&denied, well(&["decision=denied", "decision=approved", "the old title is fine"]))?;
    stage.run(&["moss", "audit", "verify"], well(&["in order"]))?;
    Ok(())
}

/// Says how to do the same without the tour.
fn by_hand(moss: &Path) {
    println!(
        "\n=== By hand\n\n\
         That was all; nothing is left behind. To do the same by hand, in one terminal\n\n  \
         cargo xtask serve\n\n\
         and in another one, in the same directory\n\n  \
         alias moss={moss}\n  \
         moss tools\n  \
         moss call read_file path=README.md endLine=5\n  \
         moss call create_file path=hello.txt content=hello --dry-run\n  \
         moss call create_file path=hello.txt content=hello\n  \
         moss history list\n  \
         moss history undo 1\n  \
         moss call word_count path=docs\n  \
         moss call read_file path=../../etc/passwd\n  \
         moss audit tail\n  \
         moss audit verify",
        moss = moss.display(),
    );
}

// === impl DemoOptions ===

impl<'a> DemoOptions<'a> {
    fn parse(layout: &Layout, mut arguments: &[&'a str]) -> Result<Self> {
        let mut options = Self::default();
        loop {
            arguments = match arguments {
                [] => return Ok(options),
                ["--yes", rest @ ..] => {
                    options.hurries = true;
                    rest
                }
                ["--svg", rest @ ..] => {
                    options.picture = Some(layout.docs().join(PICTURE));
                    options.hurries = true;
                    rest
                }
                ["--compare", rest @ ..] => {
                    options.compared = Some(layout.docs().join(PICTURE));
                    rest
                }
                ["--binary", file, rest @ ..] => {
                    options.binary = Some(*file);
                    rest
                }
                ["--components", directory, rest @ ..] => {
                    options.components = Some(*directory);
                    rest
                }
                [other, ..] => bail!("demo does not know `{other}`"),
            };
        }
    }

    /// The binary and the directory of components that the tour uses, built where they were not given.
    fn built(&self, layout: &Layout) -> Result<(PathBuf, PathBuf)> {
        match (self.binary, self.components) {
            (None, None) => artifacts::daemon_and_plugins(layout, BuildProfile::Tour, &PLUGINS)?,
            (None, Some(_)) => artifacts::daemon(layout, BuildProfile::Tour)?,
            (Some(_), None) => artifacts::plugins(layout)?,
            (Some(_), Some(_)) => {}
        }
        let binary = match self.binary {
            Some(binary) => {
                PathBuf::from(binary).canonicalize().context("there is no such binary")?
            }
            None => layout.moss(BuildProfile::Tour),
        };
        let components = self.components.map_or_else(|| layout.components(), PathBuf::from);
        Ok((binary, components))
    }
}
