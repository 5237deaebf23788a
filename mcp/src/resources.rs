//! What a client reads without a model asking for it: the files of the workspace, its history, and what
//! commands wrote. Each
//! is read by a call of a tool, so that policy, limits and the journal are those of every call.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use moss_sdk::content::{ContentImage, ContentPart, file_uri};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use crate::backend::CommandArtifact;
use crate::fault::CallFault;
use crate::listing;

/// What the URI of a file begins with.
const FILES: &str = "moss://files/";
/// What the URI of a change begins with.
const HISTORY: &str = "moss://history/";
/// What the URI of what a command wrote begins with.
const ARTIFACTS: &str = "moss://artifacts/";
/// What its path begins with.
const ARTIFACT_SCHEME: &str = "artifact:";
/// The template of the URIs of files.
pub(crate) const FILE_TEMPLATE: &str = "moss://files/{+path}";
/// The template of the URIs of changes.
pub(crate) const HISTORY_TEMPLATE: &str = "moss://history/{number}";
/// Most files on a page.
const PAGE_MAX: usize = 200;
/// Longest pattern that is searched for, in bytes: file_search takes no longer one.
const PATTERN_BYTES_MAX: usize = 1_000;
/// Most files that are listed at all: clients ask for page after page until there are no more. The template reaches the rest,
/// and so do completions of it.
const LISTED_MAX: usize = 1_000;
/// Longest text of a resource, in bytes: what is longer is read in parts, with the tool.
const TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Most calls that one resource takes.
const CALLS_MAX: usize = 200;
/// How many changes are completed: as many as one call shows.
const CHANGES_MAX: u64 = 100;
/// How often a file is read that changes meanwhile.
const READS_MAX: usize = 2;
/// The code of a line behind the end of a file.
const OUT_OF_RANGE: &str = "out_of_range";

/// The tools that resources are read by.
const READ: &str = "read_file";
const LIST: &str = "list_directory";
const SEARCH: &str = "file_search";
const SHOW_CHANGES: &str = "diff_history";

/// Carries a call of a tool out and returns its output.
pub(crate) trait ResourceReader {
    /// Whether the client has a tool: what it cannot read is no resource of it.
    fn has(&self, tool: &str) -> bool;

    /// Lists what commands wrote.
    async fn artifacts(&self) -> Result<Vec<CommandArtifact>, CallFault>;

    /// Returns those of the files that are known to be refused where they are read.
    async fn refused(&self, paths: Vec<String>) -> Result<Vec<String>, CallFault>;

