//! Components and signatures from the network, kept by the digest of the component and by where they came from: what
//! was fetched once is there without the network. What came from elsewhere is not it, though it had the same digest: a
//! person agrees to a source that they are shown, and stores belong to one. The digest is looked at again whenever one is
//! loaded, and only a signature that vouches is kept: what is not what it should be is fetched again. What no list names
//! for long is removed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use moss_plugin_list::{PluginEntry, Sha256Digest};
use moss_workspace::{dirs::Dirs, own::OwnDir};
use tokio::task::spawn_blocking;

use crate::component::ComponentSource;
use crate::environment::Environment;
use crate::oci;
use crate::signatures::{self, SIGNATURE_BYTES_MAX};
use moss_network::RequestBounds;
use moss_network::download::{Download, OnBytes};

/// The directory in the state directory.
const DIRECTORY: &str = "downloads";
/// Digits of a name that say where something came from.
const ORIGIN_DIGITS: usize = 32;
/// How long something is kept that no list names: processes with other lists may be about to use it,
/// and what is being registered is in no list yet.
const UNNAMED_KEPT: Duration = Duration::from_hours(24 * 7);
/// How old what a list names looks at most, to those who do not read that list.
const LOOKS_OLD_AFTER: Duration = Duration::from_hours(24);

/// Where a component that has this digest and came from there is kept.
pub(super) fn component(dirs: &Dirs, digest: Sha256Digest, source: &str) -> PathBuf {
    dirs.state.join(DIRECTORY).join(kept_name(digest, source, "wasm"))
}

/// Where the signature of such a component is kept that came from there.
pub(super) fn signature(dirs: &Dirs, digest: Sha256Digest, url: &str) -> PathBuf {
    dirs.state.join(DIRECTORY).join(kept_name(digest, url, "minisig"))
}

fn kept_name(digest: Sha256Digest, from: &str, extension: &str) -> String {
    let from = Sha256Digest::of(from.as_bytes()).to_string();
    format!("{digest}-{}.{extension}", &from[..ORIGIN_DIGITS])
}

/// The URL of the signature of an entry, where it is on the network.
pub(super) fn remote_signature(entry: &PluginEntry) -> Option<&str> {
    entry.signature.as_deref().filter(|place| place.starts_with("https://"))
}

/// Removes what is none of these and was not named by any list for long.
///
/// # Errors
///
/// Where the directory cannot be looked at.
pub(super) fn clean(
    dirs: &Dirs,
    named: &HashSet<Sha256Digest>,
) -> Result<(), moss_workspace::Error> {
    if !dirs.state.join(DIRECTORY).exists() {
        return Ok(());
    }
    let directory = OwnDir::open(&dirs.state)?.subdirectory(DIRECTORY)?;
    let now = SystemTime::now();
    for file in directory.files()? {
        let known = [".wasm", ".minisig"].iter().find_map(|end| file.name.strip_suffix(end));
        let digest = known.and_then(|stem| stem.split('-').next()).and_then(Sha256Digest::parse);
        // Of a process that was killed while it wrote.
        let is_left_over = file.name.starts_with(".moss-") && file.name.ends_with(".tmp");
        if digest.is_none() && !is_left_over {
            continue;
        }
        let age = now.duration_since(file.modified).unwrap_or_default();
        match digest.is_some_and(|digest| named.contains(&digest)) {
            true if age > LOOKS_OLD_AFTER => directory.touch(&file.name)?,
            false if age > UNNAMED_KEPT => directory.remove(&file.name)?,
            _ => {}
        }
    }
    Ok(())
}

/// Fetches the component of an entry, where it is on the network and not there yet.
///
/// # Errors
///
/// Why it is not to be had, or is not what the list pins.
pub(super) async fn fetch_missing(
    environment: &Environment,
    entry: &PluginEntry,
    on_bytes: OnBytes<'_>,
) -> Result<(), String> {
    match entry.sha256.filter(|_| entry.is_remote()) {
        Some(digest) => fetch_component(environment, entry, digest, on_bytes).await,
        None => Ok(()),
    }
}

/// Holds what is kept of a component on the network to its name, the digest that the list pins. What
/// is something else is removed: nobody accepts it in place of what was fetched.
///
/// # Errors
///
/// Where it was something else, and what becomes of it.
pub(super) async fn check_kept(
    dirs: &Dirs,
    entry: &PluginEntry,
    found: Sha256Digest,
) -> Result<(), String> {
    let Some(pinned) = entry.sha256.filter(|pinned| entry.is_remote() && *pinned != found) else {
        return Ok(());
    };
    let (state, name) = (dirs.state.clone(), kept_name(pinned, &entry.source, "wasm"));
    let removed = spawn_blocking(move || {
        let directory = OwnDir::open(&state)?.subdirectory(DIRECTORY)?;
        directory.remove(&name)
    });
    let removed = removed.await.map_err(|error| error.to_string());
    let next = match removed.and_then(|removed| removed.map_err(|error| error.to_string())) {
        Ok(()) => "it is removed, and fetched again when it is needed next".to_owned(),
        Err(why) => format!("remove it, so that it is fetched again ({why})"),
    };
    let kept = component(dirs, pinned, &entry.source);
    let kept = kept.display();
    let (found, pinned) = (found.short(), pinned.short());
    Err(format!("{kept}: digest {found} does not match the pin, sha256 {pinned}; {next}"))
}

