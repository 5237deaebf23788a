//! `moss setup CLIENT --undo`: the file is what it was before; where it has changed since, only the entry is.

use std::path::{Path, PathBuf};

use moss_client_settings::{self as settings, ClientRow, NAME, NotEdited};
use moss_dispatch::Outcome;
use moss_workspace::dirs::Dirs;

use super::directories::UserDirectories;
use super::record::{self, SetupRecord};
use super::{ClientSetupArgs, agreed, changed_meanwhile, file, not_edited, show, shown};
use crate::Session;
use crate::error::CliError;

pub(super) async fn run(
    client: &ClientRow,
    args: &ClientSetupArgs,
    directories: &UserDirectories,
    session: &Session,
) -> Result<Outcome, CliError> {
    let dirs = session.dirs()?;
    let (path, record) = file_with_record(client, directories, &dirs)?;
    let before = file::read(&path)?;
    let Some(text) = before.as_deref() else {
        let why = format!("{} is not set up: there is no {}", client.title, shown(&path));
        session.ui.print(&why)?;
        return Ok(Outcome::Ok);
    };
    let whole = record.as_ref().filter(|record| record.wrote(text));
    let after = match whole {
        Some(record) => record.before.clone(),
        None => {
            let without = without_moss(client, text, record.as_ref());
            without.map_err(|error| not_edited(&path, &error))?
        }
    };
    if after == before {
        session.ui.print(&format!("{} is not set up in {}", client.title, shown(&path)))?;
        return Ok(Outcome::Ok);
    }
    show(session, &path, before.as_deref(), after.as_deref());
    if !agreed(args, session).await? {
        return Err(CliError::new(Outcome::Unconfirmed, "unconfirmed", "nothing was changed"));
    }
    if file::read(&path)? != before {
        return Err(changed_meanwhile(&path));
    }
    let is_whole = whole.is_some();
    let done = match is_whole {
        true => format!("{} is what it was before", shown(&path)),
        false => {
            let kept = kept(client, &path, text, record.as_ref(), &dirs)?;
            format!("{}{kept}", changed_since(client, &shown(&path), record.as_ref()))
        }
    };
    file::write(&path, before.as_deref(), after.as_deref())?;
    if let Some(record) = record.filter(|record| !record.undone) {
        record.end(&dirs, client, is_whole)?;
    }
    session.ui.print(&done)?;
    Ok(Outcome::Ok)
}

/// The file whose setup is undone, with the record of it: the one that the client reads here. Where that is another
/// than at the setup, as one of a newer version of the client, it is that of the setup.
fn file_with_record(
    client: &ClientRow,
    directories: &UserDirectories,
    dirs: &Dirs,
) -> Result<(PathBuf, Option<SetupRecord>), CliError> {
    let path = directories.file(client);
    let record = SetupRecord::load(dirs, client, &path)?;
    if record.as_ref().is_none_or(|record| record.undone) {
        for other in directories.possible_files(client) {
            let record = SetupRecord::load(dirs, client, &other)?;
            if record.as_ref().is_some_and(|record| !record.undone) {
                return Ok((other, record));
            }
        }
    }
    Ok((path, record))
}

/// Keeps a copy of a file that will not be as it was before the setup: a person may have written what goes with the
/// entry. Returns where that is, and what was there before the setup.
fn kept(
    client: &ClientRow,
    path: &Path,
    text: &str,
    record: Option<&SetupRecord>,
    dirs: &Dirs,
) -> Result<String, CliError> {
    let known = record.filter(|record| !record.undone);
    let first = match known.and_then(|record| record.before.as_deref()) {
        Some(first) => {
            let first = record::keep_text(dirs, client, path, first)?;
            format!("; what was there before the setup: {}", shown(&first))
        }
        None => String::new(),
    };
    let last = record::keep_text(dirs, client, path, text)?;
    Ok(format!("{first}; what was there before: {}", shown(&last)))
}

/// What a file that has changed since is with the entry of before; without one it is as [`without_entry`] makes it.
fn without_moss(
    client: &ClientRow,
    text: &str,
    record: Option<&SetupRecord>,
) -> Result<Option<String>, NotEdited> {
    let Some(record) = record else { return settings::without_entry(client, text).map(Some) };
    match record.entry_before(client) {
        // It was put back already: what stands there now is the person's.
        Some(_) if record.undone => Ok(Some(text.to_owned())),
        Some(entry) => settings::with_entry(client, Some(text), &entry).map(Some),
        None => without_entry(client, text, record),
    }
}

/// What a file that has changed since is without the entry, and without what was made to hold it; none where that
/// leaves nothing of a file that moss made.
fn without_entry(
    client: &ClientRow,
    text: &str,
    record: &SetupRecord,
) -> Result<Option<String>, NotEdited> {
    let left = settings::without_entry(client, text)?;
    if record.undone || left == text {
        return Ok(Some(left));
    }
    let before = record.before.as_deref();
    let left = settings::without_empty_keys(client, &left, before.unwrap_or_default())?;
    let is_nothing = matches!(left.trim(), "" | "{}") || left.trim() == client.preamble.trim();
    Ok(Some(left).filter(|_| before.is_some() || !is_nothing))
}

fn changed_since(client: &ClientRow, path: &str, record: Option<&SetupRecord>) -> String {
    if record.is_none_or(|record| record.undone) {
        return format!("{path} has no entry of moss any more; the rest stays as it is");
    }
    let is_back = record.is_some_and(|record| record.entry_before(client).is_some());
    let entry = match is_back {
        true => format!("has the entry `{NAME}` that it had before"),
        false => "has no entry of moss any more".to_owned(),
    };
    format!("{path} {entry}; it had changed since, so the rest stays as it is")
}
