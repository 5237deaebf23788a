//! Hostile and odd components, assembled from their texts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Site;
use super::compiled::keep_code;
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
    assert_eq!((version / 10, description.len()), (0, 8), "they replace others");
    let text = hostile::text_of("polite")
        .replace("Does it.", description)
        .replace("\\00\\09\\00\\00\\02", "\\00\\09\\00\\00\\07")
        .replace("\"{}\"", &format!("\"{{\\22v\\22:{version}}}\""));
    hostile::compile("polite", &text)
}

/// The plugin `zoo` in a version with so much code that compiling it takes its time.
pub(crate) fn zoo_long_to_compile() -> Vec<u8> {
    const FUNCTIONS: usize = 600;
    const STEPS: usize = 300;
    let step = "local.get 0 local.get 0 i32.const 7 i32.xor i32.mul local.set 0 ";
    let function = format!("(func (param i32) {})\n", step.repeat(STEPS));
    let end = "(core instance $i";
    let text = hostile::text_of("polite");
    let (module, rest) = text.split_once(end).unwrap();
    let module = module.trim_end().strip_suffix(')').unwrap();
    let text = format!("{module}\n{})\n  {end}{rest}", function.repeat(FUNCTIONS));
    hostile::compile("polite", &text)
}

/// What a guest does to the file that it gets the path of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathEdit {
    Create,
    Write,
}

/// Assembles the plugin `spread`: it writes its arguments into `f0.txt`, `f1.txt` and `f2.txt`.
pub(crate) fn spread() -> Vec<u8> {
    hostile::compile("spread", &spread_text())
}

/// Assembles a plugin with a tool, both of a name of six letters, that gets a `path` and no other argument. It edits
/// that file, or it only reads, and that nothing.
pub(crate) fn with_path(called: &str, edit: Option<PathEdit>) -> Vec<u8> {
    assert_eq!(called.len(), 6, "the name replaces `spread`");
    // The variant of the edit, and where its content is.
    let (kind, content) = match edit {
        None | Some(PathEdit::Create) => (0, 2572),
        Some(PathEdit::Write) => (1, 2584),
    };
    let edits = u8::from(edit.is_some());
    // The arguments are `{"path":"…"}`, and all of them the content.
    let stores = format!(
        "(i32.store (i32.const 2564) (i32.add (local.get 2) (i32.const 9)))
         (i32.store (i32.const 2568) (i32.sub (local.get 3) (i32.const 11)))
         (i32.store (i32.const {content}) (local.get 2))
         (i32.store (i32.const {}) (local.get 3))",
        content + 4
    );
    let mut text = spread_text();
    for (old, new) in [
        ("\"spread1", format!("\"{called}1")),
        ("\"\\01\\00\\00\\00\" \"\\bf", format!("\"\\0{edits}\\00\\00\\00\" \"\\bf")),
        ("\\0a\\00\\00\\03", format!("\\0a\\00\\00\\0{edits}")),
        ("(i32.const 2560) \"\\01", format!("(i32.const 2560) \"\\0{kind}")),
        (
            "(i32.store (i32.const 2584) (local.get 2)) (i32.store (i32.const 2588) (local.get 3))",
            stores,
        ),
    ] {
        assert_eq!(text.matches(old).count(), 1, "{old}");
        text = text.replace(old, &new);
    }
    hostile::compile(called, &text)
}

fn spread_text() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/spread.wat");
    hostile::with_parts(std::fs::read_to_string(file).unwrap())
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

/// As [`install`], with code of the components that all tests share.
pub(crate) fn install_compiled(site: &Site, plugins: &[(&str, &[u8], Value)]) -> PathBuf {
    for (_, bytes, _) in plugins {
        keep_code(site, bytes);
    }
    install(site, plugins)
}
