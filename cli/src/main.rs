//! The `moss` binary: what can be said on the command line, and what every command shares. One file per
//! command; each is a client of the daemon, see [`client`].
//!
//! Standard output carries results only. Everything else goes to standard error.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests lay out their own files"))]

mod approvals;
mod arguments;
mod audit;
mod bridge;
mod call;
mod certificate;
mod clarifying;
mod client;
mod command_line;
mod compile_plugin;
mod compiling;
mod completions;
mod confirm;
mod confirming;
mod develop;
mod diff;
mod doctor;
mod effect;
mod error;
mod example;
mod history;
mod index;
mod jobs;
mod listed_as;
mod logging;
mod man;
mod mcp;
mod memory;
mod misnamed;
mod next_step;
mod parameters;
mod plugin;
mod policy;
mod progress;
mod prompt;
mod remote;
mod report;
mod root;
mod runtime;
mod serve;
mod setup;
mod status;
mod stop;
mod table;
mod text;
mod token;
mod tools;
mod ui;
mod undoing;
mod user_prompt;
mod views;
mod whole;
mod wording;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use crate::client::{Client, NeededTools};
use clap::{Parser, Subcommand};
use moss_daemon::setup::Setup;
use moss_grpc::listener::{self, Inherited};
use moss_plugins::compiling::Compilations;
use moss_workspace::{dirs::Dirs, name_of_root};

use self::confirming::Confirm;
use self::error::CliError;
use self::remote::Remote;
use self::ui::Ui;
use moss_dispatch::Outcome;

/// Longest wait for threads that still work when the command is over.
const EXIT_GRACE: Duration = Duration::from_secs(5);

/// Coding tools behind one policy: propose, confirm, commit, undo
///
/// With a daemon that serves the workspace on the default socket, commands use it; with `--server`,
/// the one that it names. Otherwise they run the same code in their own process.
///
/// Exit codes: 0 done or shown, 1 the tool failed, 2 invalid, 3 denied, 4 needs a confirmation
/// that nobody can give here, 5 no daemon, 124 out of time, 130 cancelled.
#[derive(Debug, Parser)]
#[command(name = "moss", version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of all commands.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Work on the project in DIR
    ///
    /// Default: the nearest directory, from the current one upwards, with `.git` or `.moss`;
    /// otherwise the current directory.
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,

    /// Resolve confirmations with ask, allow, deny, or the digest of an effect
    ///
    /// `ask` asks on the terminal. `allow` approves what this call asks, except protected
    /// files and lines that are not as an edit says. `deny` refuses. A digest, as shown by a dry
    /// run, approves exactly that effect; repeat the option for a call that asks several questions.
    #[arg(long, global = true, value_name = "DECISION", default_value = "ask")]
    confirm: Vec<Confirm>,

    #[command(flatten)]
    remote: Remote,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::ServeArgs),
    Tools(tools::ToolsArgs),
    Call(call::CallArgs),
    #[command(subcommand)]
    Confirm(confirm::ConfirmCommand),
    #[command(subcommand, alias = "answers")]
    Approvals(approvals::ApprovalsCommand),
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    #[command(subcommand)]
    History(history::HistoryCommand),
    #[command(subcommand)]
    Prompt(user_prompt::PromptCommand),
    #[command(subcommand)]
    Jobs(jobs::JobsCommand),
    #[command(subcommand)]
    Plugin(plugin::PluginCommand),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    #[command(subcommand)]
    Bridge(bridge::BridgeCommand),
    #[command(subcommand)]
    Certificate(certificate::CertificateCommand),
    #[command(subcommand)]
    Token(token::TokenCommand),
    Mcp(mcp::McpArgs),
    Setup(setup::ClientSetupArgs),
    #[command(subcommand)]
    Index(index::IndexCommand),
    Status(status::StatusArgs),
    Stop(stop::StopArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    #[command(hide = true)]
    CompilePlugin(compile_plugin::CompilePluginArgs),
}

/// What every command works with.
#[derive(Debug)]
struct Session {
    global: Global,
    ui: Ui,
    /// What daemons of this process compile.
    compilations: Compilations,
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    // Before anything else: a command waits for it.
    moss_sandbox::keeper(&arguments).unwrap_or_else(|| run(&arguments))
}

