//! Where the tour takes place: a machine of its own in a temporary directory, with a copy of the
//! sources of this repository. It is gone when the tour is over, however that ends.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::layout::Layout;

/// Names in a repository that are no sources.
const NO_SOURCES: [&str; 2] = [".git", ".venv"];
/// The start of names of directories into which things are built.
const BUILT: &str = "target";
/// The packages of the plugins that the tour uses.
pub(super) const PLUGINS: [&str; 2] = ["word-count", "license-header"];
/// Waits until the process that started it is gone, then removes a directory.
const CLEANER: &str = r#"trap "" INT TERM HUP; read -r _; exec rm -rf -- "$0""#;
/// Longest wait for anything.
pub(super) const BOUND: Duration = Duration::from_secs(60);
/// How often something is looked at that nobody reports.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The directories of a user who has nothing but moss.
pub(super) struct DemoHome {
    root: PathBuf,
    cleaner: Child,
}

/// A daemon that serves the copy. It ends when it is dropped.
pub(super) struct DemoDaemon(Child);

// === impl DemoHome ===

impl DemoHome {
    /// Lays everything out for a binary of moss and the components of plugins.
    pub(super) fn new(layout: &Layout, moss: &Path, components: &Path) -> Result<Self> {
        let name = format!("moss-demo-{}", std::process::id());
        let root = std::env::temp_dir().canonicalize()?.join(name);
        fs::create_dir(&root).with_context(|| format!("cannot make {}", root.display()))?;
        let mut cleaner = Command::new("sh");
        let cleaner = cleaner.args(["-c", CLEANER]).arg(&root).stdin(Stdio::piped()).spawn()?;
        let place = Self { root, cleaner };
        for directory in ["bin", "home", "config/moss/plugins", "state", "run", "work/.git"] {
            fs::create_dir_all(place.root.join(directory))?;
        }
        symlink(moss, place.root.join("bin/moss"))?;
        copy(&layout.root, &place.work()).context("cannot copy the sources")?;
        fs::write(place.work().join(".git/config"), "[core]\n")?;
        for component in PLUGINS.map(component) {
            fs::copy(components.join(&component), place.plugins().join(&component))?;
        }
        Ok(place)
    }

    /// The copy of the sources.
    pub(super) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The directory in which the components of plugins lie.
    pub(super) fn plugins(&self) -> PathBuf {
        self.root.join("config/moss/plugins")
    }

    /// The user's list of plugins.
    pub(super) fn plugin_list(&self) -> PathBuf {
        self.root.join("config/moss/moss-tools.json")
    }

    /// The policy of the user.
    pub(super) fn policy(&self) -> PathBuf {
        self.root.join("config/moss/policy.toml")
    }

    /// Makes a command of words as one types them in the copy.
    pub(super) fn command(&self, words: &[&str]) -> Result<Command> {
        let (program, arguments) = words.split_first().expect("a command has a name");
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let directories = [self.root.join("bin")].into_iter().chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(directories)?);
        command.args(arguments).current_dir(self.work()).stdin(Stdio::null());
        for (variable, directory) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            command.env(variable, self.root.join(directory));
        }
        // Rust is the one of who takes the tour, and builds where the tour is.
        for (variable, directory) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let own = std::env::home_dir().map(|home| home.join(directory));
            let found = std::env::var_os(variable).map(PathBuf::from).or(own);
            if let Some(found) = found.filter(|found| found.is_dir()) {
                command.env(variable, found);
            }
        }
        command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
        Ok(command)
    }

    /// Starts a daemon and waits until it answers.
    pub(super) fn serve(&self) -> Result<DemoDaemon> {
        let log = self.root.join("log");
        let mut serve = self.command(&["moss", "serve", "--stop-with-stdin"])?;
        // Also when the tour is killed: then nobody holds the pipe.
        serve.stdin(Stdio::piped());
        serve.stdout(File::create(&log)?).stderr(File::options().append(true).open(&log)?);
        let mut daemon = DemoDaemon(serve.spawn().context("cannot start the daemon")?);
        let end = Instant::now() + BOUND;
        loop {
            let status = self.command(&["moss", "status"])?.output()?;
            if status.status.success() {
                return Ok(daemon);
            }
            if daemon.0.try_wait()?.is_some() || Instant::now() > end {
                bail!("the daemon does not serve: {}", fs::read_to_string(&log)?);
            }
            std::thread::sleep(LOOK_INTERVAL);
        }
    }
}

impl Drop for DemoHome {
    fn drop(&mut self) {
        drop(self.cleaner.stdin.take());
        if !self.cleaner.wait().is_ok_and(|status| status.success()) {
            eprintln!("{} is left behind", self.root.display());
        }
    }
}

/// The file that Cargo writes for a package of a plugin.
fn component(package: &str) -> String {
    format!("{}.wasm", package.replace('-', "_"))
}

/// Copies what is in a directory, without what was built.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if NO_SOURCES.iter().any(|other| name == *other) {
            continue;
        }
        let is_built = name.to_string_lossy().starts_with(BUILT);
        if kind.is_file() {
            fs::copy(entry.path(), to.join(&name))?;
        } else if kind.is_dir() && !is_built {
            fs::create_dir_all(to.join(&name))?;
            copy(&entry.path(), &to.join(&name))?;
        }
    }
    Ok(())
}

// === impl DemoDaemon ===

impl Drop for DemoDaemon {
    fn drop(&mut self) {
        // It may have ended by itself, and its files go away anyway.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::sync::mpsc::channel;

    use super::*;

    /// Names the sources to the process that is killed.
    const SOURCES: &str = "MOSS_TEST_DEMO_SOURCES";
    const NAME: &str = "demo::home::tests::a_killed_tour_leaves_no_files_behind";

    /// What the killed process does: it lays out a place, prints it, and waits.
    fn lay_out(sources: PathBuf) {
        let layout = Layout { root: sources, target: PathBuf::new() };
        let home = DemoHome::new(&layout, Path::new("/bin/sh"), &layout.root).unwrap();
        println!("\nplace: {}", home.root.display());
        std::io::stdout().flush().unwrap();
        let _ = std::io::stdin().read(&mut [0]);
        panic!("it is not killed");
    }

    #[test]
    fn a_killed_tour_leaves_no_files_behind() {
        if let Some(sources) = std::env::var_os(SOURCES) {
            return lay_out(sources.into());
        }
        let name = format!("moss-demo-sources-{}", std::process::id());
        let sources = std::env::temp_dir().join(name);
        fs::create_dir(&sources).unwrap();
        for component in PLUGINS.map(component) {
            fs::write(sources.join(component), "").unwrap();
        }
        let mut tour = Command::new(std::env::current_exe().unwrap());
        tour.args(["--exact", NAME, "--nocapture"]).env(SOURCES, &sources);
        let mut tour = tour.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(tour.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("place: ") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "it names no place");
        }
        let place = PathBuf::from(line["place: ".len()..].trim_end());
        assert!(place.join("work").join(component(PLUGINS[0])).exists());
        tour.kill().unwrap();
        tour.wait().unwrap();
        // What cleans up has the other end: it is closed when that is over.
        let (done, is_over) = channel();
        std::thread::spawn(move || done.send(output.read_to_end(&mut Vec::new())));
        is_over.recv_timeout(BOUND).expect("the cleaner ends").unwrap();
        assert!(!place.exists(), "{} is left behind", place.display());
        fs::remove_dir_all(sources).unwrap();
    }
}
