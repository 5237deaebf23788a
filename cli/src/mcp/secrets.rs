//! Files that are not offered to clients: those with names of secrets that the rules let nobody read.

use moss_proto::v1;
use moss_sdk::RelPath;
use moss_workspace::{Protection, protection};
use serde_json::json;

use crate::client::Client;

/// The tool that files are read by.
const READ: &str = "read_file";

/// Returns those of the paths that are refused. Only the few with such names are asked about: a rule may open one,
/// and a certificate may be public.
pub(super) async fn refused(client: &Client, paths: Vec<String>) -> Vec<String> {
    let mut refused = Vec::new();
    for path in paths.into_iter().filter(|path| is_secret(path)) {
        let arguments = json!({ "path": path }).to_string();
        let explained = client.explain(READ, arguments, String::new(), String::new()).await;
        // One that is gone by now, or any other that has no explanation, says so when it is read.
        if explained.is_ok_and(|one| one.decision() == v1::Decision::Deny) {
            refused.push(path);
        }
    }
    refused
}

fn is_secret(path: &str) -> bool {
    RelPath::parse(path).is_ok_and(|path| protection(&path) == Some(Protection::Secret))
}
