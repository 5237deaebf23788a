//! Wire types to ours. What cannot be read is refused here, with the field's name.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use moss_builtin_tools::roots::RootSearch;
use moss_dispatch::{
    ApprovedDigests, Call, Caller, ConfirmMode, EffectDenial, Reason, Role, TraceParent, Work,
};
use moss_proto::v1;
use moss_proto::v1::undo_history_entry_request::Target;
use moss_sdk::{ContentHash, RelPath};
use moss_workspace::{UndoTarget, Workspace};
use tonic::metadata::MetadataMap;
use tonic::{Extensions, Status};

use super::auth::Attended;
use super::deadline;
use super::error::{self, invalid_field};
use moss_catalog::{Language, ListedSchema};
use moss_daemon::state::{Daemon, WorkspaceState};
use moss_daemon::traces::PARENT;
use moss_schema::SHOWN_KEY_CHARS_MAX;
use moss_schema::arguments::{self, UnreadableArguments};

/// Longest name of a session or a tool, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 256;
/// Longest name of a workspace, in bytes: a URI of its root may escape each byte of a path.
const ROOT_BYTES_MAX: usize = 3 * 4096 + 7;
/// Most workspaces that are named to be searched as one.
const FURTHER_WORKSPACES_MAX: usize = 64;
/// Most effects that a call may bring approvals for.
const APPROVED_DIGESTS_MAX: usize = 32;
/// Longest reason of a denial, in bytes.
pub(super) const REASON_BYTES_MAX: usize = 4 * 1024;
/// Most files whose content a call may expect.
const EXPECTED_HASHES_MAX: usize = 256;

/// Who calls, as the auth layer found.
pub(super) fn caller(extensions: &Extensions) -> Result<Caller, Status> {
    extensions.get::<Caller>().cloned().ok_or_else(|| error::internal("a request without a caller"))
}

/// Whether the approver's credential came with a call, as its own or beside the caller's.
pub(super) fn is_attended(caller: &Caller, extensions: &Extensions) -> bool {
    caller.role() == Role::Approver || extensions.get::<Attended>().is_some()
}

/// The span that a request names as its caller's.
pub(super) fn parent(metadata: &MetadataMap) -> Option<TraceParent> {
    let named = metadata.get(PARENT)?.to_str().ok()?;
    Some(TraceParent(named.to_owned()))
}

/// Finds a workspace by its name, which is its root directory.
pub(super) fn workspace(daemon: &Daemon, root: &str) -> Result<Arc<WorkspaceState>, Status> {
    bounded("workspace", root, ROOT_BYTES_MAX)?;
    daemon
        .workspace(root)
        .map_err(|unknown| error::status(Reason::WorkspaceUnknown, &unknown.to_string(), &[]))
}

/// Reads which workspaces are searched as one with the call's own; whether they are served is seen when
/// they are.
fn further_workspaces(tool: &str, roots: Vec<String>) -> Result<Vec<String>, Status> {
    if !roots.is_empty() && RootSearch::of_tool(tool).is_none() {
        let message = "only grep_search and file_search search several workspaces as one";
        return Err(invalid_field("further_workspaces", message));
    }
    if roots.len() > FURTHER_WORKSPACES_MAX {
        let message = format!("more than {FURTHER_WORKSPACES_MAX}");
        return Err(invalid_field("further_workspaces", &message));
    }
    for root in &roots {
        bounded("further_workspaces", root, ROOT_BYTES_MAX)?;
    }
    Ok(roots)
}

/// Reads a call with the deadline of its request.
pub(super) fn call(
    daemon: &Daemon,
    call: Option<v1::Call>,
    extensions: &Extensions,
    metadata: &MetadataMap,
) -> Result<Call, Status> {
    let call = call.ok_or_else(|| invalid_field("call", "missing"))?;
    bounded("session_id", &call.session_id, NAME_BYTES_MAX)?;
    bounded("tool", &call.tool, NAME_BYTES_MAX)?;
    let workspace = workspace(daemon, &call.workspace)?;
    let expected_hashes = expected_hashes(&workspace.files, &call.expected_hashes)?;
    let text = call.arguments_json;
    let arguments =
        arguments::parse(&text).map_err(|violation| UnreadableArguments { text, violation });
    let caller = caller(extensions)?;
    let is_attended = is_attended(&caller, extensions);
    Ok(Call {
        is_attended,
        approved_digests: approved_digests(&caller, &call.approved_digests)?,
        caller,
        workspace: workspace.name().to_owned(),
        further_workspaces: further_workspaces(&call.tool, call.further_workspaces)?,
        confirm: confirm_mode(call.confirm)?,
        denial: denial(call.denial, is_attended)?,
        dry_run: call.dry_run,
        session_id: Some(call.session_id).filter(|id| !id.is_empty()),
        expected_hashes,
        deadline: deadline::of_call(metadata.as_ref()),
        parent: parent(metadata),
        work: Work::Tool { name: call.tool, arguments },
    })
}

