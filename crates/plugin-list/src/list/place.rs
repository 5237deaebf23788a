//! Where a component, or its signature, is: a file relative to the list, or something on the
//! network that the list pins.

use moss_sdk::RelPath;

use super::OciReference;
use super::source::{ListNode, ListProblem};

/// Longest URL, in bytes.
const URL_BYTES_MAX: usize = 2048;

/// Who keeps a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeper {
    /// The user: files may lie anywhere.
    User,
    /// A workspace, which names only what lies in it.
    Workspace,
}

/// Whether a source is on the network.
pub(super) fn is_remote(source: &str) -> bool {
    source.starts_with("https://") || OciReference::is_meant(source)
}

/// What makes the entry of a source on the network.
pub(super) fn writes_the_entry(source: &str) -> String {
    let named = if OciReference::is_meant(source) { source } else { "URL --sha256 HEX" };
    format!("`moss plugin add {named}` looks at it and writes the entry")
}

/// Reads the source of a component.
pub(super) fn parse_source(node: ListNode<'_>, keeper: Keeper) -> Result<String, ListProblem> {
    let source = node.string()?;
    if !OciReference::is_meant(source) {
        return parse(node, keeper);
    }
    if source.len() > URL_BYTES_MAX {
        return Err(node.problem(format!("the reference is longer than {URL_BYTES_MAX} bytes")));
    }
    match OciReference::parse(source) {
        Ok(_) => Ok(source.to_owned()),
        Err(why) => Err(node.problem(why)),
    }
}

/// Reads a file or a URL: the location of a signature, and most sources.
pub(super) fn parse(node: ListNode<'_>, keeper: Keeper) -> Result<String, ListProblem> {
    let place = node.string()?;
    if place.is_empty() || place.chars().any(char::is_control) {
        return Err(node.problem("the source is not a path"));
    }
    match place.split_once("://") {
        Some(("https", _)) => check_url(node, place)?,
        Some((scheme, _)) => {
            let problem =
                node.problem(format!("`{scheme}` sources are not supported by this version"));
            return Err(problem
                .help("give the path of a file, relative to this list, or an `https://` URL"));
        }
        None if keeper == Keeper::Workspace => {
            let refused = |_| {
                node.problem("a workspace's list names only files of the workspace")
                    .help("give a path relative to this list, without `..`")
            };
            RelPath::parse(place).map_err(refused)?;
        }
        None => {}
    }
    Ok(place.to_owned())
}

fn check_url(node: ListNode<'_>, url: &str) -> Result<(), ListProblem> {
    let refused = |why: &str| Err(node.problem(format!("the URL {why}")));
    if url.len() > URL_BYTES_MAX {
        return refused(&format!("is longer than {URL_BYTES_MAX} bytes"));
    }
    let Ok(uri) = url.parse::<http::Uri>() else { return refused("is not one") };
    match uri.authority() {
        None => refused("has no host"),
        Some(authority) if authority.as_str().contains('@') => {
            refused("contains credentials, which every reader of the list would see")
        }
        Some(_) => Ok(()),
    }
}
