//! `moss plugin build`: cargo, npm or pip, as the person would run them, and where the component is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::develop::template::{PluginLanguage, VENDOR};
use moss_plugin_list::Sha256Digest;
use moss_sandbox::{ProcessExit, Program};
use moss_workspace::own::OwnDir;
use moss_workspace::project;

use super::super::super::error::CliError;
use super::super::super::ui::dim;
use super::super::super::{Session, interruptible};
use super::{
    BuiltComponent, FILES_MAX, LEFT_OUT, MANIFEST_BYTES_MAX, Project, ProjectArgs, built, unusable,
};
use moss_dispatch::Outcome;

/// Most bytes that a program says about what it builds.
const OUTPUT_BYTES_MAX: usize = 64 << 20;
/// What cargo builds for.
const TARGET: &str = "wasm32-wasip2";
/// Largest file that is compared by what it holds, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Most files of an SDK.
const SDK_FILES_MAX: usize = 1000;
/// What npm installed from last.
const NODE_INSTALLED: &str = "node_modules/.moss-installed";
/// What was installed into a Python environment last.
const INSTALLED: &str = ".venv/moss-installed.txt";
/// The directory in the cache that has, by the directory of a project, what its component was made of last, and what it
/// is: in the project somebody else could say that of a component that they bring along.
const MADE_OF: &str = "built-plugins";
/// How long that is kept.
const MADE_OF_KEPT: Duration = Duration::from_hours(24 * 30);

pub(super) async fn run(args: &ProjectArgs, session: &Session) -> Result<Outcome, CliError> {
    let project = Project::open(&args.dir)?;
    let component = build(&project, session).await?;
    session.ui.print_either(|| built(&component), || component.line())?;
    Ok(Outcome::Ok)
}

/// Builds a project. What the programs say is shown.
pub(super) async fn build(
    project: &Project,
    session: &Session,
) -> Result<BuiltComponent, CliError> {
    let directory = project.directory.canonicalize()?;
    let tools = BuildTools { directory: &directory, session };
    let file = interruptible(async {
        match project.language {
            PluginLanguage::Rust => tools.cargo().await,
            PluginLanguage::TypeScript => tools.npm(&project.name).await,
            PluginLanguage::Python => tools.python(&project.name).await,
        }
    });
    BuiltComponent::read(file.await?, project.name.clone())
}

/// Builds a project, unless nothing has changed since it was built: that takes long where it is not
/// cargo that does it, which sees that for itself.
pub(super) async fn newest(
    project: &Project,
    session: &Session,
) -> Result<BuiltComponent, CliError> {
    let directory = project.directory.canonicalize()?;
    let file = component(&directory, &project.name);
    if let Ok(Some(made_of)) = made_of(session)?.read(&name_of(&directory), MANIFEST_BYTES_MAX)
        && let Ok(component) = BuiltComponent::read(file, project.name.clone())
        && made_of == format!("{} {}", inputs(&directory)?, component.digest()).as_bytes()
    {
        session.ui.note(&dim("nothing has changed since it was built"));
        return Ok(component);
    }
    build(project, session).await
}

/// Where npm and pip have their component built.
fn component(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("dist/{name}.wasm"))
}

/// Where it is kept what components were made of.
fn made_of(session: &Session) -> Result<OwnDir, CliError> {
    let cache = OwnDir::create(&session.dirs()?.cache).map_err(unusable)?;
    cache.subdirectory(MADE_OF).map_err(unusable)
}

/// What is kept of a project is called so.
fn name_of(directory: &Path) -> String {
    Sha256Digest::of(directory.as_os_str().as_encoded_bytes()).to_string()
}

/// Names the content of all files of a project.
fn inputs(directory: &Path) -> Result<String, CliError> {
    let files = project::files(directory, LEFT_OUT, FILES_MAX).map_err(unusable)?;
    digest(files.into_iter().map(|(file, _)| file))
}

