//! `moss mcp`: the tools for clients of the Model Context Protocol, over standard input and output.

mod backend;
mod calling;
mod fault;
mod native;
mod secrets;
mod standard_input;
mod standard_streams;
mod workspace;

use std::path::PathBuf;
use std::sync::Arc;

use moss_dispatch::Outcome;
use moss_mcp::{McpOptions, McpServer, ToolSet};
use tokio::signal::unix::{SignalKind, signal};

pub(super) use self::backend::DaemonTools;
use self::backend::WorkspaceOpener;
use super::Session;
use super::error::CliError;

/// Variables that clients set for what they start: the project, or several of them.
const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "WORKSPACE_FOLDER_PATHS"];

/// Serve the tools to an MCP client over standard input and output
///
/// Clients start it; `moss mcp` in their configuration is all they need. It uses the daemon on the default
/// socket where that serves the workspace, also one that is started later, and otherwise runs the same code in
/// this process. A daemon elsewhere has to be named: `--server ADDRESS`, or MOSS_SERVER.
///
/// The workspace is that of `--workspace`; else the first root that the client names; else
/// CLAUDE_PROJECT_DIR or WORKSPACE_FOLDER_PATHS; else the project around the current directory. A home
/// directory and `/` are never taken, and what has the home directory in it only with `--workspace`.
#[derive(Debug, clap::Args)]
pub(super) struct McpArgs {
    /// Tools that the client sees: default, read-only, all, or a set of your config.toml
    #[arg(long, value_name = "NAME", default_value = "default")]
    set: String,

    /// Let forms that the client shows decide about effects
    ///
    /// The client relays them, and could decide by itself: give it only to a client that you trust to
    /// ask you. Forms never decide about protected files, what a rule with `approver = "person"` asks, plugins,
    /// lines that are not as an edit says, or for longer than the session.
    #[arg(long)]
    elicit: bool,
}

pub(super) async fn run(args: McpArgs, session: &Session) -> Result<Outcome, CliError> {
    let mut terminate = signal(SignalKind::terminate())?;
    let opener = Arc::new(WorkspaceOpener::new(session)?);
    let options = McpOptions::new(session.tool_set(&args.set)?)?.deciding_by_form(args.elicit);
    let server = McpServer::new(Arc::clone(&opener) as _, options);
    let (input, output) = (standard_streams::input()?, standard_streams::output());
    let served = moss_mcp::serve_lines(server, input, output);
    tokio::select! {
        () = served => {}
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    opener.close().await;
    Ok(Outcome::Ok)
}

// === impl Session ===

impl Session {
    /// Finds a tool set: one that there always is, or one of the user's configuration.
    pub(super) fn tool_set(&self, name: &str) -> Result<ToolSet, CliError> {
        if let Some(set) = ToolSet::built_in(name) {
            return Ok(set);
        }
        let mut sets = moss_daemon::setup::configuration(&self.setup_for(Vec::new())?)
            .map_err(|error| CliError::new(Outcome::Invalid, "config_invalid", error.to_string()))?
            .tool_sets;
        if let Some(tools) = sets.remove(name) {
            return Ok(ToolSet::Named { name: name.to_owned(), tools });
        }
        let own = sets.into_keys();
        let known: Vec<String> =
            ToolSet::BUILT_IN.map(ToOwned::to_owned).into_iter().chain(own).collect();
        let message = format!("there is no tool set `{name}`; there are {}", known.join(", "));
        Err(CliError::invalid(message).hint("name one in config.toml, under [tool_sets]"))
    }

    /// Where a client of another protocol may mean its workspace to be.
    fn hints(&self) -> workspace::WorkspaceHints {
        let variables = PROJECT_VARIABLES.iter().filter_map(std::env::var_os).collect();
        #[expect(clippy::disallowed_methods, reason = "where the client started this program")]
        let here = std::env::current_dir().ok();
        let home = std::env::var_os("HOME").map(PathBuf::from);
        workspace::WorkspaceHints { named: self.global.workspace.clone(), variables, here, home }
    }
}
