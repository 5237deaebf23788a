//! Where the programs under test are: built by `cargo xtask test`, found beside the tests.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

/// Returns the path of the moss that is tested: `MOSS_TEST_BINARY`, or the one of the same build
/// as this test.
///
/// # Panics
///
/// Where it was not built, or is older than its sources: a test of yesterday's daemon proves
/// nothing.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(given) = std::env::var_os("MOSS_TEST_BINARY") {
            return given.into();
        }
        let test = std::env::current_exe().unwrap();
        // <target>/<profile>/deps/it-<hash>
        let binary = test.ancestors().nth(2).unwrap().join("moss");
        assert!(binary.exists(), "{} is not there: run `cargo xtask test`", binary.display());
        if let Some(newer) = newer_source(&binary) {
            panic!(
                "{} is older than {newer}: run `cargo xtask test`, or `cargo build -p moss` first",
                binary.display()
            );
        }
        binary
    })
}

/// Returns the path of an example plugin, built by `cargo xtask test` into the directory that
/// `MOSS_TEST_PLUGINS` names.
///
/// # Panics
///
/// Where it was not built.
pub(crate) fn plugin(name: &str) -> PathBuf {
    let directory = std::env::var_os("MOSS_TEST_PLUGINS")
        .expect("MOSS_TEST_PLUGINS is not set: run `cargo xtask test`");
    let file = Path::new(&directory).join(format!("{name}.wasm"));
    assert!(file.exists(), "{} is not there: run `cargo xtask test`", file.display());
    file
}

/// Finds a source that changed after the binary was built, in the list that the compiler leaves
/// beside it.
fn newer_source(binary: &Path) -> Option<String> {
    let built = modified(binary)?;
    let list = std::fs::read_to_string(binary.with_extension("d")).ok()?;
    let (_, sources) = list.split_once(": ")?;
    let mut sources = sources.split_whitespace();
    sources
        .find(|source| modified(Path::new(source)).is_some_and(|at| at > built))
        .map(str::to_owned)
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}
