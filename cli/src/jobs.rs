//! `moss jobs`: commands that run in the background at a daemon.

use moss_proto::v1;
use serde_json::{Value, json};

use crate::client::Client;

use super::error::CliError;
use super::ui::{Ui, bold, dim, yellow};
use super::wording::JobWording;
use super::{Session, table, text, views};
use moss_dispatch::Outcome;

/// How long the daemon is asked to wait for more output, in milliseconds.
const FOLLOW_WAIT_MS: u32 = 20_000;

/// Show and stop commands that run in the background
///
/// They are what the tool `run_terminal_cmd` left running, and end with the daemon. Of all workspaces, unless
/// `--workspace` names one. An ID may be shortened while it stays unique.
#[derive(Debug, clap::Subcommand)]
pub(super) enum JobsCommand {
    /// List jobs: all that run, and those that ended last
    List,
    /// Show a job and the end of what it wrote
    Show(JobShowArgs),
    /// End a job with all that it started
    ///
    /// It gets SIGTERM and, two seconds later, SIGKILL.
    Stop(JobStopArgs),
}

#[derive(Debug, clap::Args)]
pub(super) struct JobShowArgs {
    /// ID of the job, or its beginning
    id: String,

    /// Show what it writes as it comes, until it ends
    ///
    /// With `--json` each part is a line.
    #[arg(long, short)]
    follow: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct JobStopArgs {
    /// ID of the job, or its beginning
    id: String,
}

pub(super) async fn run(command: JobsCommand, session: &Session) -> Result<Outcome, CliError> {
    let scope = session.global.workspace.as_ref().map(|_| session.named_root()).transpose()?;
    let scope = scope.flatten();
    session
        .with_daemon(async |client| {
            let jobs = client.jobs(scope.as_deref()).await?;
            match &command {
                JobsCommand::List => list(&session.ui, &jobs),
                JobsCommand::Show(args) if args.follow => {
                    follow(&session.ui, client, &find(&jobs, &args.id)?.id).await
                }
                JobsCommand::Show(args) => {
                    show(&session.ui, client, &find(&jobs, &args.id)?.id).await
                }
                JobsCommand::Stop(args) => {
                    stop(&session.ui, client, &find(&jobs, &args.id)?.id).await
                }
            }
        })
        .await
}

fn list(ui: &Ui, jobs: &[v1::Job]) -> Result<Outcome, CliError> {
    ui.print_either(
        || json!({ "jobs": jobs.iter().map(view).collect::<Vec<_>>() }),
        || {
            if jobs.is_empty() {
                return "no jobs".to_owned();
            }
            let rows: Vec<_> = jobs.iter().map(|job| row(&ui.wording().job, job)).collect();
            table::render(["ID", "STARTED", "STATE", "CALLER", "COMMAND"], &rows)
        },
    )?;
    Ok(Outcome::Ok)
}

fn row(words: &JobWording, job: &v1::Job) -> [String; 5] {
    [
        job.id.clone(),
        views::time(job.started_at.as_ref()),
        state(words, job),
        job.caller.clone(),
        job.command.clone(),
    ]
}

/// What it does, or what became of it.
fn state(words: &JobWording, job: &v1::Job) -> String {
    match (job.exit_code, job.signal) {
        _ if job.running && !job.asks.is_empty() => words.waits.to_owned(),
        _ if job.running => words.running.to_owned(),
        (Some(code), _) => (words.exited)(code),
        (None, Some(signal)) => (words.killed)(signal),
        (None, None) => words.ended.to_owned(),
    }
}

async fn show(ui: &Ui, client: &Client, id: &str) -> Result<Outcome, CliError> {
    let shown = client.job_output(id, None, 0).await?;
    let job = shown.job.clone().unwrap_or_default();
    ui.print_either(
        || part(&shown),
        || {
            let mut lines = described(&ui.wording().job, &job);
            lines.push(String::new());
            lines.push(text::lines(&shown.text));
            lines.join("\n")
        },
    )?;
    Ok(Outcome::Ok)
}

/// A job in lines: the command, what it does, what else there is to say.
fn described(words: &JobWording, job: &v1::Job) -> Vec<String> {
    let command = bold(text::lines(&job.command));
    let seconds = job.duration_ms / 1_000;
    let started = views::time(job.started_at.as_ref());
    let about = [
        text::line(&job.id),
        state(words, job),
        format!("{seconds} s"),
        started,
        text::line(&job.caller),
        text::line(&job.workspace),
    ];
    let mut lines = vec![command, dim(about.join("  "))];
    if !job.asks.is_empty() {
        lines.push(format!("{} {}", yellow(words.asks), text::line(&job.asks)));
    }
    if !job.ended_by.is_empty() {
        lines.push((words.ended_by)(&text::line(&job.ended_by)));
    }
    lines.extend(job.notes.iter().map(|note| text::line(note)));
    lines
}

async fn follow(ui: &Ui, client: &Client, id: &str) -> Result<Outcome, CliError> {
    let mut shown = client.job_output(id, None, 0).await?;
    loop {
        let job = shown.job.clone().unwrap_or_default();
        if ui.json() {
            ui.print_json_line(&part(&shown))?;
        } else {
            ui.print_part(&text::lines(&shown.text))?;
        }
        if !job.running && !shown.more {
            if !ui.json() {
                described(&ui.wording().job, &job).iter().for_each(|line| ui.note(line));
            }
            return Ok(Outcome::Ok);
        }
        let next = shown.next;
        shown = client.job_output(id, Some(next), FOLLOW_WAIT_MS).await?;
    }
}

async fn stop(ui: &Ui, client: &Client, id: &str) -> Result<Outcome, CliError> {
    let job = client.stop_job(id).await?;
    ui.print_either(
        || json!({ "job": view(&job) }),
        || {
            let words = &ui.wording().job;
            let id = text::line(&job.id);
            if job.running { (words.does_not_end)(&id) } else { (words.stopped)(&id) }
        },
    )?;
    Ok(if job.running { Outcome::Failed } else { Outcome::Ok })
}

/// Finds the job with this ID or prefix.
fn find<'a>(jobs: &'a [v1::Job], id: &str) -> Result<&'a v1::Job, CliError> {
    let mut fitting = jobs.iter().filter(|job| job.id.starts_with(id));
    match (fitting.next().filter(|_| !id.is_empty()), fitting.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::invalid(format!("`{id}` is the beginning of several IDs")))
        }
        (None, _) => {
            let message = format!("there is no job `{id}`");
            Err(CliError::new(Outcome::Failed, "job_unknown", message))
        }
    }
}

