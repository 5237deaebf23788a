//! Queries JSON, YAML and TOML files with JSONPath: what a model needs of a large file, instead of the
//! file.
//!
//! Grant it the files it may read, in `moss-tools.json`:
//!
//! ```json
//! { "name": "data-query", "source": "data_query.wasm",
//!   "grant": { "fs": [{ "path": ".", "access": "read" }] } }
//! ```
//!
//! Then: `moss call data_query path=Cargo.toml query='$.dependencies'`.

mod document;
mod select;

use moss::guest::read_text;
use moss::guest::serde_json::Value;
use moss::{Capability, Example, ToolError, json};

use crate::document::Format;

/// Largest file that is read, in bytes.
const FILE_BYTES_MAX: usize = 8 << 20;
/// Most results of one call by default.
const RESULTS_DEFAULT: u32 = 100;
/// Most results of one call.
const RESULTS_MAX: u32 = 1000;

moss::export! {
    tools: [data_query],
    requests: [Capability::files(".", "reads the files that it queries")],
}

/// What to look for, and where.
#[moss::data]
struct DataQuery {
    /// The file, relative to the workspace.
    path: String,
    /// A query in JSONPath (RFC 9535), such as `$.dependencies`, `$.jobs[*].steps[0].name`,
    /// `$..version` or `$.items[?@.price > 10 && search(@.name, "^b")]`. By default `$`: everything.
    #[serde(default = "everything")]
    query: String,
    /// What the file is; by default what its extension says.
    format: Option<Format>,
    /// Most results, 1 to 1000; by default 100.
    #[serde(default = "results_default")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

/// What was found.
#[moss::data]
struct Found {
    /// What the file is.
    format: Format,
    /// How many locations the query matches in all.
    matches: u64,
    /// The first of them, in the order of the file.
    results: Vec<Match>,
    /// Whether there are more matches than results.
    truncated: bool,
}

/// A location that the query matches.
#[moss::data]
struct Match {
    /// The location, as a query that leads to it alone.
    at: String,
    /// What is there.
    value: Value,
}

/// Finds values in a JSON, YAML or TOML file by a query in JSONPath (RFC 9535), and shows where
/// each is. Several YAML documents in one file are an array. Files have up to 8 MiB, the results
/// together up to 256 KiB: ask for less where they are larger, with a narrower query. Better than
/// reading the file when only a part of it matters.
#[moss::tool(title = "Query data files", idempotent, examples = examples)]
fn data_query(parameters: DataQuery) -> Result<Found, ToolError> {
    let path = select::parse(&parameters.query)?;
    let format = match parameters.format {
        Some(format) => format,
        None => Format::of(&parameters.path)?,
    };
    let text = read_text(&parameters.path, FILE_BYTES_MAX)?;
    let document = document::parse(&parameters.path, format, &text)?;
    let limit = parameters.limit.clamp(1, RESULTS_MAX);
    let (matches, results) = select::select(&path, &document, limit as usize)?;
    let truncated = results.len() < matches;
    Ok(Found { format, matches: matches as u64, results, truncated })
}

fn everything() -> String {
    "$".to_owned()
}

fn results_default() -> u32 {
    RESULTS_DEFAULT
}

fn examples() -> Vec<Example> {
    vec![
        Example::new(
            "the versions of all dependencies",
            json!({ "path": "Cargo.toml", "query": "$.dependencies.*.version" }),
        )
        .file("Cargo.toml", "[dependencies]\na = { version = \"1.2\" }\nb = { path = \"b\" }\n")
        .output(json!({
            "format": "toml",
            "matches": 1,
            "results": [{ "at": "$['dependencies']['a']['version']", "value": "1.2" }],
            "truncated": false
        })),
        Example::new(
            "one step of a workflow",
            json!({ "path": "ci.yml", "query": "$..steps[?@.name == 'test'].run", "limit": 1 }),
        )
        .file("ci.yml", "jobs:\n  a:\n    steps:\n      - { name: test, run: make }\n")
        .output(json!({
            "format": "yaml",
            "matches": 1,
            "results": [{ "at": "$['jobs']['a']['steps'][0]['run']", "value": "make" }],
            "truncated": false
        })),
    ]
}