/// Names files and what they hold.
fn digest(files: impl IntoIterator<Item = PathBuf>) -> Result<String, CliError> {
    let mut all = Vec::new();
    for file in files {
        let bytes = project::read_bytes(&file, FILE_BYTES_MAX).map_err(unusable)?;
        let content = bytes.map(|bytes| Sha256Digest::of(&bytes).to_string());
        all.push(format!("{} {}", file.display(), content.unwrap_or_default()));
    }
    Ok(Sha256Digest::of(all.join("\n").as_bytes()).to_string())
}

/// The programs that build.
struct BuildTools<'a> {
    directory: &'a Path,
    session: &'a Session,
}

// === impl BuildTools ===

impl BuildTools<'_> {
    async fn cargo(&self) -> Result<PathBuf, CliError> {
        let missing = "install Rust from https://rustup.rs";
        let libraries = ["--print", "target-libdir", "--target", TARGET];
        let (ending, output) = self.output("rustc", &libraries, missing, false).await?;
        let libraries = String::from_utf8_lossy(&output).trim().to_owned();
        if !ending.is_success() || !Path::new(&libraries).is_dir() {
            let message = format!("this Rust cannot build for {TARGET}");
            return Err(CliError::new(Outcome::Failed, "target_missing", message)
                .hint(format!("`rustup target add {TARGET}`")));
        }
        let arguments =
            ["build", "--release", "--target", TARGET, "--message-format=json-render-diagnostics"];
        let (ending, output) = self.output("cargo", &arguments, missing, true).await?;
        succeeded("cargo", ending)?;
        let output = String::from_utf8_lossy(&output);
        output.lines().rev().find_map(artifact).ok_or_else(|| {
            let message = "cargo built no component".to_owned();
            CliError::new(Outcome::Failed, "component_missing", message)
                .hint("Cargo.toml needs `[lib]` with `crate-type = [\"cdylib\"]`")
        })
    }

    async fn npm(&self, name: &str) -> Result<PathBuf, CliError> {
        let missing = "install Node.js 20 or newer with npm (Debian and Ubuntu: `apt install nodejs \
                       npm`; Fedora: `dnf install nodejs`; macOS: `brew install node`)";
        let stamp = self.directory.join(NODE_INSTALLED);
        let installed = project::read(&stamp, MANIFEST_BYTES_MAX).map_err(unusable)?;
        if installed != Some(self.wanted_of_npm()?) {
            let install =
                ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
            succeeded("npm install", self.show("npm", &install, missing).await?)?;
            // Installing may have written a lock file.
            project::write(&stamp, &self.wanted_of_npm()?).map_err(unusable)?;
        }
        let made_of = inputs(self.directory)?;
        succeeded(
            "npm run build",
            self.show("npm", &["run", "--silent", "build"], missing).await?,
        )?;
        self.made(name, &made_of)
    }

    /// Names the content of all that npm installs from.
    fn wanted_of_npm(&self) -> Result<String, CliError> {
        let manifests = ["package.json", "package-lock.json"];
        let mut files: Vec<_> = manifests.iter().map(|file| self.directory.join(file)).collect();
        let sdk = self.directory.join(VENDOR);
        if sdk.is_dir() {
            let sdk = project::files(&sdk, &[], SDK_FILES_MAX).map_err(unusable)?;
            files.extend(sdk.into_iter().map(|(file, _)| file));
        }
        digest(files)
    }

    async fn python(&self, name: &str) -> Result<PathBuf, CliError> {
        let missing = "install Python 3.11 or newer (Debian and Ubuntu: `apt install python3 \
                       python3-venv`; Fedora: `dnf install python3`; macOS: `brew install python`)";
        let python = self.directory.join(".venv/bin/python");
        if !python.exists() {
            let make = ["-m", "venv", ".venv"];
            succeeded("python3 -m venv .venv", self.show("python3", &make, missing).await?)?;
        }
        let python = python.display().to_string();
        let read = |file: &str| {
            project::read(&self.directory.join(file), MANIFEST_BYTES_MAX).map_err(unusable)
        };
        let requirements = read("requirements.txt")?.unwrap_or_default();
        if read(INSTALLED)?.as_deref() != Some(requirements.as_str()) {
            let install = ["-m", "pip", "install", "--quiet", "-r", "requirements.txt"];
            succeeded("pip install", self.show(&python, &install, missing).await?)?;
            project::write(&self.directory.join(INSTALLED), &requirements).map_err(unusable)?;
        }
        let made_of = inputs(self.directory)?;
        let script = format!("{VENDOR}/build.py");
        succeeded(&script, self.show(&python, &["-B", &script], missing).await?)?;
        self.made(name, &made_of)
    }

    /// Remembers what the component was made of.
    fn made(&self, name: &str, made_of: &str) -> Result<PathBuf, CliError> {
        let component = BuiltComponent::read(component(self.directory, name), name.to_owned())?;
        let kept = self::made_of(self.session)?;
        for file in kept.files().map_err(unusable)? {
            if file.modified.elapsed().is_ok_and(|age| age > MADE_OF_KEPT) {
                kept.remove(&file.name).map_err(unusable)?;
            }
        }
        let made_of = format!("{made_of} {}", component.digest());
        kept.write(&name_of(self.directory), made_of.as_bytes()).map_err(unusable)?;
        Ok(component.file)
    }

    async fn show(
        &self,
        program: &str,
        arguments: &[&str],
        missing: &str,
    ) -> Result<ProcessExit, CliError> {
        self.announce(program, arguments);
        let ended = self.program(program, arguments).show().await;
        ended.map_err(|error| not_started(program, &error, missing))
    }

    async fn output(
        &self,
        program: &str,
        arguments: &[&str],
        missing: &str,
        is_told: bool,
    ) -> Result<(ProcessExit, Vec<u8>), CliError> {
        if is_told {
            self.announce(program, arguments);
        }
        let ended = self.program(program, arguments).output(OUTPUT_BYTES_MAX).await;
        ended.map_err(|error| not_started(program, &error, missing))
    }

    fn announce(&self, program: &str, arguments: &[&str]) {
        self.session.ui.note(&dim(format!("$ {program} {}", arguments.join(" "))));
    }

    fn program(&self, program: &str, arguments: &[&str]) -> Program {
        Program {
            program: OsString::from(program),
            arguments: arguments.iter().map(OsString::from).collect(),
            directory: self.directory.to_owned(),
            environment: None,
        }
    }
}