/// A part of the output as JSON.
fn part(shown: &v1::GetJobOutputResponse) -> Value {
    json!({
        "job": shown.job.as_ref().map(view),
        "output": shown.text,
        "since": shown.since,
        "next": shown.next,
        "more": shown.more,
        "note": Some(&shown.note).filter(|note| !note.is_empty()),
    })
}

fn view(job: &v1::Job) -> Value {
    let set = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    json!({
        "id": job.id,
        "workspace": job.workspace,
        "command": job.command,
        "directory": job.directory,
        "caller": job.caller,
        "running": job.running,
        "exit_code": job.exit_code,
        "signal": job.signal,
        "started_at": views::time(job.started_at.as_ref()),
        "duration_ms": job.duration_ms,
        "output_bytes": job.output_bytes,
        "asks": set(&job.asks),
        "ended_by": set(&job.ended_by),
        "artifact": set(&job.artifact),
        "notes": job.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::super::wording::EN;
    use super::*;

    #[test]
    fn a_job_is_shown_by_what_it_does_or_what_became_of_it() {
        let running = v1::Job { running: true, ..v1::Job::default() };
        let asking = v1::Job { asks: "Password:".to_owned(), ..running.clone() };
        let exited = v1::Job { exit_code: Some(3), ..v1::Job::default() };
        let killed = v1::Job { signal: Some(9), ..v1::Job::default() };
        let states: Vec<_> = [running, asking, exited, killed, v1::Job::default()]
            .iter()
            .map(|job| state(&EN.job, job))
            .collect();
        assert_eq!(states, ["running", "waits for input", "exited with 3", "signal 9", "ended"]);
    }

    #[test]
    fn what_a_job_says_of_itself_is_made_harmless() {
        let evil = "\u{1b}[2J\u{202e}".to_owned();
        let job = v1::Job {
            id: "a1".to_owned(),
            command: format!("x{evil}"),
            asks: evil.clone(),
            ended_by: evil.clone(),
            notes: vec![evil],
            ..v1::Job::default()
        };
        let shown = described(&EN.job, &job).join("\n");
        assert!(!shown.contains('\u{202e}') && !shown.contains("\u{1b}[2J"), "{shown:?}");
    }
}
