//! The few messages of the protocol that moss sends and reads, version 3.17.

use std::path::{Path, PathBuf};

use moss_sdk::editor::{Position, Span};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::fault::ServerFault;

/// Most locations of one reply that are read.
pub(crate) const LOCATIONS_MAX: usize = 10_000;
/// The only way to count characters that every server knows: moss counts so, too.
const ENCODING: &str = "utf-16";
/// The protocol's word for a method that there is not.
pub(crate) const NO_METHOD: i64 = -32_601;
/// The text changed while the server looked: to be asked again.
pub(crate) const CONTENT_MODIFIED: i64 = -32_801;
/// The server gave up by itself: to be asked again.
pub(crate) const SERVER_CANCELLED: i64 = -32_802;

/// A message, whichever it is.
#[derive(Debug, Deserialize)]
pub(crate) struct WireMessage {
    pub(crate) id: Option<Value>,
    pub(crate) method: Option<String>,
    #[serde(default)]
    pub(crate) params: Value,
    #[serde(default)]
    pub(crate) result: Value,
    pub(crate) error: Option<WireError>,
}

/// Why a request was refused.
#[derive(Debug, Deserialize)]
pub(crate) struct WireError {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
}

#[derive(Deserialize)]
struct WirePosition {
    line: u32,
    character: u32,
}

#[derive(Deserialize)]
struct WireRange {
    start: WirePosition,
    end: WirePosition,
}

/// A location, in either of its forms.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireLocation {
    #[serde(alias = "targetUri")]
    uri: String,
    #[serde(alias = "targetSelectionRange")]
    range: WireRange,
}

/// A file that is known to have changed on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskChange {
    Created,
    Changed,
    Deleted,
}

/// The name of a file, as the protocol writes it.
pub(crate) fn uri(path: &Path) -> Result<String, ServerFault> {
    let url = Url::from_file_path(path);
    url.map(String::from).map_err(|()| ServerFault::Broken("a path has no name".to_owned()))
}

/// What the first request says.
pub(crate) fn initialize(root: &Path, options: &Value) -> Result<Value, ServerFault> {
    let root_uri = uri(root)?;
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    Ok(json!({
        "processId": null,
        "clientInfo": {"name": "moss", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": root_uri,
        "rootPath": root,
        "workspaceFolders": [{"uri": root_uri, "name": name}],
        "initializationOptions": options,
        "capabilities": {
            "general": {"positionEncodings": [ENCODING]},
            "workspace": {
                "applyEdit": false,
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": {"dynamicRegistration": true},
                "didChangeWatchedFiles": {"dynamicRegistration": true},
            },
            "textDocument": {
                "synchronization": {"didSave": false},
                "definition": {"linkSupport": true},
                "references": {},
                "publishDiagnostics": {},
            },
            "window": {"workDoneProgress": true},
            "experimental": {"serverStatusNotification": true},
        },
    }))
}

/// Refuses what does not count as moss does.
pub(crate) fn check_encoding(initialized: &Value) -> Result<(), ServerFault> {
    match &initialized["capabilities"]["positionEncoding"] {
        Value::Null => Ok(()),
        said if said == ENCODING => Ok(()),
        said => {
            let message = format!("it counts in {said}, which was not offered");
            Err(ServerFault::Broken(message))
        }
    }
}

/// Where something is asked about.
pub(crate) fn at(uri: &str, position: Position) -> Value {
    json!({
        "textDocument": {"uri": uri},
        "position": {"line": position.line, "character": position.character},
    })
}

/// Notices of files that have changed on the disk.
pub(crate) fn disk_changes(changes: &[(String, DiskChange)]) -> Value {
    let change = |(uri, change): &(String, DiskChange)| {
        let kind = match change {
            DiskChange::Created => 1,
            DiskChange::Changed => 2,
            DiskChange::Deleted => 3,
        };
        json!({"uri": uri, "type": kind})
    };
    json!({"changes": changes.iter().map(change).collect::<Vec<_>>()})
}

/// What is said to a request of the server. It may ask for its configuration and report work; what would change
/// something is refused.
pub(crate) fn reply(method: &str, parameters: &Value, settings: &Value, root: &str) -> Value {
    match method {
        "workspace/configuration" => {
            let items = parameters["items"].as_array().map_or(&[][..], Vec::as_slice);
            let section = |item: &Value| setting(settings, item["section"].as_str());
            json!({"result": items.iter().map(section).collect::<Vec<_>>()})
        }
        "workspace/workspaceFolders" => json!({"result": [{"uri": root, "name": "workspace"}]}),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest" => json!({"result": null}),
        "window/showDocument" => json!({"result": {"success": false}}),
        "workspace/applyEdit" => json!({"result": {
            "applied": false, "failureReason": "a language server changes nothing here",
        }}),
        _ => json!({"error": {"code": NO_METHOD, "message": "moss does not have this"}}),
    }
}

/// The part of the settings that a section names, by its path with dots.
fn setting<'v>(settings: &'v Value, section: Option<&str>) -> &'v Value {
    match section {
        None | Some("") => settings,
        Some(section) => section.split('.').fold(settings, |value, key| &value[key]),
    }
}

