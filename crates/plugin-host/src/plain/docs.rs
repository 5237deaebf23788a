//! What a component says about itself beside its code: its version and its documentation.
//!
//! A component keeps no comments of its WIT. Tools that carry them along put them into the custom
//! section `package-docs`: a version byte, then a JSON text that names worlds, interfaces,
//! functions and types as in the WIT package that the component was made from. Nothing here fails:
//! what is missing, damaged or too large is no documentation. Where two locations document the same
//! name with different texts, neither is taken.

use std::collections::BTreeMap;

use moss_sdk::deceptive::{first_deceptive, is_deceptive};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::description::{DESCRIPTION_BYTES_MAX, is_version};

/// Largest section with documentation, in bytes.
const SECTION_BYTES_MAX: usize = 1 << 20;
/// Most custom sections that are looked at.
const SECTIONS_MAX: usize = 1024;
/// Most documented functions, and most documented types.
const ENTRIES_MAX: usize = 512;
/// Most documented fields, cases or names of a type.
const ITEMS_MAX: usize = 256;
/// Longest text of a type, a field, a case or a name, in bytes.
const ITEM_BYTES_MAX: usize = 1000;
/// The bytes before the first section.
const PREAMBLE_BYTES: usize = 8;

/// What a component says about itself beside its code. Keys are `<interface>/<name>`, without an
/// interface for what lies in the world itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Docs {
    /// The version of the package, where the component states one.
    pub(crate) version: Option<String>,
    functions: BTreeMap<String, String>,
    types: BTreeMap<String, TypeDocs>,
}

/// The documentation of a type. Empty where it is contested.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct TypeDocs {
    pub(crate) text: String,
    /// Of its fields, cases or names.
    pub(crate) items: BTreeMap<String, String>,
}

/// A documented type with the names of its fields, cases or names, by which it is known again:
/// functions name no types.
#[derive(Debug)]
pub(crate) struct DocumentedType<'a> {
    pub(crate) names: Vec<String>,
    pub(crate) docs: &'a TypeDocs,
}

/// A custom section: its name and its data.
type Section<'a> = (&'a str, &'a [u8]);

/// Reads what a component says about itself beside its code.
pub(crate) fn docs(bytes: &[u8]) -> Docs {
    let mut docs = Docs::default();
    let (mut has_docs, mut rest) = (false, bytes.get(PREAMBLE_BYTES..).unwrap_or_default());
    for _ in 0..SECTIONS_MAX {
        let Some((section, after)) = next_custom(rest) else { break };
        rest = after;
        match section {
            ("package-docs", data) if !has_docs && data.len() <= SECTION_BYTES_MAX => {
                has_docs = true;
                if let Some((0 | 1, text)) = data.split_first()
                    && let Ok(package) = serde_json::from_slice::<Value>(text)
                {
                    docs.read(&package);
                }
            }
            ("version", data) if docs.version.is_none() => {
                let version = std::str::from_utf8(data).map(str::trim).unwrap_or_default();
                docs.version = is_version(version).then(|| version.to_owned());
            }
            _ => {}
        }
    }
    docs
}

/// Returns the next custom section and what comes after it.
fn next_custom(mut bytes: &[u8]) -> Option<(Section<'_>, &[u8])> {
    loop {
        let (id, after_id) = bytes.split_first()?;
        let (size, body) = length(after_id)?;
        let (section, after) = body.split_at_checked(size)?;
        if *id == 0 {
            let (size, named) = length(section)?;
            let (name, data) = named.split_at_checked(size)?;
            return Some(((std::str::from_utf8(name).ok()?, data), after));
        }
        bytes = after;
    }
}

/// Reads a length in LEB128.
fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut length = 0_u64;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        length |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((usize::try_from(length).ok()?, &bytes[index + 1..]));
        }
    }
    None
}

// === impl Docs ===

