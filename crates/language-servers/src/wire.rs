//! The few messages of the protocol that moss sends and reads, version 3.17.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use moss_sdk::editor::{Position, Span};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use url::Url;

use crate::bounded::FirstOf;
use crate::fault::ServerFault;

/// Most parts of the settings that a server asks for at once.
pub(crate) const SETTINGS_MAX: usize = 1_000;
/// Most bytes of the settings in one reply.
pub(crate) const SETTINGS_BYTES_MAX: usize = 4 << 20;
/// Longest id of a request, in bytes.
const ID_BYTES_MAX: usize = 256;
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

/// A message, whichever it is. What it carries stays text until somebody wants it: as values it may take a
/// hundred times as much memory.
#[derive(Debug, Deserialize)]
pub(crate) struct WireMessage<'m> {
    #[serde(borrow)]
    pub(crate) id: Option<&'m RawValue>,
    #[serde(borrow)]
    pub(crate) method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    pub(crate) params: Option<&'m RawValue>,
    #[serde(borrow)]
    pub(crate) result: Option<&'m RawValue>,
    pub(crate) error: Option<WireError>,
}

/// What a server asks for with `workspace/configuration`.
#[derive(Default, Deserialize)]
struct AskedSettings<'m> {
    #[serde(borrow, default)]
    items: FirstOf<AskedSection<'m>, SETTINGS_MAX>,
}

#[derive(Deserialize)]
struct AskedSection<'m> {
    #[serde(borrow)]
    section: Option<Cow<'m, str>>,
}