/// Reads an undo with the deadline of its request.
pub(super) fn undo(
    daemon: &Daemon,
    request: &v1::UndoHistoryEntryRequest,
    extensions: &Extensions,
    metadata: &MetadataMap,
) -> Result<Call, Status> {
    let caller = caller(extensions)?;
    Ok(Call {
        is_attended: is_attended(&caller, extensions),
        approved_digests: approved_digests(&caller, &request.approved_digests)?,
        caller,
        workspace: workspace(daemon, &request.workspace)?.name().to_owned(),
        further_workspaces: Vec::new(),
        confirm: confirm_mode(request.confirm)?,
        denial: None,
        dry_run: request.dry_run,
        session_id: None,
        expected_hashes: BTreeMap::new(),
        deadline: deadline::of_call(metadata.as_ref()),
        parent: parent(metadata),
        work: Work::Undo(undo_target(request.target.as_ref())?),
    })
}

fn undo_target(target: Option<&Target>) -> Result<UndoTarget, Status> {
    match target {
        Some(Target::Number(number)) => Ok(UndoTarget::Entry(*number)),
        Some(Target::Since(number)) => Ok(UndoTarget::Since(*number)),
        Some(Target::CallId(call_id)) => {
            bounded("call_id", call_id, NAME_BYTES_MAX)?;
            if call_id.is_empty() {
                return Err(invalid_field("call_id", "missing"));
            }
            Ok(UndoTarget::Call(call_id.clone()))
        }
        None => Err(invalid_field("target", "name an entry, a call or since when")),
    }
}

/// Reads an undo of a change of the prompt with the deadline of its request.
pub(super) fn undo_user_prompt(
    daemon: &Daemon,
    request: &v1::UndoUserPromptRequest,
    extensions: &Extensions,
    metadata: &MetadataMap,
) -> Result<Call, Status> {
    let v1::UndoUserPromptRequest { workspace, number, confirm, approved_digests, dry_run } =
        request.clone();
    let as_undo = v1::UndoHistoryEntryRequest {
        workspace,
        target: Some(Target::Number(number)),
        confirm,
        approved_digests,
        dry_run,
    };
    let number = Some(number).filter(|number| *number > 0);
    let call = undo(daemon, &as_undo, extensions, metadata)?;
    Ok(Call { work: Work::UndoUserPrompt { number }, ..call })
}

pub(super) fn language(language: i32) -> Result<Language, Status> {
    match v1::Language::try_from(language) {
        Ok(v1::Language::Unspecified | v1::Language::En) => Ok(Language::En),
        Ok(v1::Language::Zh) => Ok(Language::Zh),
        Err(_) => Err(invalid_field("language", "no such value")),
    }
}

pub(super) fn listed_schema(schema: i32) -> Result<ListedSchema, Status> {
    match v1::ListedSchema::try_from(schema) {
        Ok(v1::ListedSchema::Unspecified | v1::ListedSchema::Asi) => Ok(ListedSchema::Asi),
        Ok(v1::ListedSchema::Full) => Ok(ListedSchema::Full),
        Ok(v1::ListedSchema::Brief) => Ok(ListedSchema::Brief),
        Err(_) => Err(invalid_field("schema", "no such value")),
    }
}

pub(super) fn hash(field: &str, text: &str) -> Result<ContentHash, Status> {
    text.parse().map_err(|_| invalid_field(field, "expected 64 hexadecimal digits"))
}

pub(super) fn bounded(field: &str, text: &str, bytes_max: usize) -> Result<(), Status> {
    if text.len() <= bytes_max {
        return Ok(());
    }
    Err(invalid_field(field, &format!("longer than {bytes_max} bytes")))
}