/// Runs the command that the arguments name.
fn run(arguments: &[OsString]) -> ExitCode {
    let cli = match command_line::parse(arguments) {
        Ok(cli) => cli,
        Err(error) => match help_of_tool(&error, arguments) {
            Some(cli) => cli,
            None => return error::usage(error, arguments.iter().any(|word| word == "--json")),
        },
    };
    if let Err(message) = confirming::check(&cli.global.confirm) {
        let error =
            command_line::command().error(clap::error::ErrorKind::ArgumentConflict, message);
        return error::usage(error, cli.global.json);
    }
    if let Command::CompilePlugin(args) = &cli.command {
        return compile_plugin::run(args);
    }
    let is_daemon = matches!(cli.command, Command::Serve(_));
    if is_daemon {
        memory::bound();
    }
    logging::start(is_daemon, matches!(cli.command, Command::Tools(_)));
    let ui = Ui::new(cli.global.json);
    let compilations = match is_daemon {
        // It writes to its log.
        true => Compilations::default(),
        false => compiling::compilations(ui),
    };
    let session = Session { ui, global: cli.global, compilations };
    // Before there is a thread besides this one: it changes the environment.
    let inherited = match cli.command {
        Command::Serve(_) => listener::inherit(),
        _ => Ok(Inherited::default()),
    };
    let inherited = match inherited {
        Ok(inherited) => inherited,
        Err(error) => return error::finish(&session.ui, Err(error.into())),
    };
    let runtime = match runtime::start(is_daemon) {
        Ok(runtime) => runtime,
        Err(error) => return error::finish(&session.ui, Err(error.into())),
    };
    let result = runtime.block_on(cli.command.run(inherited, &session));
    runtime.shutdown_timeout(EXIT_GRACE);
    error::finish(&session.ui, result)
}

/// `moss call TOOL --help` shows that tool, as `moss tools TOOL` does.
fn help_of_tool(error: &clap::Error, arguments: &[OsString]) -> Option<Cli> {
    if error.kind() != clap::error::ErrorKind::DisplayHelp {
        return None;
    }
    let is_help = |word: &&OsString| *word == "--help" || *word == "-h";
    let rest = arguments.iter().filter(|word| !is_help(word));
    let mut cli = command_line::parse(rest).ok()?;
    let Command::Call(call) = cli.command else { return None };
    cli.command = Command::Tools(tools::ToolsArgs::help(call.tool));
    Some(cli)
}

/// This program, also where its file was replaced since it started.
fn this_program() -> Option<PathBuf> {
    if cfg!(target_os = "linux") {
        Some("/proc/self/exe".into())
    } else {
        std::env::current_exe().ok()
    }
}

/// Lets Ctrl-C end the work, in order: dropping it cancels what it waits for.
async fn interruptible<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::select! {
        result = work => result,
        interrupted = tokio::signal::ctrl_c() => match interrupted {
            Ok(()) => Err(CliError::cancelled()),
            Err(error) => Err(error.into()),
        },
    }
}

// === impl Command ===

impl Command {
    async fn run(self, inherited: Inherited, session: &Session) -> Result<Outcome, CliError> {
        match self {
            Self::Serve(args) => serve::run(args, inherited, session).await,
            Self::Tools(args) => tools::run(args, session).await,
            Self::Call(args) => call::run(args, session).await,
            Self::Confirm(command) => confirm::run(command, session).await,
            Self::Approvals(command) => approvals::run(command, session).await,
            Self::Policy(command) => policy::run(command, session).await,
            Self::History(command) => history::run(command, session).await,
            Self::Prompt(command) => user_prompt::run(command, session).await,
            Self::Jobs(command) => jobs::run(command, session).await,
            Self::Plugin(command) => plugin::run(command, session).await,
            Self::Audit(command) => audit::run(&command, session),
            Self::Bridge(command) => bridge::run(&command, session).await,
            Self::Certificate(command) => certificate::run(command, session),
            Self::Token(command) => token::run(&command, session),
            Self::Setup(args) => setup::run(args, session).await,
            Self::Mcp(args) => mcp::run(args, session).await,
            Self::Index(command) => index::run(command, session).await,
            Self::Status(_) => status::run(session).await,
            Self::Stop(args) => stop::run(args, session).await,
            Self::Doctor(_) => doctor::run(session).await,
            Self::Completions(args) => completions::run(&args),
            Self::Man(args) => man::run(&args),
            Self::CompilePlugin(_) => unreachable!("it ran before there was a runtime"),
        }
    }
}

// === impl Session ===

