//! Code of components that many tests use, compiled once for all of them: each takes an unoptimized moss seconds, and no
//! test but those of compiling is about that.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Site;

/// What all of it is sealed with: a secret of machines that last for one test.
const KEY: [u8; 32] = [7; 32];
/// The file with that secret, beside the directory with the code.
const KEY_FILE: &str = "code.key";

/// Kept code: the name of its file, and what that holds.
type SharedCode = (String, Vec<u8>);

/// What was compiled so far, by the hash of the component. Who wants code that is just compiled waits for it.
static COMPILED: Mutex<BTreeMap<[u8; 32], Arc<OnceLock<SharedCode>>>> = Mutex::new(BTreeMap::new());

/// Gives a machine the code of a component, as if moss had compiled it there before.
///
/// # Panics
///
/// Where moss has compiled something there already: its secret is another one.
pub(crate) fn keep_code(site: &Site, component: &[u8]) {
    let code = {
        let mut all = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(*blake3::hash(component).as_bytes()).or_default())
    };
    let (name, bytes) = code.get_or_init(|| compiled(component));
    share_key(site);
    let directory = site.state().join("code");
    make_private(&directory);
    write_private(&directory.join(name), bytes);
}

/// Compiles a component on a machine of its own.
fn compiled(component: &[u8]) -> SharedCode {
    let site = Site::new();
    share_key(&site);
    let file = site.outside("component.wasm");
    std::fs::write(&file, component).unwrap();
    let checked = site.run(&["plugin", "check", "--json", file.to_str().unwrap()]);
    let kept = std::fs::read_dir(site.state().join("code"));
    let kept: Vec<_> = kept.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    let [code] = &kept[..] else { panic!("one component, one file: {kept:?}, {checked:?}") };
    let name = code.file_name().unwrap().to_str().unwrap().to_owned();
    (name, std::fs::read(code).unwrap())
}

/// Makes the shared secret that of a machine.
fn share_key(site: &Site) {
    make_private(&site.state());
    let file = site.state().join(KEY_FILE);
    match std::fs::read(&file) {
        Ok(secret) => assert_eq!(secret, KEY, "moss has compiled something there already"),
        Err(_) => write_private(&file, &KEY),
    }
}

fn make_private(directory: &Path) {
    DirBuilder::new().recursive(true).mode(0o700).create(directory).unwrap();
}

fn write_private(file: &Path, bytes: &[u8]) {
    let mut options = File::options();
    let opened = options.write(true).create(true).truncate(true).mode(0o600).open(file);
    opened.unwrap().write_all(bytes).unwrap();
}
