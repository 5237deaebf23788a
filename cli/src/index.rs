//! `moss index`.

use std::time::Duration;

use moss_live_index::{embeddings, text_index};
use moss_proto::v1;
use moss_workspace::name_of_root;
use serde_json::json;

use super::error::CliError;
use super::ui::dim;
use super::{Session, status, views};
use moss_dispatch::Outcome;

/// Show, rebuild or clear what a daemon keeps of the files
///
/// A daemon knows which files there are and which words they hold, so that listings need no walk and
/// searches read only files that may match. Results are the same with and without it.
#[derive(Debug, clap::Subcommand)]
pub(super) enum IndexCommand {
    /// Show how far it is and what it takes
    Status(WaitArgs),
    /// Forget what is known of texts and read them anew, in the background
    Rebuild(WaitArgs),
    /// Remove what is stored of texts, where no daemon keeps it
    Clear,
}

/// Whether to stay until everything is known.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct WaitArgs {
    /// Wait until all files and texts are known, and show how far it is meanwhile
    #[arg(long)]
    wait: bool,
}

/// How often a waiting person is shown how far it is.
const POLL: Duration = Duration::from_millis(200);

pub(super) async fn run(command: IndexCommand, session: &Session) -> Result<Outcome, CliError> {
    let (index, waiting) = match command {
        IndexCommand::Clear => return clear(session),
        IndexCommand::Status(waiting) => (status_of(session).await?, waiting),
        IndexCommand::Rebuild(waiting) => {
            let root = name_of_root(&session.root()?);
            let rebuilt =
                session.with_daemon(async |client| Ok(client.rebuild_index(root).await?));
            (rebuilt.await?, waiting)
        }
    };
    let index = if waiting.wait { known(index, session).await? } else { index };
    session.ui.print_either(|| views::index(&index), || status::index_lines(&index).join("\n"))?;
    Ok(Outcome::Ok)
}

/// Waits until everything is known that will be; shows how far it is on standard error.
async fn known(mut index: v1::IndexStatus, session: &Session) -> Result<v1::IndexStatus, CliError> {
    let mut shown = String::new();
    while is_building(&index) {
        let progress = status::index_lines(&index).join("; ");
        if progress != shown {
            session.ui.note(&progress);
            shown = progress;
        }
        tokio::time::sleep(POLL).await;
        index = status_of(session).await?;
    }
    Ok(index)
}

fn is_building(index: &v1::IndexStatus) -> bool {
    let texts = index.texts.as_ref().map(v1::TextIndexStatus::state);
    index.state() == v1::IndexState::Building || texts == Some(v1::IndexState::Building)
}

/// How the index of this workspace is doing, as the daemon that serves it says.
async fn status_of(session: &Session) -> Result<v1::IndexStatus, CliError> {
    let root = name_of_root(&session.root()?);
    let status = session.with_daemon(async |client| Ok(client.status().await?)).await?;
    let served = status.workspaces.into_iter().find(|workspace| workspace.root == root);
    let index = served.and_then(|workspace| workspace.index);
    index.ok_or_else(|| {
        let message = format!("the daemon does not serve {root}");
        CliError::new(Outcome::Invalid, "workspace_unknown", message)
            .hint("see what it serves with `moss status`")
    })
}

fn clear(session: &Session) -> Result<Outcome, CliError> {
    let (dirs, root) = (session.dirs()?, session.root()?);
    let directory = dirs.workspace_index(&root);
    let failed = |problem: String| {
        let error = CliError::new(Outcome::Failed, "index_unavailable", problem);
        error.hint("where a daemon keeps it, have it built anew with `moss index rebuild`")
    };
    let of_texts = text_index::clear(&directory).map_err(|problem| failed(problem.to_string()))?;
    let of_vectors = embeddings::clear(&dirs.workspace_embeddings(&root));
    let removed_bytes = of_texts + of_vectors.map_err(|error| failed(error.to_string()))?;
    session.ui.print_either(
        || json!({ "directory": directory, "removed_bytes": removed_bytes }),
        || format!("removed {removed_bytes} bytes {}", dim(directory.display().to_string())),
    )?;
    Ok(Outcome::Ok)
}
