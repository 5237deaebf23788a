//! Hostile and odd components, assembled from their texts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Site;
use crate::hostile::{self, assemble_named};

/// Assembles a hostile component by the name of its text: a plugin `zoo` with a tool `act`.
pub(crate) fn zoo(name: &str) -> Vec<u8> {
    hostile::assemble(name)
}

/// The same as [`zoo`], but plugin and tool have a name of three letters of its own.
pub(crate) fn zoo_named(name: &str, called: &str) -> Vec<u8> {
    assemble_named(name, called)
}

/// The plugin `zoo` in a version whose tool answers `{"v": VERSION}`, of one digit, and describes
/// itself with a text of eight bytes.
pub(crate) fn zoo_version(version: u8, description: &str) -> Vec<u8> {
    assert_eq!((version / 10, description.len()), (0, 8), "they take the place of others");
    let text = hostile::text_of("polite")
        .replace("Does it.", description)
        .replace("\\00\\09\\00\\00\\02", "\\00\\09\\00\\00\\07")
        .replace("\"{}\"", &format!("\"{{\\22v\\22:{version}}}\""));
    hostile::compile("polite", &text)
}

/// Assembles the plugin `spread`: it writes its arguments into `f0.txt`, `f1.txt` and `f2.txt`.
pub(crate) fn spread() -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/spread.wat");
    hostile::compile("spread", &hostile::with_parts(std::fs::read_to_string(file).unwrap()))
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