impl Docs {
    /// Returns the documentation of a function.
    pub(crate) fn function(&self, interface: Option<&str>, name: &str) -> Option<&str> {
        let text = self.functions.get(&key(interface, name))?;
        Some(text.as_str()).filter(|text| !text.is_empty())
    }

    /// Returns the documentation of a type: of the interface, or the only one of that name.
    pub(crate) fn kind(&self, interface: Option<&str>, name: &str) -> Option<&TypeDocs> {
        self.types.get(&key(interface, name)).or_else(|| {
            let mut of_that_name = self
                .types
                .iter()
                .filter(|(key, _)| key.rsplit_once('/').is_some_and(|(_, of_key)| of_key == name));
            of_that_name.next().filter(|_| of_that_name.next().is_none()).map(|(_, docs)| docs)
        })
    }

    /// Whether any type is documented.
    pub(crate) fn has_types(&self) -> bool {
        !self.types.is_empty()
    }

    fn read(&mut self, package: &Value) {
        for (_, world) in entries(&package["worlds"]) {
            for key in ["func_exports", "funcs"] {
                self.read_functions(None, &world[key]);
            }
            self.read_types(None, &world["types"]);
            for key in ["interface_exports", "interfaces"] {
                self.read_interfaces(&world[key]);
            }
        }
        self.read_interfaces(&package["interfaces"]);
    }

    fn read_interfaces(&mut self, interfaces: &Value) {
        for (name, interface) in entries(interfaces) {
            self.read_functions(Some(name), &interface["funcs"]);
            self.read_types(Some(name), &interface["types"]);
        }
    }

    fn read_functions(&mut self, interface: Option<&str>, functions: &Value) {
        for (name, function) in entries(functions) {
            // The older form has the text alone.
            let text = function.as_str().or_else(|| function["docs"].as_str());
            let text = clean(text.unwrap_or_default(), DESCRIPTION_BYTES_MAX);
            if !text.is_empty() {
                add(&mut self.functions, key(interface, name), text);
            }
        }
    }

    fn read_types(&mut self, interface: Option<&str>, types: &Value) {
        for (name, kind) in entries(types) {
            let text = |value: &Value| clean(value.as_str().unwrap_or_default(), ITEM_BYTES_MAX);
            let items = entries(&kind["items"]).take(ITEMS_MAX);
            let items = items.map(|(name, item)| (name.to_owned(), text(item)));
            let docs = TypeDocs {
                text: text(&kind["docs"]),
                items: items.filter(|(_, text)| !text.is_empty()).collect(),
            };
            if docs != TypeDocs::default() {
                add(&mut self.types, key(interface, name), docs);
            }
        }
    }
}

fn key(interface: Option<&str>, name: &str) -> String {
    format!("{}/{name}", interface.unwrap_or_default())
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// Adds an entry, or makes it empty where there is another one already.
fn add<T: Default + PartialEq>(all: &mut BTreeMap<String, T>, key: String, new: T) {
    let has_room = all.len() < ENTRIES_MAX;
    match all.get_mut(&key) {
        Some(known) if *known == new => {}
        Some(known) => *known = T::default(),
        None if has_room => {
            all.insert(key, new);
        }
        None => {}
    }
}

/// Makes a text of so many bytes at most, without characters that nobody sees as what they are.
fn clean(text: &str, bytes_max: usize) -> String {
    let mut text = text.replace('\t', " ");
    // What joins letters stays, unless something else hides.
    if text.split('\n').any(|line| first_deceptive(line).is_some()) {
        text.retain(|char| char == '\n' || !is_deceptive(char));
    }
    if text.trim().len() > bytes_max {
        text = text.trim_start().to_owned();
        text.truncate(text.floor_char_boundary(bytes_max - '…'.len_utf8()));
        text.push('…');
    }
    text.trim().to_owned()
}

// === impl DocumentedType ===

impl DocumentedType<'_> {
    /// Whether these are its fields, cases or names.
    pub(crate) fn has<'n>(&self, names: impl Iterator<Item = &'n str>) -> bool {
        names.eq(self.names.iter().map(String::as_str))
    }
}
