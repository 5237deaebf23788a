//! `moss setup CLIENT --undo`: the file is what it was before; where it has changed since, only the entry is.

use moss_dispatch::Outcome;

use super::clients::{ClientRow, NAME, UserDirectories};
use super::edit::{self, NotEdited};
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
    let usual = client.file(directories);
    let record = SetupRecord::load(&dirs, client.id)?;
    // A setup that was undone is of no other file than its own.
    let record = record.filter(|record| !record.undone || record.path == usual);
    let path = record.as_ref().map_or(usual, |record| record.path.clone());
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
    let mut done = match whole {
        Some(_) => format!("{} is what it was before", shown(&path)),
        None => changed_since(client, &shown(&path), record.as_ref()),
    };
    // What is in the file now is not kept anywhere where no setup of moss is known.
    let kept = match record.as_ref().is_none_or(|record| record.undone) {
        true => Some(record::keep_text(&dirs, client, text)?),
        false => None,
    };
    file::write(&path, after.as_deref())?;
    let ended = record.filter(|record| !record.undone);
    let ended = ended.map(|record| record.end(&dirs, client, is_whole)).transpose()?.flatten();
    let backup = kept.or(ended);
    if let Some(backup) = backup {
        done.push_str(&format!("; what was there before: {}", shown(&backup)));
    }
    session.ui.print(&done)?;
    Ok(Outcome::Ok)
}

/// What a file that has changed since is with the entry of before; without one it is as [`without_entry`] makes it.
fn without_moss(
    client: &ClientRow,
    text: &str,
    record: Option<&SetupRecord>,
) -> Result<Option<String>, NotEdited> {
    let Some(record) = record else { return edit::without_entry(client, text).map(Some) };
    match record.entry_before(client) {
        // It was put back already: what stands there now is the person's.
        Some(_) if record.undone => Ok(Some(text.to_owned())),
        Some(entry) => edit::with_entry(client, Some(text), &entry).map(Some),
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
    let left = edit::without_entry(client, text)?;
    if record.undone || left == text {
        return Ok(Some(left));
    }
    let before = record.before.as_deref();
    let left = edit::without_empty_keys(client, &left, before.unwrap_or_default())?;
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