/// Holds a component to its signature, where it has one. One on the network is fetched where none is
/// kept that vouches, if `may_fetch` says that somebody agreed to that. Returns the name of the key.
///
/// # Errors
///
/// Where the signature is not to be had, or does not vouch.
pub(super) async fn check_signature(
    environment: &Environment,
    entry: &PluginEntry,
    file: Option<ComponentSource>,
    bytes: &[u8],
    signers: &[String],
    may_fetch: bool,
) -> Result<Option<String>, String> {
    let checked = signatures::check_file(file, bytes, signers).await;
    let remote = remote_signature(entry);
    let (Err(reason), Some(url), Some(digest)) = (&checked, remote, entry.sha256) else {
        return checked;
    };
    let dirs = &environment.dirs;
    let kept = signature(dirs, digest, url);
    let is_kept = kept.exists();
    if !may_fetch {
        let missing = format!("its signature {url} is not fetched before it is approved");
        return if is_kept { checked } else { Err(missing) };
    }
    let fetched = fetch(environment, url, SIGNATURE_BYTES_MAX, &|_, _| {}).await;
    let fetched = fetched.map_err(|why| if is_kept { format!("{reason}; {why}") } else { why })?;
    let text = String::from_utf8(fetched).map_err(|_| format!("{url}: not text"))?;
    let by = signatures::check(bytes, &text, signers).map_err(|why| format!("{url}: {why}"))?;
    keep(dirs, &kept, text.into_bytes()).await?;
    Ok(Some(by))
}

/// Fetches a component that is not there yet.
///
/// # Errors
///
/// Why it is not to be had, or that it has another digest.
async fn fetch_component(
    environment: &Environment,
    entry: &PluginEntry,
    digest: Sha256Digest,
    on_bytes: OnBytes<'_>,
) -> Result<(), String> {
    let dirs = &environment.dirs;
    let kept = component(dirs, digest, &entry.source);
    if kept.exists() {
        return Ok(());
    }
    if let Some(reference) = entry.oci() {
        return keep(dirs, &kept, oci::pull(environment, &reference, digest, on_bytes).await?)
            .await;
    }
    let url = &entry.source;
    let bytes_max = environment.settings().component_bytes_max;
    let bytes = fetch(environment, url, bytes_max, on_bytes).await?;
    let found = Sha256Digest::of(&bytes);
    if found != digest {
        return Err(format!("{url} has the sha256 {found}, but {digest} is asked for"));
    }
    keep(dirs, &kept, bytes).await
}

async fn fetch(
    environment: &Environment,
    url: &str,
    bytes_max: u64,
    on_bytes: OnBytes<'_>,
) -> Result<Vec<u8>, String> {
    let bounds = RequestBounds { response_bytes_max: bytes_max, ..environment.settings().bounds };
    // A person wrote the URL, or agreed to it.
    let download = Download { url, may_be_private: true, bounds, accept: None, token: None };
    let fetched = environment.network.download(download, on_bytes).await;
    fetched.map_err(|error| format!("{url}: {error}"))
}

async fn keep(dirs: &Dirs, file: &Path, bytes: Vec<u8>) -> Result<(), String> {
    let (state, file) = (dirs.state.clone(), file.to_owned());
    let kept = spawn_blocking(move || {
        let directory = OwnDir::create(&state)?.subdirectory(DIRECTORY)?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        directory.write(name, &bytes)
    });
    match kept.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_no_list_names_for_long_is_removed() {
        let temp = tempfile::tempdir().unwrap();
        let dirs = Dirs::beneath(temp.path());
        clean(&dirs, &HashSet::new()).unwrap();
        OwnDir::create(&dirs.state).unwrap().subdirectory(DIRECTORY).unwrap();
        let [named, unnamed, new] = [1, 2, 3].map(|byte| Sha256Digest::from_bytes([byte; 32]));
        let other = dirs.state.join(DIRECTORY).join("notes.txt");
        let left_over = dirs.state.join(DIRECTORY).join(".moss-0.tmp");
        let [url, elsewhere] = ["https://a.example/p.wasm", "https://b.example/p.wasm"];
        assert_ne!(component(&dirs, named, url), component(&dirs, named, elsewhere));
        let old = [
            component(&dirs, named, url),
            signature(&dirs, named, url),
            component(&dirs, unnamed, url),
            signature(&dirs, unnamed, url),
            other.clone(),
            left_over,
        ];
        let long_ago = SystemTime::now() - UNNAMED_KEPT - Duration::from_secs(1);
        for file in old.iter().chain([&component(&dirs, new, url)]) {
            fs::write(file, "x").unwrap();
        }
        for file in &old {
            #[expect(clippy::disallowed_methods, reason = "tests look from outside")]
            let file = fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_modified(long_ago).unwrap();
        }
        clean(&dirs, &HashSet::from([named])).unwrap();
        let is_there = |file: &PathBuf| file.exists();
        assert_eq!(old.each_ref().map(is_there), [true, true, false, false, true, false]);
        assert!(is_there(&component(&dirs, new, url)));
        // Others see that it is in use.
        let modified = |file: &Path| file.metadata().unwrap().modified().unwrap();
        assert!(modified(&component(&dirs, named, url)) > long_ago);
        assert_eq!(modified(&other), long_ago);
    }
}
