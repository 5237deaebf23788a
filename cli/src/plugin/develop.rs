//! `moss plugin new`, `vendor`, `build`, `check`, `test` and `dev`: for authors of plugins.

mod build;
mod check;
mod dev;
mod test;

use std::path::{Path, PathBuf};

use crate::develop::bench::{BenchComponent, Given};
use crate::develop::template::{self, PluginLanguage};
use moss_plugin_list::{Sha256Digest, units};
use moss_workspace::project;
use serde_json::json;

use super::super::Session;
use super::super::error::CliError;
use super::super::ui::bold;
use moss_dispatch::Outcome;

/// Largest manifest of a project, in bytes.
const MANIFEST_BYTES_MAX: u64 = 1 << 20;
/// Largest component that is looked at, in bytes; loading has its own limit.
const COMPONENT_BYTES_MAX: u64 = 256 << 20;

/// Most files of a project that are looked at.
const FILES_MAX: usize = 5_000;
/// Directories that building writes, or that others fill.
const LEFT_OUT: &[&str] = &["target", "node_modules", "dist", "__pycache__"];

/// What authors of plugins say.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum DevelopCommand {
    /// Create a plugin project
    ///
    /// It builds without changes: the SDK is included in `vendor/moss`.
    New(PluginNewArgs),
    /// Update the SDK in a project to that of this moss
    Vendor(ProjectArgs),
    /// Build a plugin
    ///
    /// Runs cargo, npm or pip with your permissions.
    Build(ProjectArgs),
    /// Check a plugin for errors and possible improvements
    ///
    /// Exits with 1 if there is an error, not for warnings.
    Check(PluginCheckArgs),
    /// Run the examples of a plugin's tools in the sandbox
    Test(TestArgs),
    /// Build and test a plugin again after every change
    Dev(DevArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PluginNewArgs {
    /// The name of the plugin, such as word-count
    name: String,

    /// Language of the project
    #[arg(long, value_name = "LANGUAGE")]
    lang: LanguageArg,

    /// Directory to create; by default the name of the plugin
    dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LanguageArg {
    /// Rust
    Rust,
    /// TypeScript or JavaScript
    Ts,
    /// Python
    Python,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    /// The directory of the project
    #[arg(default_value = ".")]
    dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ComponentArgs {
    /// The directory of the project, which is built first, or a component
    #[arg(default_value = ".", value_name = "DIR|FILE")]
    plugin: PathBuf,
}

#[derive(Debug, clap::Args)]
struct GivenArgs {
    /// Its settings, a JSON object
    #[arg(long, value_name = "JSON")]
    config: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PluginCheckArgs {
    #[command(flatten)]
    component: ComponentArgs,

    #[command(flatten)]
    given: GivenArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    component: ComponentArgs,

    #[command(flatten)]
    given: GivenArgs,

    /// Let the plugin reach the hosts that it requests
    #[arg(long)]
    allow_http: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DevArgs {
    #[command(flatten)]
    project: ProjectArgs,

    #[command(flatten)]
    given: GivenArgs,

    /// Let the plugin reach the hosts that it requests
    #[arg(long)]
    allow_http: bool,

    /// Serve one of its tools under another name, such as `count_words=wc`
    ///
    /// Without it the names are those that your list gives to the tools of the installed version.
    #[arg(long, value_name = "OWN=NAME")]
    rename: Vec<String>,
}

/// A project and what it is written in.
#[derive(Debug, Clone)]
struct Project {
    directory: PathBuf,
    language: PluginLanguage,
    /// The plugin's name, out of the manifest.
    name: String,
}

/// A component that is there.
#[derive(Debug, Clone)]
struct BuiltComponent {
    file: PathBuf,
    /// What the plugin is probably called.
    name: String,
    bytes: Vec<u8>,
}

pub(crate) async fn run(command: DevelopCommand, session: &Session) -> Result<Outcome, CliError> {
    match command {
        DevelopCommand::New(args) => new(&args, session),
        DevelopCommand::Vendor(args) => vendor(&args, session),
        DevelopCommand::Build(args) => build::run(&args, session).await,
        DevelopCommand::Check(args) => check::run(&args, session).await,
        DevelopCommand::Test(args) => test::run(&args, session).await,
        DevelopCommand::Dev(args) => dev::run(&args, session).await,
    }
}

fn new(args: &PluginNewArgs, session: &Session) -> Result<Outcome, CliError> {
    template::check_name(&args.name).map_err(|bad| {
        let error = CliError::invalid(bad.to_string());
        match &bad.instead {
            Some(instead) => error.hint(format!("call it `{instead}`")),
            None => error,
        }
    })?;
    let directory = args.dir.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    template::create(args.lang.language(), &args.name, &directory).map_err(unusable)?;
    let shown = directory.display();
    session.ui.print_either(
        || json!({ "name": args.name, "directory": directory }),
        || format!("made {shown}\n\n  cd {shown}\n  moss plugin test\n  moss plugin add .\n"),
    )?;
    Ok(Outcome::Ok)
}

fn vendor(args: &ProjectArgs, session: &Session) -> Result<Outcome, CliError> {
    let project = Project::open(&args.dir)?;
    template::vendor(project.language, &project.directory).map_err(unusable)?;
    let directory = project.directory.join(template::VENDOR);
    session.ui.print_either(
        || json!({ "name": project.name, "directory": directory }),
        || format!("{} has the SDK of this moss", directory.display()),
    )?;
    Ok(Outcome::Ok)
}

fn unusable(error: moss_workspace::Error) -> CliError {
    CliError::new(Outcome::Failed, "directory_unusable", error.to_string())
}

/// What is printed of a component.
fn built(component: &BuiltComponent) -> serde_json::Value {
    json!({
        "name": component.name,
        "component": component.file,
        "bytes": component.bytes.len(),
        "sha256": component.digest(),
    })
}

// === impl LanguageArg ===

impl LanguageArg {
    fn language(self) -> PluginLanguage {
        match self {
            Self::Rust => PluginLanguage::Rust,
            Self::Ts => PluginLanguage::TypeScript,
            Self::Python => PluginLanguage::Python,
        }
    }
}

// === impl GivenArgs ===

impl GivenArgs {
    fn read(&self, http: bool) -> Result<Given, CliError> {
        let config = self.config.as_deref().unwrap_or("{}");
        let config = serde_json::from_str(config).map_err(|error| {
            CliError::invalid(format!("--config is not a JSON object: {error}"))
        })?;
        Ok(Given { http, config })
    }
}

// === impl Project ===

impl Project {
    /// Finds out what a directory holds.
    fn open(directory: &Path) -> Result<Self, CliError> {
        let failed = |message: String| CliError::new(Outcome::Invalid, "project_unknown", message);
        let shown = directory.display();
        let language = PluginLanguage::of(directory).ok_or_else(|| {
            let message =
                format!("{shown} has neither Cargo.toml, package.json nor pyproject.toml");
            failed(message).hint("make a project with `moss plugin new --lang rust NAME`")
        })?;
        let manifest = directory.join(language.manifest());
        let text = project::read(&manifest, MANIFEST_BYTES_MAX).map_err(unusable)?;
        let name = name_in(language, &text.unwrap_or_default()).ok_or_else(|| {
            failed(format!("{} does not say what the plugin is called", manifest.display()))
        })?;
        Ok(Self { directory: directory.to_owned(), language, name })
    }
}

fn name_in(language: PluginLanguage, manifest: &str) -> Option<String> {
    let table = |key: &str| -> Option<String> {
        let table: toml::Table = manifest.parse().ok()?;
        Some(table.get(key)?.get("name")?.as_str()?.to_owned())
    };
    match language {
        PluginLanguage::Rust => table("package"),
        PluginLanguage::Python => table("project"),
        PluginLanguage::TypeScript => {
            let value: serde_json::Value = serde_json::from_str(manifest).ok()?;
            Some(value.get("name")?.as_str()?.to_owned())
        }
    }
}

/// Builds the project in a directory. Returns its component.
pub(super) async fn component_of(directory: &Path, session: &Session) -> Result<PathBuf, CliError> {
    let component = build::newest(&Project::open(directory)?, session).await?;
    Ok(component.file)
}

// === impl BuiltComponent ===

impl BuiltComponent {
    /// The component of a project, which is built for it, or of a file.
    async fn of(args: &ComponentArgs, session: &Session) -> Result<Self, CliError> {
        if args.plugin.is_dir() {
            let project = Project::open(&args.plugin)?;
            return build::newest(&project, session).await;
        }
        let stem = args.plugin.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self::read(args.plugin.clone(), stem.replace('_', "-"))
    }

    fn read(file: PathBuf, name: String) -> Result<Self, CliError> {
        let unreadable = |why: String| {
            CliError::new(Outcome::Failed, "component_unreadable", why)
                .hint("name the directory of a project, or a component such as plugin.wasm")
        };
        let bytes = project::read_bytes(&file, COMPONENT_BYTES_MAX)
            .map_err(|error| unreadable(error.to_string()))?
            .ok_or_else(|| unreadable(format!("there is no {}", file.display())))?;
        let file = file.canonicalize()?;
        Ok(Self { file, name, bytes })
    }

    fn digest(&self) -> String {
        Sha256Digest::of(&self.bytes).to_string()
    }

    fn candidate<'a>(&'a self, sha256: &'a str) -> BenchComponent<'a> {
        BenchComponent { name: &self.name, file: &self.file, sha256 }
    }

    /// Where it is, how large, which one: for people.
    fn line(&self) -> String {
        let (file, digest) = (self.file.display(), self.digest());
        format!("{} {file}, {}, sha256 {digest}", bold("built"), units::about(self.bytes.len()))
    }
}
