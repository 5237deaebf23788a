//! A type name stands for one thing in the whole project: who reads it anywhere knows which it is.

use std::collections::BTreeMap;

use syn::{Attribute, Block, Ident, ImplItem, Item, Meta, Stmt, TraitItem};

use crate::tree::{File, rust_files};
use crate::{hold, hold_but};

/// Names that several definitions share, each with the reason why they are one thing.
const SHARED: &[(&str, &str)] = &[
    ("CommandGroup", "the same for each platform, of which one is compiled"),
    ("CommandGroups", "the same for each platform, of which one is compiled"),
    ("ForkServer", "the same for each platform, of which one is compiled"),
    (
        "Language",
        "the same languages; of the catalog and the model bridge neither knows the other's texts",
    ),
    (
        "LastLink",
        "the plugin host asks for what the workspace does, and must not depend on the workspace",
    ),
    ("Protection", "policy decides about what the workspace finds, and reaches no files"),
    ("SystemLayers", "the same for each platform, of which one is compiled"),
    ("WatchedDirectories", "the same for each platform, of which one is compiled"),
];
/// Trees that are not part of the project's own code: examples, fuzz targets, what authors start with.
const APART: [&str; 3] = ["plugins-example/", "fuzz/", "cli/templates/"];
/// Macros that define a struct by the first name that they are given.
const DEFINING_MACROS: [&str; 2] = ["config", "section"];

#[test]
fn a_type_name_stands_for_one_thing() {
    let own = rust_files()
        .filter(|file| !file.is_test() && !APART.iter().any(|apart| file.path.starts_with(apart)));
    hold_but("a type name stands for one thing", shared_names(own), SHARED);
}

#[test]
fn a_name_that_is_defined_twice_is_found() {
    let shared = |texts: [&str; 2]| {
        let files = texts.map(|text| File::of(&format!("{}.rs", text.len()), text));
        shared_names(&files).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(shared(["struct A;", "pub use crate::A;"]), "");
    assert_eq!(shared(["struct A;", "mod inner { pub(crate) enum A {} }"]), "A");
    assert_eq!(shared(["trait A {}", "impl B { fn f(&self) { type A = u8; } }"]), "A");
    assert_eq!(shared(["section!(A { b: u8 });", "union A { b: u8 }"]), "A");
    assert_eq!(shared(["struct A;", "impl Iterator for B { type A = u8; }"]), "");
    assert_eq!(shared(["struct A;", "#[cfg(test)]\nmod cases { struct A; }"]), "");
    assert_eq!(shared(["struct A;", "#[cfg(all(test, unix))]\nfn f() { struct A; }"]), "");
    assert_eq!(shared(["struct Error;", "enum Error {}"]), "");
}

/// The names that several definitions have, with the places of all of them.
fn shared_names<'f>(files: impl IntoIterator<Item = &'f File>) -> Vec<(String, String)> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files {
        let parsed = syn::parse_file(&file.text);
        hold("Rust", parsed.as_ref().err().map(|error| format!("{}: {error}", file.path)));
        let mut names = Vec::new();
        define(&parsed.unwrap().items, &mut names);
        for name in names {
            let place = format!("{}:{}", file.path, line_of(&file.text, &name));
            places.entry(name).or_default().push(place);
        }
    }
    // Each crate has one error of this name, by the convention of Rust.
    places.remove("Error");
    let shared = places.into_iter().filter(|(_, places)| places.len() > 1);
    shared.map(|(name, places)| (name, format!("defined in {}", places.join(" and ")))).collect()
}

/// Collects the types that items define, those in functions too.
fn define(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        let mut named = |attributes: &[Attribute], name: &Ident| {
            if !is_test(attributes) {
                names.push(name.to_string());
            }
        };
        match item {
            Item::Struct(item) => named(&item.attrs, &item.ident),
            Item::Enum(item) => named(&item.attrs, &item.ident),
            Item::Union(item) => named(&item.attrs, &item.ident),
            Item::Type(item) => named(&item.attrs, &item.ident),
            Item::Trait(item) => {
                named(&item.attrs, &item.ident);
                let bodies = item.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(function) => function.default.as_ref(),
                    _ => None,
                });
                bodies.for_each(|body| define_in(body, names));
            }
            Item::Macro(item) => {
                let defines = DEFINING_MACROS.iter().any(|name| item.mac.path.is_ident(name));
                let first = item.mac.tokens.clone().into_iter().next();
                names.extend(first.filter(|_| defines).map(|name| name.to_string()));
            }
            Item::Mod(item) if !is_test(&item.attrs) => {
                define(item.content.as_ref().map_or(&[], |(_, items)| items), names);
            }
            Item::Fn(item) if !is_test(&item.attrs) => define_in(&item.block, names),
            Item::Impl(item) if !is_test(&item.attrs) => {
                for item in &item.items {
                    if let ImplItem::Fn(function) = item {
                        define_in(&function.block, names);
                    }
                }
            }
            _ => {}
        }
    }
}

fn define_in(block: &Block, names: &mut Vec<String>) {
    for statement in &block.stmts {
        if let Stmt::Item(item) = statement {
            define(std::slice::from_ref(item), names);
        }
    }
}

/// Whether something is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
            !condition.contains("not") && words.any(|word| word == "test")
        }
        _ => false,
    })
}

/// The line, from 1, in which a type of a name is defined first.
fn line_of(text: &str, name: &str) -> usize {
    let defines = |line: &str| {
        let words: Vec<&str> = line
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|w| !w.is_empty())
            .collect();
        words.windows(2).any(|pair| {
            let keyword = matches!(pair[0], "struct" | "enum" | "union" | "trait" | "type");
            (keyword || DEFINING_MACROS.contains(&pair[0])) && pair[1] == name
        })
    };
    text.lines()
        .position(|line| !line.trim_start().starts_with("//") && defines(line))
        .map_or(0, |at| at + 1)
}
