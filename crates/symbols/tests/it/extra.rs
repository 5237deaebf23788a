//! The further languages: one file of each, with everything that its rules know.

use moss_symbols::{Language, UseKind};

use crate::reading::{declarations, documentation, imports, signature, uses};

/// What a file of some language has.
struct ExpectedOutline<'a> {
    declarations: &'a [&'a str],
    /// Names, and what documents them.
    documentation: &'a [(&'a str, &'a str)],
    imports: &'a [&'a str],
    calls: &'a [&'a str],
    /// A name and its signature, where that is told apart from the whole.
    signature: Option<(&'a str, &'a str)>,
}

fn check(language: Language, text: &str, expected: &ExpectedOutline<'_>) {
    let found = declarations(language, text);
    assert_eq!(found, expected.declarations, "{}", found.join("\n"));
    let documented = documentation(language, text);
    let documented: Vec<_> =
        documented.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(documented, expected.documentation);
    assert_eq!(imports(language, text), expected.imports);
    assert_eq!(uses(language, text, UseKind::Call), expected.calls);
    if let Some((name, written)) = expected.signature {
        assert_eq!(signature(language, text, name), written);
    }
}

#[test]
fn c_sharp() {
    let expected = ExpectedOutline {
        declarations: &[
            "module Core",
            "class Store",
            "field Store.items",
            "field Store.Max",
            "field Store.Changed",
            "field Store.Count",
            "method Store.Store",
            "method Store.Find",
            "enum Store.Kind",
            "variant Kind.One",
            "variant Kind.Two",
            "interface IStore",
            "field IStore.Count",
            "method IStore.Save",
            "class Point",
            "struct Size",
            "field Size.Width",
            "type Handler",
        ],
        documentation: &[
            ("Store", "/// <summary>A store.</summary>"),
            ("Count", "/// <summary>How many.</summary>"),
        ],
        imports: &["using System.Collections.Generic;"],
        calls: &["Run", "Clone"],
        signature: Some(("Find", "public T Find(int id)")),
    };
    check(Language::CSharp, include_str!("extra/store.cs"), &expected);
}

#[test]
fn dart() {
    let expected = ExpectedOutline {
        declarations: &[
            "class Store",
            "variable Store.items",
            "constant Store.max",
            "method Store.Store",
            "method Store.Store",
            "method Store.find",
            "method Store.count",
            "class Walker",
            "method Walker.walk",
            "enum Kind",
            "variant Kind.one",
            "variant Kind.two",
            "method Store.more",
            "type Name",
            "class Saving",
            "method Saving.save",
            "function top",
            "constant limit",
        ],
        documentation: &[("Store", "/// A store."), ("find", "/// Finds.")],
        imports: &["import 'dart:io';"],
        calls: &["helper", "run", "helper"],
        signature: Some(("find", "T find(int id)")),
    };
    check(Language::Dart, include_str!("extra/store.dart"), &expected);
}

#[test]
fn elixir() {
    let expected = ExpectedOutline {
        declarations: &[
            "module Shop.Store",
            "function Shop.Store.find",
            "function Shop.Store.helper",
            "macro Shop.Store.twice",
            "interface Saving",
            "method Saving.save",
        ],
        documentation: &[(
            "find",
            "@doc \"\"\"\n  Finds.\n  \"\"\"\n  @spec find(integer) :: term",
        )],
        imports: &[],
        calls: &["find", "helper", "run"],
        signature: Some(("find", "def find(id) when id > 0")),
    };
    check(Language::Elixir, include_str!("extra/store.ex"), &expected);
}

#[test]
fn haskell() {
    let expected = ExpectedOutline {
        declarations: &[
            "type Store",
            "variant Store.Empty",
            "variant Store.Full",
            "field Full.items",
            "type Name",
            "variant Name.Name",
            "type Alias",
            "interface Saving",
            "method Saving.save",
            "method Saving.save",
            "function find",
            "function limit",
        ],
        documentation: &[("Store", "-- | A store."), ("find", "-- | Finds.")],
        imports: &["Data.List"],
        calls: &["helper", "helper", "sort", "run"],
        signature: None,
    };
    check(Language::Haskell, include_str!("extra/store.hs"), &expected);
}