    /// Calls a tool; returns what it shows beside its output, too.
    async fn shown(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<(Value, Vec<ContentPart>), CallFault>;

    /// Calls a tool by its name and returns the JSON of its output.
    async fn output(&self, tool: &str, arguments: Value) -> Result<Value, CallFault> {
        Ok(self.shown(tool, arguments).await?.0)
    }
}

/// What a URI means.
#[derive(Debug, PartialEq, Eq)]
enum ResourceUri {
    /// A file, or what a command wrote, by its path.
    File(String),
    /// A change, by its number.
    Change(u64),
}

/// What a file holds, as far as it is a resource.
#[derive(Debug, PartialEq)]
enum FileContent {
    Text(String),
    Image(ContentImage),
}

/// Lists what commands wrote, then the files of the workspace, a page at a time.
pub(crate) async fn list(
    reader: &impl ResourceReader,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let offset: usize = match cursor {
        None => 0,
        Some(cursor) => {
            cursor.parse().ok().filter(|at| *at > 0).ok_or_else(listing::no_such_page)?
        }
    };
    let listed = match reader.has(READ) && reader.has(LIST) {
        true => {
            let arguments =
                json!({ "path": ".", "recursive": true, "limit": PAGE_MAX, "offset": offset });
            reader.output(LIST, arguments).await.map_err(internal)?
        }
        false => Value::Null,
    };
    let entries = listed["entries"].as_array().map_or(&[][..], Vec::as_slice);
    let files = readable(reader, entries).await.map_err(internal)?;
    let artifacts = match offset == 0 && reader.has(READ) {
        true => reader.artifacts().await.map_err(internal)?,
        false => Vec::new(),
    };
    let written = artifacts.iter().filter_map(written);
    let mut page = ListResourcesResult::with_all_items(written.chain(files).collect());
    // What is left out counts: a page begins behind the same entry for whoever asks.
    let seen = offset + entries.len();
    let total = listed["total"].as_u64().unwrap_or_default();
    let has_more = !entries.is_empty() && (seen as u64) < total && seen < LISTED_MAX;
    page.next_cursor = has_more.then(|| seen.to_string());
    Ok(page)
}

/// The files among some entries, without those that could not be read.
async fn readable(
    reader: &impl ResourceReader,
    entries: &[Value],
) -> Result<Vec<Resource>, CallFault> {
    let files = || entries.iter().filter(|entry| entry["kind"] == "file");
    let paths: Vec<_> = files().filter_map(|file| file["path"].as_str()).collect();
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let refused = reader.refused(paths.into_iter().map(ToOwned::to_owned).collect()).await?;
    let is_offered = |file: &&Value| !refused.iter().any(|path| file["path"] == path.as_str());
    Ok(files().filter(is_offered).filter_map(resource).collect())
}

/// Lists how URIs are made, of what a client can read.
pub(crate) fn templates(reader: &impl ResourceReader) -> ListResourceTemplatesResult {
    let file = ResourceTemplate::new(FILE_TEMPLATE, "file")
        .with_title("A file of the project")
        .with_description(
            "What it holds now, text or image, by its path from the root of the project.",
        );
    let change = ResourceTemplate::new(HISTORY_TEMPLATE, "change")
        .with_title("A change made through moss")
        .with_description("What one call changed, with diffs, by its number in the history.")
        .with_mime_type("application/json");
    let templates = [(READ, file), (SHOW_CHANGES, change)].into_iter();
    let readable = templates.filter(|(tool, _)| reader.has(tool)).map(|(_, template)| template);
    ListResourceTemplatesResult::with_all_items(readable.collect())
}

/// Reads what a URI names by calling the tool that reads it.
pub(crate) async fn read(
    reader: &impl ResourceReader,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let meant = parse(uri).ok_or_else(|| {
        let message = format!(
            "there is no resource of this form: a file is {FILE_TEMPLATE}, a change \
             {HISTORY_TEMPLATE}"
        );
        ErrorData::resource_not_found(message, Some(json!({ "uri": uri })))
    })?;
    let read = match meant {
        ResourceUri::File(path) => file(reader, &path).await.map(|file| match file {
            FileContent::Text(text) => ResourceContents::text(text, uri),
            FileContent::Image(image) => {
                ResourceContents::blob(BASE64_STANDARD.encode(image.data()), uri)
                    .with_mime_type(image.kind().media_type())
            }
        }),
        ResourceUri::Change(number) => change(reader, number)
            .await
            .map(|change| ResourceContents::text(change, uri).with_mime_type("application/json")),
    };
    let contents = read.map_err(|fault| {
        let data = json!({ "uri": uri, "code": fault.code });
        match fault.code.as_str() {
            "not_found" => ErrorData::resource_not_found(fault.to_string(), Some(data)),
            _ => ErrorData::invalid_params(fault.to_string(), Some(data)),
        }
    })?;
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The argument of a template.
pub(crate) fn argument(template: &str) -> Result<&'static str, ErrorData> {
    match template {
        FILE_TEMPLATE => Ok("path"),
        HISTORY_TEMPLATE => Ok("number"),
        _ => {
            let message = format!(
                "there is no such template of URIs: there are {FILE_TEMPLATE} and {HISTORY_TEMPLATE}"
            );
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

/// Completes the part of a URI that a person has begun; nothing goes on where the client has no tool for it.
pub(crate) async fn complete(
    reader: &impl ResourceReader,
    template: &str,
    begun: &str,
) -> Result<Vec<String>, ErrorData> {
    let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
    match template {
        FILE_TEMPLATE if !reader.has(READ) => Ok(Vec::new()),
        FILE_TEMPLATE if begun.is_empty() && reader.has(LIST) => {
            let arguments = json!({ "path": ".", "limit": PAGE_MAX });
            let listed = reader.output(LIST, arguments).await.map_err(internal)?;
            let entries = listed["entries"].as_array().into_iter().flatten();
            offered(reader, entries.filter_map(|entry| text(&entry["path"])).collect()).await
        }
        FILE_TEMPLATE if reader.has(SEARCH) => {
            // What is begun is no pattern yet.
            let pattern: String = begun.chars().filter(|c| !"*?[]{}\\".contains(*c)).collect();
            if pattern.trim_matches('/').is_empty() || pattern.len() > PATTERN_BYTES_MAX {
                return Ok(Vec::new());
            }
            let arguments = json!({ "pattern": pattern });
            let found = reader.output(SEARCH, arguments).await.map_err(internal)?;
            let files = found["files"].as_array().into_iter().flatten();
            offered(reader, files.filter_map(|file| text(&file["path"])).collect()).await
        }
        HISTORY_TEMPLATE if reader.has(SHOW_CHANGES) => {
            let changes = changes(reader).await.map_err(internal)?;
            let numbers = changes.iter().filter_map(|change| change["history"].as_u64());
            let numbers = numbers.map(|number| number.to_string());
            Ok(numbers.filter(|number| number.starts_with(begun)).collect())
        }
        _ => Ok(Vec::new()),
    }
}

/// Those of the paths that are not known to be refused where they are read.
async fn offered(
    reader: &impl ResourceReader,
    paths: Vec<String>,
) -> Result<Vec<String>, ErrorData> {
    let refused = reader.refused(paths.clone()).await.map_err(internal)?;
    Ok(paths.into_iter().filter(|path| !refused.contains(path)).collect())
}

fn internal(fault: CallFault) -> ErrorData {
    ErrorData::internal_error(fault.to_string(), None)
}

fn resource(entry: &Value) -> Option<Resource> {
    let path = entry["path"].as_str()?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let resource = Resource::new(file_uri(path), name).with_title(path);
    Some(match entry["size_bytes"].as_u64() {
        Some(size) => resource.with_size(size),
        None => resource,
    })
}

/// What a command wrote, as a resource.
fn written(artifact: &CommandArtifact) -> Option<Resource> {
    let id = artifact.path.strip_prefix(ARTIFACT_SCHEME)?;
    let resource = Resource::new(format!("{ARTIFACTS}{id}"), &*artifact.path);
    let resource = resource.with_title("Output of a command").with_mime_type("text/plain");
    Some(resource.with_size(artifact.size_bytes))
}

/// What a file holds at one moment.
async fn file(reader: &impl ResourceReader, path: &str) -> Result<FileContent, CallFault> {
    for _ in 0..READS_MAX {
        if let Some(content) = whole(reader, path).await? {
            return Ok(content);
        }
    }
    let message = format!("{path} changed each time while it was read");
    Err(CallFault::new("conflict", message).hint("read it again once nothing writes to it"))
}

/// What a file holds: of a text all of it, put together out of as many calls as it takes; none where it changed
/// between two of them.
async fn whole(reader: &impl ResourceReader, path: &str) -> Result<Option<FileContent>, CallFault> {
    let too_long = || {
        CallFault::new("too_large", format!("{path} is too long for a resource"))
            .hint("read it in parts with the tool read_file")
    };
    let mut text = String::new();
    let mut next = json!({ "path": path });
    let mut begun = None;
    for _ in 0..CALLS_MAX {
        let (read, shown) = match reader.shown(READ, next).await {
            Err(fault) if fault.code == OUT_OF_RANGE && begun.is_some() => return Ok(None),
            shown => shown?,
        };
        let hash = read["hash"].clone();
        if *begun.get_or_insert_with(|| hash.clone()) != hash {
            return Ok(None);
        }
        let image = shown.into_iter().find_map(|part| match part {
            ContentPart::Image(image) => Some(image),
            _ => None,
        });
        if let Some(image) = image {
            return Ok(Some(FileContent::Image(image)));
        }
        let cut = read["cut_lines"].as_array().is_some_and(|lines| !lines.is_empty());
        let content = read["content"].as_str().unwrap_or_default();
        // Where ends of both kinds are mixed, no call says which line has which.
        let line_end = if read["line_ending"] == "crlf" { "\r\n" } else { "\n" };
        if cut || text.len() + content.len() > TEXT_BYTES_MAX {
            return Err(too_long());
        }
        if read["start_line"].as_u64().unwrap_or_default() > 0 {
            for line in content.split('\n') {
                // Behind its number and a tab.
                text.push_str(line.split_once('\t').map_or("", |(_, line)| line));
                text.push_str(line_end);
            }
        }
        match read["next_line"].as_u64() {
            Some(line) => next = json!({ "path": path, "startLine": line }),
            None => {
                if read["final_newline"] == false {
                    text.truncate(text.len().saturating_sub(line_end.len()));
                }
                return Ok(Some(FileContent::Text(text)));
            }
        }
    }
    Err(too_long())
}

async fn changes(reader: &impl ResourceReader) -> Result<Vec<Value>, CallFault> {
    let mut shown = reader.output(SHOW_CHANGES, json!({ "limit": CHANGES_MAX })).await?;
    Ok(match shown["changes"].take() {
        Value::Array(changes) => changes,
        _ => Vec::new(),
    })
}

async fn change(reader: &impl ResourceReader, number: u64) -> Result<String, CallFault> {
    let shown = reader.output(SHOW_CHANGES, json!({ "history": number })).await?;
    let found = shown["changes"].get(0).filter(|change| change["history"] == number);
    found.map(ToString::to_string).ok_or_else(|| {
        let message = format!("there is no change {number}, or it is kept no longer");
        CallFault::new("not_found", message).hint("diff_history shows the last ones")
    })
}

fn parse(uri: &str) -> Option<ResourceUri> {
    if let Some(path) = uri.strip_prefix(FILES) {
        let path = decoded(path)?;
        return (!path.is_empty()).then(|| ResourceUri::File(path.into_owned()));
    }
    if let Some(id) = uri.strip_prefix(ARTIFACTS) {
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        return is_id.then(|| ResourceUri::File(format!("{ARTIFACT_SCHEME}{id}")));
    }
    uri.strip_prefix(HISTORY)?.parse().ok().map(ResourceUri::Change)
}

/// What a part of a URI means; none where that is no text.
fn decoded(part: &str) -> Option<Cow<'_, str>> {
    if !part.contains('%') {
        return Some(Cow::Borrowed(part));
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_files_and_changes() {
        for path in ["a.txt", "src/main.rs", "a b/ü%.txt", "app/[id]/x?.ts", "100%"] {
            let uri = file_uri(path);
            assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
            assert_eq!(parse(&uri), Some(ResourceUri::File(path.to_owned())));
        }
        assert_eq!(parse("moss://history/12"), Some(ResourceUri::Change(12)));
        let artifact = ResourceUri::File("artifact:0af".to_owned());
        assert_eq!(parse("moss://artifacts/0af"), Some(artifact));
        for wrong in [
            "",
            "a.txt",
            "file:///a.txt",
            "moss://files/",
            "moss://files/%",
            "moss://files/%f",
            "moss://files/%+1",
            "moss://files/%ff",
            "moss://history/",
            "moss://artifacts/",
            "moss://artifacts/../a.txt",
            "moss://history/-1",
            "moss://history/1/2",
            "MOSS://files/a",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    /// A file of so many lines, read in parts.
    #[derive(Default)]
    struct NumberedFile {
        lines: Vec<&'static str>,
        part: usize,
        final_newline: bool,
        is_crlf: bool,
        /// How often it changes: each time that it is read from its beginning.
        changes: std::sync::Mutex<usize>,
    }

    impl ResourceReader for NumberedFile {
        fn has(&self, _: &str) -> bool {
            true
        }

        async fn artifacts(&self) -> Result<Vec<CommandArtifact>, CallFault> {
            Ok(Vec::new())
        }

        async fn refused(&self, _: Vec<String>) -> Result<Vec<String>, CallFault> {
            Ok(Vec::new())
        }

        async fn shown(
            &self,
            tool: &str,
            arguments: Value,
        ) -> Result<(Value, Vec<ContentPart>), CallFault> {
            assert_eq!(tool, "read_file");
            let Self { lines, part, final_newline, is_crlf, changes } = self;
            let start = arguments["startLine"].as_u64().unwrap_or(1);
            let mut left = changes.lock().unwrap();
            let hash = *left;
            *left = left.saturating_sub(usize::from(start == 1));
            let first = usize::try_from(start).unwrap() - 1;
            let shown = lines.iter().enumerate().skip(first).take(*part);
            let shown: Vec<_> = shown.map(|(at, line)| format!("{:6}\t{line}", at + 1)).collect();
            let end = first + shown.len();
            let mut output = json!({
                "content": shown.join("\n"), "final_newline": final_newline, "hash": hash,
                "line_ending": if *is_crlf { "crlf" } else { "lf" },
                "start_line": if lines.is_empty() { 0 } else { start },
            });
            if end < lines.len() {
                output["next_line"] = json!(end + 1);
            }
            Ok((output, Vec::new()))
        }
    }

    #[tokio::test]
    async fn a_path_that_is_longer_than_any_pattern_is_not_completed() {
        // It has no tool that searches: a search would be seen.
        let reader = NumberedFile::default();
        let begun = "a".repeat(PATTERN_BYTES_MAX + 1);
        let completed = complete(&reader, FILE_TEMPLATE, &begun).await;
        assert_eq!(completed.unwrap(), [""; 0]);
    }

    #[tokio::test]
    async fn text_is_put_together_as_it_was() {
        for (lines, part, final_newline, expected) in [
            (vec!["a", "b\tc", "", "d"], 2, true, "a\nb\tc\n\nd\n"),
            (vec!["a", "b"], 1, false, "a\nb"),
            (vec![""], 1, true, "\n"),
            (vec![], 1, true, ""),
        ] {
            for is_crlf in [false, true] {
                let lines = lines.clone();
                let lines =
                    NumberedFile { lines, part, final_newline, is_crlf, ..Default::default() };
                let expected =
                    if is_crlf { expected.replace('\n', "\r\n") } else { expected.into() };
                assert_eq!(file(&lines, "a").await.unwrap(), FileContent::Text(expected));
            }
        }
        let lines = vec!["x"; CALLS_MAX + 1];
        let endless = NumberedFile { lines, part: 1, ..Default::default() };
        assert_eq!(file(&endless, "a").await.unwrap_err().code, "too_large");
    }

    #[tokio::test]
    async fn a_file_that_changes_while_it_is_read_is_read_once_more_and_no_mix_is_returned() {
        let lines = || vec!["a", "b", "c"];
        for (times, expected) in [(1, Ok("a\nb\nc\n")), (2, Err("conflict"))] {
            let changes = times.into();
            let (part, final_newline) = (1, true);
            let changing =
                NumberedFile { lines: lines(), part, final_newline, changes, is_crlf: false };
            let read = file(&changing, "a").await;
            let expected = expected.map(|text| FileContent::Text(text.to_owned()));
            assert_eq!(read.map_err(|fault| fault.code), expected.map_err(ToOwned::to_owned));
        }
    }
}
