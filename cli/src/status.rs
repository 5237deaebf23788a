//! `moss status`.

use std::fmt::Write as _;

use moss_proto::v1;

use super::error::CliError;
use super::ui::{bold, yellow};
use super::{Session, text, views};
use moss_dispatch::Outcome;

/// Show the status of the daemon: workspaces, plugins, load
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {}

pub(super) async fn run(session: &Session) -> Result<Outcome, CliError> {
    let status = session.with_daemon(async |client| Ok(client.status().await?)).await?;
    session.ui.print_either(|| views::status(&status), || described(&status))?;
    Ok(Outcome::Ok)
}

fn described(status: &v1::GetStatusResponse) -> String {
    let mut shown = format!(
        "moss {}, pid {}, since {}\n{} calls running, {} queued; {} confirmations pending\n",
        text::line(&status.version),
        status.pid,
        views::time(status.started_at.as_ref()),
        status.calls_running,
        status.calls_queued,
        status.confirmations_pending,
    );
    if !status.config_problem.is_empty() {
        let problem = text::line(&status.config_problem);
        let _ = writeln!(shown, "{} {problem}", yellow("warning:"));
    }
    for workspace in &status.workspaces {
        let _ = writeln!(
            shown,
            "{}: {} tools, {} plugins ready, {} failed",
            bold(text::line(&workspace.root)),
            workspace.tools,
            workspace.plugins_ready,
            workspace.plugins_failed,
        );
        if let Some(index) = &workspace.index {
            for line in index_lines(index) {
                let _ = writeln!(shown, "  {line}");
            }
        }
        for editor in &workspace.editors {
            let _ = writeln!(
                shown,
                "  editor: {} {}, {} files open, {} not saved",
                text::line(&editor.name),
                text::line(&editor.version),
                editor.open,
                editor.unsaved,
            );
        }
        for server in &workspace.language_servers {
            let state = if server.running { "runs" } else { "does not run" };
            let _ = writeln!(
                shown,
                "  language server: {} {state}{}",
                text::line(&server.name),
                match &*server.project {
                    "" => String::new(),
                    project => format!(", in {}", text::line(project)),
                },
            );
        }
        if !workspace.policy_problem.is_empty() {
            let problem = text::line(&workspace.policy_problem);
            let _ = writeln!(shown, "  {} {problem}", yellow("warning:"));
        }
        if !workspace.approvals_problem.is_empty() {
            let problem = text::line(&workspace.approvals_problem);
            let _ = writeln!(shown, "  {} {problem}", yellow("approvals:"));
        }
        if !workspace.untrusted_list.is_empty() {
            let list = text::line(&workspace.untrusted_list);
            let _ = writeln!(shown, "  {} {list}", yellow("not trusted:"));
        }
        for problem in &workspace.plugin_problems {
            let _ = writeln!(shown, "  {} {}", yellow("plugin:"), text::line(problem));
        }
    }
    shown
}

/// What is kept of a workspace, a line each for its files and its texts.
pub(super) fn index_lines(index: &v1::IndexStatus) -> Vec<String> {
    let mut lines = vec![files_line(index)];
    lines.extend(index.texts.as_ref().map(texts_line));
    if index.incomplete > 0 {
        let files = index.incomplete;
        lines.push(format!("code: of {files} files only a part is known, as they are too large or too long to parse"));
    }
    lines.extend(index.embeddings.as_ref().map(embeddings_line));
    if let Some(texts) = index.texts.as_ref().filter(|texts| !texts.problem.is_empty()) {
        lines.push(format!("{} {}", yellow("index:"), text::line(&texts.problem)));
    }
    lines
}

fn files_line(index: &v1::IndexStatus) -> String {
    let state = views::index_state(index.state());
    let (entries, watched) = (index.entries, index.directories_watched);
    match index.state() {
        v1::IndexState::Ready => {
            format!("index: {state}, {entries} files and directories, {watched} watched")
        }
        v1::IndexState::Building => {
            format!("index: {state}, {entries} files and directories so far")
        }
        v1::IndexState::Off | v1::IndexState::Unspecified => off_line("index", &index.reason),
    }
}

fn texts_line(texts: &v1::TextIndexStatus) -> String {
    let state = views::index_state(texts.state());
    let (files, indexed) = (texts.files, texts.files_indexed);
    let [on_disk, in_memory] = [texts.disk_bytes, texts.memory_bytes].map(|it| it as f64 / 1e6);
    let known = match texts.state() {
        v1::IndexState::Ready => {
            format!(
                "texts: {state}, {files} files, {on_disk:.1} MB on disk, {in_memory:.1} MB in memory"
            )
        }
        v1::IndexState::Building => format!("texts: {state}, {indexed} of {files} files"),
        v1::IndexState::Off | v1::IndexState::Unspecified => {
            return off_line("texts", &texts.reason);
        }
    };
    if texts.reason.is_empty() { known } else { format!("{known}; {}", text::line(&texts.reason)) }
}

fn embeddings_line(known: &v1::EmbeddingStatus) -> String {
    let state = views::index_state(known.state());
    let (url, model) = (text::line(&known.url), text::line(&known.model));
    let (files, embedded) = (known.files, known.files_embedded);
    let mut line = match known.state() {
        v1::IndexState::Ready => {
            let megabytes = known.disk_bytes as f64 / 1e6;
            let chunks = known.chunks_embedded;
            format!(
                "embeddings: {state}, {chunks} chunks of {embedded} files, {megabytes:.1} MB on disk, {model} at {url}"
            )
        }
        v1::IndexState::Building => {
            format!("embeddings: {state}, {embedded} of {files} files, {model} at {url}")
        }
        v1::IndexState::Off | v1::IndexState::Unspecified => off_line("embeddings", &known.reason),
    };
    if !known.problem.is_empty() {
        let _ = write!(line, "; {} {}", yellow("left alone for now:"), text::line(&known.problem));
    }
    line
}

fn off_line(what: &str, reason: &str) -> String {
    match reason {
        "" => format!("{what}: off"),
        reason => format!("{what}: off, {}", text::line(reason)),
    }
}
