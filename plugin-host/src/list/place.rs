//! Where a component, or its signature, is: a file relative to the list, or something on the
//! network that the list pins.

use moss_sdk::RelPath;

use super::source::{Node, Problem};

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
    source.starts_with("https://")
}

/// Reads a source or the place of a signature.
pub(super) fn parse(node: Node<'_>, keeper: Keeper) -> Result<String, Problem> {
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

fn check_url(node: Node<'_>, url: &str) -> Result<(), Problem> {
    let refused = |why: &str| Err(node.problem(format!("the URL {why}")));
    if url.len() > URL_BYTES_MAX {
        return refused(&format!("is longer than {URL_BYTES_MAX} bytes"));
    }
    let Ok(uri) = url.parse::<http::Uri>() else { return refused("is not one") };
    match uri.authority() {
        None => refused("has no host"),
        Some(authority) if authority.as_str().contains('@') => {
            refused("has credentials in it, which everybody would see who reads the list")
        }
        Some(_) => Ok(()),
    }
}
