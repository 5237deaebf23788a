//! Hostile and odd components, assembled from their texts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Site;

/// Assembles `plugin-host/tests/fixtures/<name>.wat`: a plugin `zoo` with a tool `act`.
pub(crate) fn zoo(name: &str) -> Vec<u8> {
    assemble(&folder().join(format!("{name}.wat")), |text| text)
}

/// The same as [`zoo`], but plugin and tool have a name of three letters of its own.
pub(crate) fn zoo_named(name: &str, called: &str) -> Vec<u8> {
    assert_eq!(called.len(), 3, "the name takes the place of `zoo` and of `act`");
    assemble(&folder().join(format!("{name}.wat")), |text| {
        text.replace("\"zoo1act", &format!("\"{called}1{called}"))
    })
}

/// The plugin `zoo` in a version whose tool answers `{"v": VERSION}`, of one digit, and describes
/// itself with a text of eight bytes.
pub(crate) fn zoo_version(version: u8, description: &str) -> Vec<u8> {
    assert_eq!((version / 10, description.len()), (0, 8), "they take the place of others");
    assemble(&folder().join("polite.wat"), |text| {
        text.replace("Does it.", description)
            .replace("\\00\\09\\00\\00\\02", "\\00\\09\\00\\00\\07")
            .replace("\"{}\"", &format!("\"{{\\22v\\22:{version}}}\""))
    })
}

/// Assembles the plugin `spread`: it writes its arguments into `f0.txt`, `f1.txt` and `f2.txt`.
pub(crate) fn spread() -> Vec<u8> {
    assemble(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/spread.wat"), |text| text)
}

/// Makes a plugin list of components that lie beside it; each with a name, its bytes and what its
/// entry says beside that.
pub(crate) fn install(site: &Site, plugins: &[(&str, &[u8], Value)]) -> PathBuf {
    let mut entries = Vec::new();
    for (name, bytes, more) in plugins {
        let file = format!("{name}.wasm");
        std::fs::write(site.outside("config/moss").join(&file), bytes).unwrap();
        let mut entry = json!({ "name": name, "source": file });
        let more = more.as_object().expect("keys of an entry").clone();
        entry.as_object_mut().expect("it is one").extend(more);
        entries.push(entry);
    }
    site.plugin_list(&json!({ "version": 1, "plugins": entries }).to_string())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin-host/tests/fixtures")
}

/// Lines such as `;;realloc` stand for the files in `parts`.
fn assemble(file: &Path, change: impl Fn(String) -> String) -> Vec<u8> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let mut text = read(file);
    for part in ["describe", "reading", "realloc", "post", "face"] {
        let part_text = read(&folder().join(format!("parts/{part}.wat")));
        text = text.replace(&format!(";;{part}\n"), &part_text);
    }
    wat::parse_str(change(text)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