fn confirm_mode(mode: i32) -> Result<ConfirmMode, Status> {
    match v1::ConfirmMode::try_from(mode) {
        Ok(v1::ConfirmMode::Unspecified) => Ok(ConfirmMode::Auto),
        Ok(v1::ConfirmMode::Wait) => Ok(ConfirmMode::Wait),
        Ok(v1::ConfirmMode::Refuse) => Ok(ConfirmMode::Refuse),
        Ok(v1::ConfirmMode::Leave) => Ok(ConfirmMode::Leave),
        Err(_) => Err(invalid_field("confirm", "no such value")),
    }
}

pub(super) fn approved_digests(
    caller: &Caller,
    digests: &[String],
) -> Result<ApprovedDigests, Status> {
    if digests.len() > APPROVED_DIGESTS_MAX {
        let message = format!("more than {APPROVED_DIGESTS_MAX}");
        return Err(invalid_field("approved_digests", &message));
    }
    if !digests.is_empty() && caller.role() < Role::Approver {
        return Err(error::role_missing("approving an effect by its digest", Role::Approver));
    }
    digests.iter().map(|digest| hash("approved_digests", digest)).collect()
}

/// Reads what the person said no to, from who decides about the call's effects.
fn denial(
    denial: Option<v1::EffectDenial>,
    is_attended: bool,
) -> Result<Option<EffectDenial>, Status> {
    let Some(v1::EffectDenial { digest, reason }) = denial else { return Ok(None) };
    if !is_attended {
        return Err(error::role_missing("denial", Role::Approver));
    }
    bounded("denial.reason", &reason, REASON_BYTES_MAX)?;
    Ok(Some(EffectDenial { digest: hash("denial.digest", &digest)?, reason }))
}

fn expected_hashes(
    files: &Workspace,
    hashes: &HashMap<String, String>,
) -> Result<BTreeMap<RelPath, ContentHash>, Status> {
    if hashes.len() > EXPECTED_HASHES_MAX {
        let message = format!("more than {EXPECTED_HASHES_MAX} files");
        return Err(invalid_field("expected_hashes", &message));
    }
    let mut expected = BTreeMap::new();
    for (path, text) in hashes {
        let field = format!("expected_hashes[{}]", moss_schema::cut(path, SHOWN_KEY_CHARS_MAX));
        let path = files.path(path).map_err(|error| invalid_field(&field, &error.to_string()))?;
        expected.insert(path, hash(&field, text)?);
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use moss_workspace::WorkspaceOptions;
    use tonic::Code;

    use super::*;

    #[test]
    fn expected_files_are_named_as_tools_name_them() {
        let temp = tempfile::tempdir().unwrap();
        let files = Workspace::open(temp.path(), WorkspaceOptions::default()).unwrap();
        let read = |path: &str| {
            expected_hashes(&files, &HashMap::from([(path.to_owned(), "0".repeat(64))]))
        };
        let absolute = files.root().join("src/a.rs");
        for path in ["src/a.rs", absolute.to_str().unwrap()] {
            let paths: Vec<_> = read(path).unwrap().into_keys().collect();
            assert_eq!(paths, [moss_sdk::RelPath::parse("src/a.rs").unwrap()], "{path}");
        }
        for path in ["/etc/passwd", "../a", &"a".repeat(100_000)] {
            assert_eq!(read(path).unwrap_err().code(), Code::InvalidArgument, "{path:.20}");
        }
    }

    #[test]
    fn fields_without_bounds_are_refused_by_name() {
        let temp = tempfile::tempdir().unwrap();
        let files = Workspace::open(temp.path(), WorkspaceOptions::default()).unwrap();
        let hashes = (0..=EXPECTED_HASHES_MAX).map(|n| (n.to_string(), "0".repeat(64))).collect();
        let refusals = [
            bounded("tool", &"t".repeat(NAME_BYTES_MAX + 1), NAME_BYTES_MAX).unwrap_err(),
            expected_hashes(&files, &hashes).unwrap_err(),
        ];
        for (refusal, field) in refusals.iter().zip(["tool: ", "expected_hashes: "]) {
            assert_eq!(refusal.code(), Code::InvalidArgument);
            assert!(refusal.message().starts_with(field), "{}", refusal.message());
        }
        assert!(bounded("tool", &"t".repeat(NAME_BYTES_MAX), NAME_BYTES_MAX).is_ok());
    }
}