/// What a server says of itself.
#[derive(Default, Deserialize)]
struct Initialized<'m> {
    #[serde(borrow, default)]
    capabilities: Capabilities<'m>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities<'m> {
    #[serde(borrow)]
    position_encoding: Option<Cow<'m, str>>,
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
        "rootPath": root.to_str(),
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
pub(crate) fn check_encoding(initialized: Option<&RawValue>) -> Result<(), ServerFault> {
    let Some(initialized) = initialized else { return Ok(()) };
    let read: Result<Initialized<'_>, _> = serde_json::from_str(initialized.get());
    let unread = |error| ServerFault::Broken(format!("what it can do cannot be read: {error}"));
    match read.map_err(unread)?.capabilities.position_encoding {
        Some(said) if said != ENCODING => {
            let message = format!("it counts in {said}, which was not offered");
            Err(ServerFault::Broken(message))
        }
        _ => Ok(()),
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

/// What is said to a request of the server, as the text of a message. It may ask for its configuration and
/// report work; what would change something is refused.
///
/// # Errors
///
/// `Broken` for one that takes more than it may.
pub(crate) fn reply(
    (id, method): (&RawValue, &str),
    parameters: Option<&RawValue>,
    settings: &Value,
    root: &str,
) -> Result<String, ServerFault> {
    let id = id.get();
    if id.len() > ID_BYTES_MAX {
        let message =
            format!("the id of a request has {} bytes, more than {ID_BYTES_MAX}", id.len());
        return Err(ServerFault::Broken(message));
    }
    let result = match method {
        "workspace/configuration" => asked_settings(parameters, settings)?,
        "workspace/workspaceFolders" => json!([{"uri": root, "name": "workspace"}]).to_string(),
        "client/registerCapability"
        | "client/unregisterCapability"
        | "window/workDoneProgress/create"
        | "window/showMessageRequest" => Value::Null.to_string(),
        "window/showDocument" => json!({"success": false}).to_string(),
        "workspace/applyEdit" => {
            let reason = "a language server changes nothing here";
            json!({"applied": false, "failureReason": reason}).to_string()
        }
        _ => {
            let error = json!({"code": NO_METHOD, "message": "moss does not have this"});
            return Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
        }
    };
    Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

/// The parts of the settings that were asked for, as one text.
fn asked_settings(parameters: Option<&RawValue>, settings: &Value) -> Result<String, ServerFault> {
    // One that asks for nothing that is understood gets nothing.
    let asked: AskedSettings<'_> = parameters
        .and_then(|parameters| serde_json::from_str(parameters.get()).ok())
        .unwrap_or_default();
    if asked.items.left_out > 0 {
        let count = asked.items.first.len() + asked.items.left_out;
        let message =
            format!("it asks for {count} parts of its settings at once, more than {SETTINGS_MAX}");
        return Err(ServerFault::Broken(message));
    }
    let mut all = String::from("[");
    for (index, item) in asked.items.first.iter().enumerate() {
        if index > 0 {
            all.push(',');
        }
        all.push_str(&setting(settings, item.section.as_deref()).to_string());
        if all.len() > SETTINGS_BYTES_MAX {
            let message = format!("it asks for more than {SETTINGS_BYTES_MAX} bytes of settings");
            return Err(ServerFault::Broken(message));
        }
    }
    all.push(']');
    Ok(all)
}

/// The part of the settings that a section names, by its path with dots.
fn setting<'v>(settings: &'v Value, section: Option<&str>) -> &'v Value {
    match section {
        None | Some("") => settings,
        Some(section) => section.split('.').fold(settings, |value, key| &value[key]),
    }
}

/// Reads locations: one, several, or none, in either form. What is no file is left out.
pub(crate) fn locations(result: Option<&RawValue>) -> Result<Vec<(PathBuf, Span)>, ServerFault> {
    let Some(result) = result.map(RawValue::get) else { return Ok(Vec::new()) };
    let unread = |error| ServerFault::Broken(format!("a location cannot be read: {error}"));
    let all = if result.starts_with('[') {
        let read: FirstOf<WireLocation, LOCATIONS_MAX> =
            serde_json::from_str(result).map_err(unread)?;
        read.first
    } else {
        vec![serde_json::from_str(result).map_err(unread)?]
    };
    let place = |WireLocation { uri, range }: WireLocation| {
        let start = Position { line: range.start.line, character: range.start.character };
        let end = Position { line: range.end.line, character: range.end.character };
        let span = Span { start, end: end.max(start) };
        let path = Url::parse(&uri).ok().and_then(|url| url.to_file_path().ok());
        path.map(|path| (path, span))
    };
    Ok(all.into_iter().filter_map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    fn located(value: &Value) -> Result<Vec<(PathBuf, Span)>, ServerFault> {
        locations(Some(&raw(value)))
    }

    fn asked(method: &str, parameters: &Value, settings: &Value) -> Result<Value, ServerFault> {
        let (id, parameters) = (raw(&json!(7)), raw(parameters));
        let reply = reply((&id, method), Some(&parameters), settings, "file:///w")?;
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!(7)));
        Ok(reply)
    }

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
        assert_eq!(located(&many).unwrap(), [expected.clone(), expected.clone()]);
        assert_eq!(located(&one).unwrap(), [expected]);
        assert_eq!(locations(None).unwrap(), []);
        for wrong in [json!(3), json!([{"uri": "file:///a"}]), json!({"range": range})] {
            assert!(located(&wrong).unwrap_err().is_final());
        }
        let turned = json!({"uri": "file:///a", "range": {
            "start": {"line": 3, "character": 0}, "end": {"line": 1, "character": 0}}});
        let (_, span) = located(&turned).unwrap().remove(0);
        assert_eq!(span.start, span.end);
    }

    #[test]
    fn a_server_gets_its_settings_and_is_refused_what_changes_something() {
        let settings = json!({"python": {"analysis": {"typeCheckingMode": "off"}}});
        let items = json!({"items": [{"section": "python.analysis"}, {"section": "other"}, {}]});
        let reply =
            |method: &str, parameters: &Value| asked(method, parameters, &settings).unwrap();
        let told = reply("workspace/configuration", &items);
        assert_eq!(told["result"], json!([{"typeCheckingMode": "off"}, null, settings]));
        assert_eq!(reply("workspace/applyEdit", &json!({}))["result"]["applied"], false);
        assert_eq!(reply("window/showDocument", &json!({}))["result"]["success"], false);
        assert_eq!(reply("workspace/executeCommand", &json!({}))["error"]["code"], NO_METHOD);
    }

    #[cfg(unix)]
    #[test]
    fn a_root_that_is_not_utf_8_has_its_name_as_a_uri() {
        use std::os::unix::ffi::OsStrExt as _;

        let root = Path::new(std::ffi::OsStr::from_bytes(b"/w/\xff"));
        let said = initialize(root, &json!({})).unwrap();
        assert_eq!((&said["rootUri"], &said["rootPath"]), (&json!("file:///w/%FF"), &Value::Null));
        assert_eq!(initialize(Path::new("/w"), &json!({})).unwrap()["rootPath"], "/w");
    }

    #[test]
    fn who_counts_otherwise_is_refused() {
        let said = |encoding| json!({"capabilities": {"positionEncoding": encoding}});
        let check = |said: Value| check_encoding(Some(&raw(&said)));
        assert!(check(said("utf-16")).is_ok() && check(json!({})).is_ok());
        assert!(check(said("utf-8")).is_err() && check(json!({"capabilities": 1})).is_err());
        assert!(check_encoding(None).is_ok());
    }

    #[test]
    fn a_server_that_asks_for_much_is_refused_with_what_it_did() {
        let items = |count: usize| json!({"items": vec![json!({}); count]});
        let ask =
            |count, settings: &Value| asked("workspace/configuration", &items(count), settings);
        let told = ask(SETTINGS_MAX, &json!({"a": 1})).unwrap();
        assert_eq!(told["result"].as_array().unwrap().len(), SETTINGS_MAX);
        let fault = ask(SETTINGS_MAX + 1, &json!({})).unwrap_err().to_string();
        assert!(fault.contains("1001 parts of its settings at once, more than 1000"), "{fault}");
        let large = json!("x".repeat(SETTINGS_BYTES_MAX / 10));
        assert!(ask(9, &large).is_ok());
        let fault = ask(11, &large).unwrap_err().to_string();
        assert!(fault.contains("bytes of settings"), "{fault}");
        let id = raw(&json!("x".repeat(ID_BYTES_MAX)));
        let fault = reply((&id, "x"), None, &json!({}), "").unwrap_err().to_string();
        assert!(fault.contains("258 bytes, more than 256"), "{fault}");
        assert_eq!(
            asked("workspace/configuration", &json!([1]), &json!({})).unwrap()["result"],
            json!([])
        );
    }

    #[test]
    fn of_many_locations_the_first_ones_are_read() {
        let range =
            json!({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}});
        let one = json!({"uri": "file:///a", "range": range});
        let many = Value::Array(vec![one; LOCATIONS_MAX + 5]);
        assert_eq!(located(&many).unwrap().len(), LOCATIONS_MAX);
    }
}