fn not_started(program: &str, error: &std::io::Error, missing: &str) -> CliError {
    if error.kind() == std::io::ErrorKind::NotFound {
        let message = format!("there is no `{program}`");
        return CliError::new(Outcome::Failed, "program_missing", message).hint(missing);
    }
    CliError::new(Outcome::Failed, "program_failed", format!("{program}: {error}"))
}

fn succeeded(what: &str, ending: ProcessExit) -> Result<(), CliError> {
    if ending.is_success() {
        return Ok(());
    }
    Err(CliError::new(Outcome::Failed, "build_failed", format!("`{what}` {ending}")))
}

/// The component that a message of cargo names.
fn artifact(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let files = message["filenames"].as_array()?.iter().filter_map(serde_json::Value::as_str);
    files.map(PathBuf::from).find(|file| file.extension().is_some_and(|kind| kind == "wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_component_is_what_cargo_says_it_is() {
        let message = r#"{"reason":"compiler-artifact","filenames":["/t/a.d","/t/a.wasm"]}"#;
        assert_eq!(artifact(message), Some("/t/a.wasm".into()));
        for other in [r#"{"reason":"build-finished"}"#, "", r#"{"filenames":["/t/a.wasm"]}"#] {
            assert_eq!(artifact(other), None);
        }
    }
}
