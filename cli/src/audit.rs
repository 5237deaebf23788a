//! `moss audit`: the audit journal of the workspace, read from the state directory. A daemon that
//! writes meanwhile does not matter.

use moss_grpc::address::Address;
use moss_journal::audit::{self, AuditEntry, AuditFilter, Verification};
use serde_json::{Value, json};

use super::error::CliError;
use super::{Session, table, text};
use moss_dispatch::Outcome;

/// Print and verify the audit journal
#[derive(Debug, clap::Subcommand)]
pub(super) enum AuditCommand {
    /// Print the newest records in chronological order
    Tail(TailArgs),
    /// Check that no record was changed, removed or inserted
    ///
    /// Note the head: comparing it later also shows that records were cut off the end.
    Verify,
}

#[derive(Debug, clap::Args)]
pub(super) struct TailArgs {
    /// Print at most N records
    #[arg(short = 'n', long = "lines", value_name = "N", default_value_t = 20)]
    lines: usize,

    /// Only records of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
}

pub(super) fn run(command: &AuditCommand, session: &Session) -> Result<Outcome, CliError> {
    if let Some(Address::Tcp(_)) = &session.global.remote.server {
        return Err(CliError::invalid("the journal is read on the daemon's machine: run it there"));
    }
    let directory = session.dirs()?.workspace_state(&session.root()?);
    let unreadable = |error: moss_journal::JournalError| {
        CliError::new(Outcome::Failed, "state_unusable", error.to_string())
    };
    match command {
        AuditCommand::Tail(args) => {
            let filter = AuditFilter {
                limit: args.lines,
                tool: args.tool.clone(),
                ..AuditFilter::default()
            };
            let entries = audit::tail(&directory, &filter).map_err(unreadable)?;
            session.ui.print_either(|| json!({ "records": entries }), || listed(&entries))?;
            Ok(Outcome::Ok)
        }
        AuditCommand::Verify => {
            let verified = audit::verify(&directory).map_err(unreadable)?;
            session.ui.print_either(|| json!(verified), || described(&verified))?;
            Ok(if verified.broken_at.is_some() { Outcome::Failed } else { Outcome::Ok })
        }
    }
}

fn listed(entries: &[AuditEntry]) -> String {
    let rows: Vec<_> = entries.iter().map(row).collect();
    table::render(["N", "TIME", "CALL", "TOOL", "WHAT"], &rows)
}

fn row(entry: &AuditEntry) -> [String; 5] {
    let field = |name: &str| match entry.record.get(name) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "-".to_owned(),
    };
    let call: String = field("call_id").chars().take(8).collect();
    [entry.seq.to_string(), field("time"), call, field("tool"), what(&entry.record)]
}

/// Puts what a record says beside its first columns into one line.
fn what(record: &Value) -> String {
    let Some(fields) = record.as_object() else { return record.to_string() };
    let mut words = vec![fields.get("kind").and_then(Value::as_str).unwrap_or("-").to_owned()];
    for (name, value) in fields {
        if ["time", "call_id", "tool", "kind"].contains(&name.as_str()) {
            continue;
        }
        match value {
            Value::String(text) => words.push(format!("{name}={text}")),
            other => words.push(format!("{name}={other}")),
        }
    }
    words.join(" ")
}

fn described(verified: &Verification) -> String {
    let head = verified.head.as_deref().unwrap_or("-");
    match verified.broken_at {
        None => {
            let cut = match &verified.pruned {
                None => String::new(),
                Some(cut) => {
                    let (through, hash) = (cut.through, text::line(&cut.hash));
                    format!("; records up to {through} were cut off, the last with hash {hash}")
                }
            };
            format!("{} records in order, head {}{cut}", verified.rows, text::line(head))
        }
        Some(number) => format!(
            "record {number} is missing or not what was written; {} records before it are in order",
            verified.rows
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_one_line_each() {
        let record = json!({
            "time": "2026-01-01T00:00:00.000Z", "call_id": "0123456789", "tool": "read_file",
            "kind": "call_finished", "outcome": "ok", "duration_us": 5,
        });
        let row = row(&AuditEntry { seq: 7, record, hash: "h".into() });
        assert_eq!(
            row.map(|cell| cell.clone()),
            [
                "7",
                "2026-01-01T00:00:00.000Z",
                "01234567",
                "read_file",
                "call_finished outcome=ok duration_us=5"
            ]
        );
        assert_eq!(what(&json!("damaged")), "\"damaged\"");
    }

    #[test]
    fn broken_chain_names_the_location() {
        let broken = Verification { rows: 3, head: None, broken_at: Some(4), pruned: None };
        assert!(described(&broken).starts_with("record 4 is missing"));
        let whole =
            Verification { rows: 3, head: Some("ab".into()), broken_at: None, pruned: None };
        assert_eq!(described(&whole), "3 records in order, head ab");
    }
}