#[test]
fn kotlin() {
    let expected = ExpectedOutline {
        declarations: &[
            "class Store",
            "variable Store.items",
            "method Store.find",
            "variable Store.MAX",
            "interface IStore",
            "method IStore.save",
            "enum Kind",
            "variant Kind.ONE",
            "variant Kind.TWO",
            "class Single",
            "method Single.go",
            "class Point",
            "type Name",
            "function shout",
            "variable limit",
        ],
        documentation: &[("Store", "/** A store. */"), ("find", "/** Finds. */")],
        imports: &["import kotlin.collections.List"],
        calls: &["Base", "mutableListOf", "helper", "run", "uppercase"],
        signature: Some(("find", "fun find(id: Int): T")),
    };
    check(Language::Kotlin, include_str!("extra/store.kt"), &expected);
}

#[test]
fn scala() {
    let expected = ExpectedOutline {
        declarations: &[
            "class Store",
            "variable Store.items",
            "variable Store.n",
            "method Store.find",
            "class Store",
            "method Store.apply",
            "trait Saving",
            "method Saving.save",
            "class Point",
            "enum Kind",
            "variant Kind.One",
            "variant Kind.Two",
            "type Name",
            "variable ordering",
            "function top",
        ],
        documentation: &[("Store", "/** A store. */"), ("find", "/** Finds. */")],
        imports: &["import scala.collection.mutable"],
        calls: &["Buffer", "items", "helper", "run"],
        signature: Some(("find", "def find(id: Int): T =")),
    };
    check(Language::Scala, include_str!("extra/store.scala"), &expected);
}

#[test]
fn sql() {
    let expected = ExpectedOutline {
        declarations: &[
            "struct store",
            "field store.id",
            "field store.name",
            "variable by_name",
            "struct full_store",
            "function find",
        ],
        documentation: &[("store", "-- A store.")],
        imports: &[],
        calls: &["count"],
        signature: None,
    };
    check(Language::Sql, include_str!("extra/store.sql"), &expected);
}

#[test]
fn swift() {
    let expected = ExpectedOutline {
        declarations: &[
            "class Store",
            "variable Store.items",
            "variable Store.count",
            "method Store.init",
            "method Store.find",
            "struct Point",
            "variable Point.x",
            "enum Kind",
            "variant Kind.one",
            "variant Kind.two",
            "interface Saving",
            "field Saving.count",
            "method Saving.save",
            "method Store.more",
            "type Name",
            "function top",
            "variable limit",
        ],
        documentation: &[("Store", "/// A store."), ("find", "/// Finds.")],
        imports: &["import Foundation"],
        calls: &["helper", "items", "wrap", "run"],
        signature: Some(("find", "func find(_ id: Int) -> T")),
    };
    check(Language::Swift, include_str!("extra/store.swift"), &expected);
}

#[test]
fn zig() {
    let expected = ExpectedOutline {
        declarations: &[
            "constant std",
            "struct Store",
            "field Store.items",
            "method Store.find",
            "enum Kind",
            "variant Kind.one",
            "variant Kind.two",
            "function helper",
            "variable limit",
            "function finds",
        ],
        documentation: &[("Store", "/// A store."), ("find", "/// Finds.")],
        imports: &[],
        calls: &["helper", "zero", "helper"],
        signature: Some(("find", "pub fn find(self: *Store, id: usize) u8")),
    };
    check(Language::Zig, include_str!("extra/store.zig"), &expected);
}

#[test]
fn signs_around_names_that_are_keywords_are_no_part_of_them() {
    for (language, text, expected, called) in [
        (
            Language::CSharp,
            "class @class { void @do() { @do(); } }\n",
            "class class, method class.do",
            "do",
        ),
        (Language::Kotlin, "class A { fun `is`() { `is`() } }\n", "class A, method A.is", "is"),
        (
            Language::Scala,
            "class A { def `type`(): Int = `type`() }\n",
            "class A, method A.type",
            "type",
        ),
        (Language::Swift, "class A { func `in`() { `in`() } }\n", "class A, method A.in", "in"),
    ] {
        assert_eq!(declarations(language, text).join(", "), expected, "{text}");
        assert_eq!(uses(language, text, UseKind::Call), [called], "{text}");
    }
}
