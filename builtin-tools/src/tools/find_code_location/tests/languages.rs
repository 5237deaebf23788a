//! One file of each language: what is declared in it, what documents that, what it lies in, and where it is used.

use std::collections::BTreeSet;

use moss_sdk::testing::MemoryHost;
use moss_symbols::Language;
use serde_json::{Value, json};

use crate::check::call;

/// A file, and what a search for one of its methods finds.
struct LanguageCase {
    path: &'static str,
    text: &'static str,
    search: &'static str,
    /// Its kind, container, signature and documentation; none of one that its language has none of.
    declared: (&'static str, Option<&'static str>, &'static str, Option<&'static str>),
    /// The line of its name.
    line: u64,
    /// Where it is called: the line, and in what.
    used: (u64, Option<&'static str>),
}

/// Languages of data and documents: nothing in them is used.
const WITHOUT_USES: [Language; 4] =
    [Language::Json, Language::Markdown, Language::Toml, Language::Yaml];

const CASES: &[LanguageCase] = &[
    LanguageCase {
        path: "a.sh",
        text: "# Adds one.\nadd() {\n    echo \"$1\"\n}\n\nrun() {\n    add 1\n}\n",
        search: "add",
        declared: ("function", None, "add()", Some("Adds one.")),
        line: 2,
        used: (7, Some("run")),
    },
    LanguageCase {
        path: "a.c",
        text: "/* Adds one. */\nint add(int n) {\n    return n + 1;\n}\n\nint run(void) {\n    return add(1);\n}\n",
        search: "add",
        declared: ("function", None, "int add(int n)", Some("Adds one.")),
        line: 2,
        used: (7, Some("run")),
    },
    LanguageCase {
        path: "a.cpp",
        text: "class Store {\npublic:\n    // Adds one.\n    int add(int n) { return n + 1; }\n};\n\nint run(Store s) {\n    return s.add(1);\n}\n",
        search: "Store::add",
        declared: ("method", Some("Store"), "int add(int n)", Some("Adds one.")),
        line: 4,
        used: (8, Some("run")),
    },
    LanguageCase {
        path: "a.go",
        text: "package a\n\ntype Store struct{}\n\n// Add adds one.\nfunc (s *Store) Add(n int) int {\n\treturn n + 1\n}\n\nfunc run(s *Store) int {\n\treturn s.Add(1)\n}\n",
        search: "Store.Add",
        declared: (
            "method",
            Some("Store"),
            "func (s *Store) Add(n int) int",
            Some("Add adds one."),
        ),
        line: 6,
        used: (11, Some("run")),
    },
    LanguageCase {
        path: "A.java",
        text: "class Store {\n    /** Adds one. */\n    int add(int n) {\n        return n + 1;\n    }\n\n    int run() {\n        return add(1);\n    }\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "int add(int n)", Some("Adds one.")),
        line: 3,
        used: (8, Some("run")),
    },
    LanguageCase {
        path: "a.js",
        text: "class Store {\n  /** Adds one. */\n  add(n) {\n    return n + 1;\n  }\n}\n\nfunction run(store) {\n  return store.add(1);\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "add(n)", Some("Adds one.")),
        line: 3,
        used: (9, Some("run")),
    },
    LanguageCase {
        path: "a.lua",
        text: "local Store = {}\n\n-- Adds one.\nfunction Store.add(n)\n  return n + 1\nend\n\nfunction run()\n  return Store.add(1)\nend\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "function Store.add(n)", Some("Adds one.")),
        line: 4,
        used: (9, Some("run")),
    },
    LanguageCase {
        path: "a.php",
        text: "<?php\nclass Store {\n    /** Adds one. */\n    public function add($n) {\n        return $n + 1;\n    }\n}\n\nfunction run($store) {\n    return $store->add(1);\n}\n",
        search: "Store->add",
        declared: ("method", Some("Store"), "public function add($n)", Some("Adds one.")),
        line: 4,
        used: (10, Some("run")),
    },
    LanguageCase {
        path: "a.py",
        text: "class Store:\n    def add(self, n):\n        \"\"\"Adds one.\"\"\"\n        return n + 1\n\n\ndef run(store):\n    return store.add(1)\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "def add(self, n)", Some("Adds one.")),
        line: 2,
        used: (8, Some("run")),
    },
    LanguageCase {
        path: "a.rb",
        text: "class Store\n  # Adds one.\n  def add(n)\n    n + 1\n  end\nend\n\ndef run(store)\n  store.add(1)\nend\n",
        search: "Store#add",
        declared: ("method", Some("Store"), "def add(n)", Some("Adds one.")),
        line: 3,
        used: (9, Some("run")),
    },
    LanguageCase {
        path: "a.rs",
        text: "struct Store;\n\nimpl Store {\n    /// Adds one.\n    fn add(&self, n: u8) -> u8 {\n        n + 1\n    }\n}\n\nfn run(store: &Store) -> u8 {\n    store.add(1)\n}\n",
        search: "Store::add",
        declared: ("method", Some("Store"), "fn add(&self, n: u8) -> u8", Some("Adds one.")),
        line: 5,
        used: (11, Some("run")),
    },
    LanguageCase {
        path: "a.tsx",
        text: "export class Store {\n  /** Adds one. */\n  add(n: number): number {\n    return n + 1;\n  }\n}\n\nexport function Run(store: Store) {\n  return <b>{store.add(1)}</b>;\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "add(n: number): number", Some("Adds one.")),
        line: 3,
        used: (9, Some("Run")),
    },
    LanguageCase {
        path: "a.ts",
        text: "export class Store {\n  /** Adds one. */\n  add(n: number): number {\n    return n + 1;\n  }\n}\n\nexport function run(store: Store) {\n  return store.add(1);\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "add(n: number): number", Some("Adds one.")),
        line: 3,
        used: (9, Some("run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.cs",
        text: "class Store {\n    /// Adds one.\n    int Add(int n) {\n        return n + 1;\n    }\n\n    int Run() {\n        return Add(1);\n    }\n}\n",
        search: "Store.Add",
        declared: ("method", Some("Store"), "int Add(int n)", Some("Adds one.")),
        line: 3,
        used: (8, Some("Run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.dart",
        text: "class Store {\n  /// Adds one.\n  int add(int n) {\n    return n + 1;\n  }\n}\n\nint run(Store store) {\n  return store.add(1);\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "int add(int n)", Some("Adds one.")),
        line: 3,
        used: (9, Some("run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.ex",
        text: "defmodule Store do\n  # Adds one.\n  def add(n) do\n    n + 1\n  end\n\n  def run() do\n    add(1)\n  end\nend\n",
        search: "Store.add",
        declared: ("function", Some("Store"), "def add(n)", Some("Adds one.")),
        line: 3,
        used: (8, Some("run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.hs",
        text: "module A where\n\n-- Adds one.\nadd :: Int -> Int\nadd n = n + 1\n\nrun :: Int\nrun = add 1\n",
        search: "add",
        declared: ("function", None, "add :: Int -> Int", Some("Adds one.")),
        line: 4,
        // The signature of `run` declares it, in which no equation of it lies.
        used: (8, None),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.kt",
        text: "class Store {\n    /** Adds one. */\n    fun add(n: Int): Int {\n        return n + 1\n    }\n}\n\nfun run(store: Store): Int {\n    return store.add(1)\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "fun add(n: Int): Int", Some("Adds one.")),
        line: 3,
        used: (9, Some("run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.scala",
        text: "class Store {\n  /** Adds one. */\n  def add(n: Int): Int = {\n    n + 1\n  }\n}\n\nobject Main {\n  def run(store: Store): Int = {\n    store.add(1)\n  }\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "def add(n: Int): Int =", Some("Adds one.")),
        line: 3,
        used: (10, Some("run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.sql",
        text: "-- What was bought.\nCREATE TABLE orders (\n    id INT\n);\n\nSELECT id FROM orders;\n",
        search: "orders",
        declared: ("struct", None, "CREATE TABLE orders (", Some("What was bought.")),
        line: 2,
        used: (6, None),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.swift",
        text: "class Store {\n    /// Adds one.\n    func add(_ n: Int) -> Int {\n        return n + 1\n    }\n}\n\nfunc run(store: Store) -> Int {\n    return store.add(1)\n}\n",
        search: "Store.add",
        declared: ("method", Some("Store"), "func add(_ n: Int) -> Int", Some("Adds one.")),
        line: 3,
        used: (9, Some("run")),
    },
    #[cfg(feature = "lang-extra")]
    LanguageCase {
        path: "a.zig",
        text: "/// Adds one.\nfn add(n: u8) u8 {\n    return n + 1;\n}\n\nfn run() u8 {\n    return add(1);\n}\n",
        search: "add",
        declared: ("function", None, "fn add(n: u8) u8", Some("Adds one.")),
        line: 2,
        used: (7, Some("run")),
    },
];

#[test]
fn each_language_has_a_case() {
    let of_path = |case: &LanguageCase| Language::of_path(case.path).unwrap();
    let has: BTreeSet<Language> = CASES.iter().map(of_path).collect();
    let missing: Vec<Language> = Language::all()
        .filter(|language| !has.contains(language) && !WITHOUT_USES.contains(language))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn declarations_and_their_uses_are_found_in_each_language() {
    let host = MemoryHost::new(CASES.iter().map(|case| (case.path, case.text)));
    let failed: Vec<String> = CASES.iter().filter_map(|case| failure(&host, case)).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// What is wrong with what is found in the file of a case.
fn failure(host: &MemoryHost, case: &LanguageCase) -> Option<String> {
    let arguments = json!({
        "search": case.search, "path": case.path, "searchType": "exact", "findReferences": true,
    });
    let found = call(host, "find_code_location", arguments).unwrap();
    let of = |value: &Value, keys: &[&str]| -> Vec<Value> {
        keys.iter().map(|key| value.get(key).cloned().unwrap_or_default()).collect()
    };
    let first = found["locations"].get(0).cloned().unwrap_or_default();
    let (kind, container, signature, documentation) = case.declared;
    let expected = json!([case.line, kind, container, signature, documentation]);
    let declared = of(&first, &["line", "kind", "container", "text", "documentation"]);
    let used = found.pointer("/references/0/uses/0").cloned().unwrap_or_default();
    let (line, container) = case.used;
    let is_right = json!(declared) == expected
        && json!(of(&used, &["line", "container"])) == json!([line, container])
        && found["total_references"] == 1;
    (!is_right).then(|| format!("{}: {found}", case.path))
}

#[test]
fn entries_of_data_and_documents_are_found_by_name() {
    let files = [
        ("a.json", "{ \"scripts\": { \"build\": \"tsc\" } }\n", "build", "key"),
        ("a.md", "# Store\n\n## Adding\n\nText.\n", "Adding", "heading"),
        ("a.toml", "[package]\nname = \"a\"\n", "package", "key"),
        ("a.yaml", "jobs:\n  test: 1\n", "jobs", "key"),
    ];
    let host = MemoryHost::new(files.map(|(path, text, ..)| (path, text)));
    for (path, _, search, kind) in files {
        let arguments = json!({ "search": search, "path": path, "searchType": "exact" });
        let found = call(&host, "find_code_location", arguments).unwrap();
        let first = &found["locations"][0];
        assert_eq!((&first["name"], &first["kind"]), (&json!(search), &json!(kind)), "{found}");
    }
}