impl Session {
    fn dirs(&self) -> Result<Dirs, CliError> {
        Dirs::of_user()
            .map_err(|error| CliError::new(Outcome::Failed, "no_home", error.to_string()))
    }

    /// The start options of a daemon for this workspace alone.
    fn setup(&self) -> Result<Setup, CliError> {
        self.setup_for(vec![self.root()?])
    }

    /// The start options of a daemon for some workspaces.
    fn setup_for(&self, workspaces: Vec<PathBuf>) -> Result<Setup, CliError> {
        Ok(Setup {
            dirs: self.dirs()?,
            workspaces,
            trial_list: None,
            plugin_lists: Vec::new(),
            config_file: None,
            admin_policies: Vec::new(),
            secrets: Vec::new(),
            collector: None,
            program: this_program(),
            compilations: self.compilations.clone(),
        })
    }

    /// Gets at a daemon for this workspace: the one that listens, or one in this process. To be
    /// closed at the end.
    async fn open(&self, need: NeededTools<'_>) -> Result<Client, CliError> {
        let client = match self.reach(true).await? {
            Some(client) => client,
            None => {
                let setup = self.setup()?;
                let hindrance = remote::hindrance(&setup.dirs).filter(|_| !self.ui.json());
                if let Some(message) = hindrance {
                    self.ui.note(&format!("note: {message}; it runs in this process"));
                }
                Client::open(setup).await?
            }
        };
        let prepared = interruptible(async {
            client.prepare(need).await;
            Ok(())
        });
        match prepared.await {
            Ok(()) => Ok(client),
            Err(error) => {
                client.close().await;
                Err(error)
            }
        }
    }

    /// Works with a daemon for this workspace, until the work is done or interrupted.
    async fn with_client<T>(
        &self,
        need: NeededTools<'_>,
        work: impl AsyncFnOnce(&Client) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let client = self.open(need).await?;
        let result = interruptible(work(&client)).await;
        client.close().await;
        result
    }

    /// Connects to the daemon that was named, if one was; for one of its workspaces, or for all.
    async fn reach(&self, one: bool) -> Result<Option<Client>, CliError> {
        let Some(server) = self.global.remote.server(&self.dirs()?)? else { return Ok(None) };
        let workspace = if one { self.named_root()? } else { None };
        let workspace = workspace.map(|root| name_of_root(&root)).unwrap_or_default();
        Ok(Some(interruptible(async { Ok(Client::reach(server, workspace).await?) }).await?))
    }

    /// Works with the daemon that was named, or the one that listens on the default socket.
    async fn with_daemon<T>(
        &self,
        work: impl AsyncFnOnce(&Client) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let dirs = self.dirs()?;
        let client = match self.reach(false).await? {
            Some(client) => Some(client),
            None => interruptible(async { Ok(Client::greet(&dirs).await?) }).await?,
        };
        let Some(client) = client else {
            let message = format!("no daemon listens on {}", dirs.socket().display());
            let error = CliError::new(Outcome::Unavailable, "no_daemon", message);
            return Err(match remote::hindrance(&dirs) {
                Some(hindrance) => error.hint(hindrance),
                None => error,
            });
        };
        let result = interruptible(work(&client)).await;
        client.close().await;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        command_line::command().debug_assert();
    }

    #[test]
    fn help_of_a_call_is_that_of_its_tool() {
        let asked = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let error = command_line::parse(&words).unwrap_err();
            help_of_tool(&error, &words).map(|cli| format!("{:?}", cli.command))
        };
        for words in [["moss", "call", "x", "--help"], ["moss", "call", "-h", "x"]] {
            let asked = asked(&words).unwrap();
            assert!(asked.contains("Tools") && asked.contains("name: Some(\"x\")"), "{asked}");
        }
        assert_eq!(asked(&["moss", "call", "--help"]), None);
        assert_eq!(asked(&["moss", "tools", "--help"]), None);
        assert_eq!(asked(&["moss", "call", "x", "--no-such"]), None);
    }

    #[test]
    fn every_command_and_argument_has_a_help_text() {
        fn check(command: &clap::Command) {
            for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
                let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
                assert!(!about.is_empty() && about.len() < 80, "{}: {about:?}", sub.get_name());
                assert!(!about.ends_with('.'), "{about}");
                check(sub);
            }
            for argument in command.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.is_empty() && !help.ends_with('.'), "{}: {help}", argument.get_id());
            }
        }
        let mut command = command_line::command();
        command.build();
        check(&command);
    }
}