/// Reads locations: one, several, or none, in either form. What is no file is left out.
pub(crate) fn locations(result: Value) -> Result<Vec<(PathBuf, Span)>, ServerFault> {
    let all = match result {
        Value::Null => Vec::new(),
        Value::Array(all) => all,
        one => vec![one],
    };
    let read = |value: Value| {
        let read = WireLocation::deserialize(value);
        let broken = |error| ServerFault::Broken(format!("a location cannot be read: {error}"));
        let WireLocation { uri, range } = read.map_err(broken)?;
        let start = Position { line: range.start.line, character: range.start.character };
        let end = Position { line: range.end.line, character: range.end.character };
        let span = Span { start, end: end.max(start) };
        let path = Url::parse(&uri).ok().and_then(|url| url.to_file_path().ok());
        Ok(path.map(|path| (path, span)))
    };
    all.into_iter().take(LOCATIONS_MAX).filter_map(|value| read(value).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_in_each_form() {
        let range =
            json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}});
        let one = json!({"uri": "file:///a%20b/c.rs", "range": range});
        let link = json!({
            "targetUri": "file:///a%20b/c.rs", "targetRange": range, "targetSelectionRange": range,
        });
        let span = Span {
            start: Position { line: 1, character: 2 },
            end: Position { line: 1, character: 5 },
        };
        let expected = (PathBuf::from("/a b/c.rs"), span);
        let many = json!([one, link, {"uri": "untitled:x", "range": range}]);
        assert_eq!(locations(many).unwrap(), [expected.clone(), expected.clone()]);
        assert_eq!(locations(one).unwrap(), [expected]);
        assert_eq!(locations(Value::Null).unwrap(), []);
        for wrong in [json!(3), json!([{"uri": "file:///a"}]), json!({"range": range})] {
            assert!(locations(wrong).unwrap_err().is_final());
        }
        let turned = json!({"uri": "file:///a", "range": {
            "start": {"line": 3, "character": 0}, "end": {"line": 1, "character": 0}}});
        let (_, span) = locations(turned).unwrap().remove(0);
        assert_eq!(span.start, span.end);
    }

    #[test]
    fn a_server_is_told_its_settings_and_refused_what_changes_something() {
        let settings = json!({"python": {"analysis": {"typeCheckingMode": "off"}}});
        let asked = json!({"items": [{"section": "python.analysis"}, {"section": "other"}, {}]});
        let reply =
            |method, parameters: &Value| super::reply(method, parameters, &settings, "file:///w");
        let told = reply("workspace/configuration", &asked);
        assert_eq!(told["result"], json!([{"typeCheckingMode": "off"}, null, settings]));
        assert_eq!(reply("workspace/applyEdit", &json!({}))["result"]["applied"], false);
        assert_eq!(reply("window/showDocument", &json!({}))["result"]["success"], false);
        assert_eq!(reply("workspace/executeCommand", &json!({}))["error"]["code"], NO_METHOD);
    }

    #[test]
    fn who_counts_otherwise_is_refused() {
        let said = |encoding| json!({"capabilities": {"positionEncoding": encoding}});
        assert!(check_encoding(&said("utf-16")).is_ok() && check_encoding(&json!({})).is_ok());
        assert!(check_encoding(&said("utf-8")).is_err());
    }
}
