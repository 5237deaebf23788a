//! `moss setup`: moss in the configuration of a client, and out of it again.

mod check;
mod configured;
mod directories;
mod file;
mod record;
mod started;
mod undo;

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use moss_client_settings::{self as settings, CLIENTS, ClientRow, NotEdited};
use moss_dispatch::Outcome;
use moss_sdk::RelPath;
use moss_workspace::dirs::Dirs;
use serde_json::{Value, json};

use self::configured::{ConfiguredServer, configured, not_set_up};
use self::directories::UserDirectories;
use self::record::SetupRecord;
use self::started::DIRECTORIES;
use super::error::CliError;
use super::{Session, diff, prompt, table, text};

/// Most bytes that are shown of one line of a diff.
const LINE_BYTES_MAX: usize = 1_000;
/// So much of a long line is shown before what changes.
const LEAD_BYTES: usize = 200;
/// What the file is called in a diff whose own name no diff can show.
const NAMELESS: &str = "configuration";

/// A client, its file, whether it is installed, and what it is configured to start, or why that is not known.
type ListedClient = (&'static ClientRow, PathBuf, bool, Result<Option<ConfiguredServer>, CliError>);

/// Set moss up in a client that speaks MCP
///
/// Shows what changes in the client's own configuration of the user, asks, and keeps a backup. Comments
/// and everything else in the file stay as they are; the client need not be installed yet. With --workspace,
/// --server, --token-file or options of TLS the client uses these, too.
#[derive(Debug, clap::Args)]
pub(super) struct ClientSetupArgs {
    /// The client to set up; --list shows all
    #[arg(value_parser = client())]
    client: Option<String>,

    /// Do it without asking
    #[arg(long, conflicts_with = "list")]
    yes: bool,

    /// Restore what the file was before; or the entry alone, where the file has changed since
    #[arg(long, conflicts_with_all = ["list", "check", "set", "elicit"])]
    undo: bool,

    /// Start what the client is configured to start, and call a tool
    #[arg(long, conflicts_with_all = ["list", "set", "elicit", "yes"])]
    check: bool,

    /// List the clients: which are installed, which are set up
    #[arg(long, conflicts_with = "client")]
    list: bool,

    /// Tools that the client sees: default, read-only, all, or a set of your config.toml
    ///
    /// Without it those that the client sees already.
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    set: Option<String>,

    /// Let forms that the client shows decide about effects: see `moss mcp --help`
    #[arg(long, conflicts_with = "list")]
    elicit: bool,
}

pub(super) async fn run(args: ClientSetupArgs, session: &Session) -> Result<Outcome, CliError> {
    let directories = UserDirectories::of_environment()?;
    let Some(client) = args.client.as_deref().and_then(settings::find) else {
        if !args.list {
            return Err(CliError::invalid(
                "name the client to set up; `moss setup --list` shows all",
            ));
        }
        return list(&directories, session);
    };
    if args.check {
        let configured = configured(client, &directories)?;
        let configured = configured.ok_or_else(|| not_set_up(client, &directories))?;
        if let Some(off) = &configured.switched_off {
            return Err(switched_off(client, &directories.file(client), off));
        }
        return check::run(client, &configured, session).await;
    }
    if args.undo {
        return undo::run(client, &args, &directories, session).await;
    }
    set_up(client, &args, &directories, session).await
}

fn client() -> PossibleValuesParser {
    PossibleValuesParser::new(CLIENTS.iter().map(|client| client.id))
}

async fn set_up(
    client: &ClientRow,
    args: &ClientSetupArgs,
    directories: &UserDirectories,
    session: &Session,
) -> Result<Outcome, CliError> {
    if let Some(set) = &args.set {
        session.tool_set(set)?;
    }
    let configured = configured(client, directories).ok().flatten();
    // Without a question it stays as it is.
    let decides = match (&configured, args.yes) {
        _ if args.elicit => true,
        (Some(configured), true) => configured.has_forms(),
        (None, true) => false,
        (_, false) => wants_forms(client, session).await?,
    };
    let server = started::command(session, args.set.as_deref(), decides, configured.as_ref())?;
    let (path, is_installed) = (directories.file(client), directories.is_installed(client));
    // What is not there yet is made only once there is a yes.
    let before = file::read(&path)?;
    if before.is_none()
        && let Some(replaced) = directories.replaced_file(client)
    {
        return Err(would_hide(client, &path, &replaced));
    }
    let now = before.as_deref().map(|text| settings::entry(client, text)).transpose();
    let now = now.map_err(|error| not_edited(&path, &error))?.flatten();
    let new = match &now {
        Some(now) => client.updated(now, &server, &DIRECTORIES.map(|(name, _)| name)),
        None => settings::new_entry(client, before.as_deref(), &server),
    };
    let off = client.switched_off(&new).map(|off| format!("; it is switched off there (`{off}`)"));
    let off = off.unwrap_or_default();
    if now.as_ref() == Some(&new) {
        session.ui.print(&format!("{} is set up already: {}{off}", client.title, shown(&path)))?;
        return Ok(Outcome::Ok);
    }
    let after = settings::with_entry(client, before.as_deref(), &new);
    let after = after.map_err(|error| not_edited(&path, &error))?;
    // A link to nothing is refused before anybody is asked.
    file::target(&path)?;
    show(session, &path, before.as_deref(), Some(&after));
    if !agreed(args, session).await? {
        return Err(CliError::new(Outcome::Unconfirmed, "unconfirmed", "nothing was changed"));
    }
    if file::read(&path)? != before {
        return Err(changed_meanwhile(&path));
    }
    let kept = write(&session.dirs()?, client, &path, before.as_deref(), &after)?;
    let mut done = format!("{} is set up in {}{off}", client.title, shown(&path));
    if let Some(kept) = kept {
        done.push_str(&format!("; what was there before: {}", shown(&kept)));
    }
    if !is_installed {
        done.push_str("; it is not installed yet");
    }
    session.ui.print(&done)?;
    session.ui.note(&next_steps(client, decides));
    Ok(Outcome::Ok)
}

/// Writes a file that was agreed to, after its record. Returns where what a person had there is kept.
fn write(
    dirs: &Dirs,
    client: &ClientRow,
    path: &Path,
    before: Option<&str>,
    after: &str,
) -> Result<Option<PathBuf>, CliError> {
    let known = SetupRecord::load(dirs, client, path)?;
    // What moss itself wrote last is nothing to go back to.
    let of_moss = known.as_ref().filter(|known| before.is_some_and(|text| known.wrote(text)));
    let text = of_moss.map_or(before, |known| known.before.as_deref());
    let kept = text.map(|text| record::keep_text(dirs, client, path, text)).transpose()?;
    SetupRecord::of_setup(known.as_ref(), client, path, before, after).save(dirs, client)?;
    if let Err(error) = file::write(path, before, Some(after)) {
        // Nothing was set up: what was known of the file is still so.
        match known {
            Some(known) => known.save(dirs, client)?,
            None => SetupRecord::remove(dirs, client, path)?,
        }
        return Err(error);
    }
    Ok(kept)
}

/// What remains to be done, and how to see that it works.
fn next_steps(client: &ClientRow, decides: bool) -> String {
    let edits = match decides {
        true => "Edits ask in the client.".to_owned(),
        false => "Reading works as it is; for edits run `moss serve` in the project and `moss confirm watch` in \
                  a terminal, or set it up again with --elicit."
            .to_owned(),
    };
    format!(
        "restart {}. {edits} Try it with `moss setup {} --check`, undo it with --undo",
        client.title, client.id
    )
}

fn list(directories: &UserDirectories, session: &Session) -> Result<Outcome, CliError> {
    let rows: Vec<_> = CLIENTS
        .iter()
        .map(|client| {
            let configured = configured(client, directories);
            let is_installed = directories.is_installed(client);
            (client, directories.file(client), is_installed, configured)
        })
        .collect();
    session.ui.print_either(
        || rows.iter().map(view).collect(),
        || {
            let cells: Vec<_> = rows.iter().map(cells).collect();
            table::render(["CLIENT", "INSTALLED", "FILE", "STARTS"], &cells)
        },
    )?;
    Ok(Outcome::Ok)
}

/// A row of the list for programs.
fn view((client, path, is_installed, configured): &ListedClient) -> Value {
    let server = configured.as_ref().ok().and_then(Option::as_ref);
    json!({
        "client": client.id, "title": client.title, "file": path, "installed": is_installed,
        "command": server.map(ConfiguredServer::command_line),
        "set": server.map(ConfiguredServer::set),
        "elicit": server.map(ConfiguredServer::has_forms),
        "switched_off": server.and_then(|one| one.switched_off.as_ref()),
        "error": configured.as_ref().err().map(|error| &error.error.message),
    })
}

/// A row of the list for people.
fn cells((client, path, is_installed, configured): &ListedClient) -> [String; 4] {
    let installed = if *is_installed { "yes" } else { "-" };
    let starts = match configured {
        Ok(None) => "-".to_owned(),
        Ok(Some(server)) => match &server.switched_off {
            Some(off) => format!("nothing: switched off (`{off}`)"),
            None => text::line(&server.command_line()),
        },
        Err(error) => format!("not known: {}", text::line(&error.error.message)),
    };
    [client.id.to_owned(), installed.to_owned(), shown(path), starts]
}

fn switched_off(client: &ClientRow, path: &Path, off: &str) -> CliError {
    let message =
        format!("{} starts no moss: it is switched off in {} (`{off}`)", client.title, shown(path));
    CliError::new(Outcome::Failed, "switched_off", message)
        .hint("switch it on there or in the client")
}

async fn wants_forms(client: &ClientRow, session: &Session) -> Result<bool, CliError> {
    if !session.ui.interactive() || session.ui.json() {
        return Ok(false);
    }
    let words = &session.ui.wording().setup;
    session.ui.note(&(words.forms)(client.title));
    super::interruptible(async { Ok(prompt::agree(&session.ui, words.use_forms).await?) }).await
}

async fn agreed(args: &ClientSetupArgs, session: &Session) -> Result<bool, CliError> {
    if args.yes {
        return Ok(true);
    }
    let words = &session.ui.wording().setup;
    if !session.ui.interactive() {
        session.ui.note(words.nobody);
        return Ok(false);
    }
    super::interruptible(async { Ok(prompt::agree(&session.ui, words.write).await?) }).await
}

fn show(session: &Session, path: &Path, before: Option<&str>, after: Option<&str>) {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // Whatever it is called, what a person agrees to is shown.
    let Ok(name) = RelPath::parse(&name).or_else(|_| RelPath::parse(NAMELESS)) else { return };
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    let (before, after) = (bytes(before), bytes(after));
    let shown_diff = moss_workspace::between(&name, before.as_deref(), after.as_deref());
    session.ui.note(&format!("{}\n{}", shown(path), diff::colored(&cut_lines(&shown_diff.text))));
    if file::has_other_names(path) {
        session.ui.note(&format!(
            "{} is a hard link: its other names keep what is there now; link them again afterwards",
            shown(path)
        ));
    }
}

/// Cuts what is too long to be read: programs write files of one line. What stays of such a line is where it
/// first differs from the one it replaces, or its beginning: what a person agrees to is shown.
fn cut_lines(diff: &str) -> String {
    let signed = |sign: char| diff.lines().filter_map(move |line| line.strip_prefix(sign));
    let starts: Vec<usize> = signed('-').zip(signed('+')).map(shown_from).collect();
    let (mut removed, mut added) = (starts.iter(), starts.iter());
    let mut cut = String::new();
    for line in diff.split_inclusive('\n') {
        let start = match line.chars().next() {
            Some('-') => removed.next(),
            Some('+') => added.next(),
            _ => None,
        };
        let text = line.trim_end_matches('\n');
        let (sign, text) = text.split_at(text.ceil_char_boundary(1));
        if text.len() <= LINE_BYTES_MAX {
            cut.push_str(line);
            continue;
        }
        let start = text.floor_char_boundary(start.map_or(0, |start| *start));
        let end = text.floor_char_boundary(start + LINE_BYTES_MAX);
        let [before, after] =
            [start > 0, end < text.len()].map(|is_cut| if is_cut { "…" } else { "" });
        let shown = &text[start..end];
        cut.push_str(&format!("{sign}{before}{shown}{after} ({} bytes)\n", text.len()));
    }
    cut
}

/// Where the part of a long line begins that is shown: a little before its first difference.
fn shown_from((before, after): (&str, &str)) -> usize {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
    same.saturating_sub(LEAD_BYTES)
}

fn shown(path: &Path) -> String {
    text::line(&path.display().to_string())
}

fn not_edited(path: &Path, error: &NotEdited) -> CliError {
    CliError::new(Outcome::Failed, "config_unusable", format!("{}: {error}", shown(path)))
}

fn would_hide(client: &ClientRow, path: &Path, replaced: &Path) -> CliError {
    let (title, path, replaced) = (client.title, shown(path), shown(replaced));
    let message = format!(
        "{title} has its configuration in {replaced}, which it reads no more once there is {path}; nothing was written"
    );
    CliError::new(Outcome::Failed, "config_unusable", message)
        .hint(format!("have {title} move its configuration to {path}, then run the command again"))
}

fn changed_meanwhile(path: &Path) -> CliError {
    let message = format!("{} changed meanwhile; nothing was written", shown(path));
    CliError::new(Outcome::Failed, "conflict", message).hint("run the command again")
}

fn unusable(error: moss_workspace::Error) -> CliError {
    CliError::new(Outcome::Failed, "config_unusable", error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_nobody_reads_is_cut_and_says_how_long_it_is() {
        let short = format!("+{}\n", "a".repeat(LINE_BYTES_MAX - 2));
        let long = format!("-{}\n", "é".repeat(LINE_BYTES_MAX));
        let cut = cut_lines(&format!("@@ @@\n{short}{long} end"));
        let shown = format!("-{}… (2000 bytes)\n", "é".repeat(LINE_BYTES_MAX / 2));
        assert_eq!(cut, format!("@@ @@\n{short}{shown} end"));
    }

    #[test]
    fn of_a_line_that_is_replaced_the_change_is_shown() {
        let line = |entry: &str| format!("{}{entry}{}", "é".repeat(700), "x".repeat(900));
        let diff = format!("--- a/f\n+++ b/f\n@@ @@\n-{}\n+{}\n", line("old"), line("new"));
        let shown = |entry: &str| {
            format!("…{}{entry}{}… (2303 bytes)\n", "é".repeat(LEAD_BYTES / 2), "x".repeat(797))
        };
        let expected = format!("--- a/f\n+++ b/f\n@@ @@\n-{}+{}", shown("old"), shown("new"));
        assert_eq!(cut_lines(&diff), expected);
        // A line that grows at its end.
        let short = "a".repeat(LINE_BYTES_MAX);
        let cut = cut_lines(&format!("-{short}\n+{short}b\n"));
        assert!(cut.ends_with("ab (1001 bytes)\n"), "{cut}");
    }
}
