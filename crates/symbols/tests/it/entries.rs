//! Keys of data and headings of documents.

use moss_symbols::Language;

use crate::reading::declarations;

#[test]
fn keys_belong_to_those_around_them() {
    let json = r#"{ "name": "x", "scripts": { "test": "a", "build": ["b"] } }"#;
    let expected = ["key name", "key scripts", "key scripts.test", "key scripts.build"];
    assert_eq!(declarations(Language::Json, json), expected);
    let yaml = "name: x\non:\n  push:\n    branches: [a]\n\"quoted\": 1\n";
    let expected = ["key name", "key on", "key on.push", "key push.branches", "key quoted"];
    assert_eq!(declarations(Language::Yaml, yaml), expected);
    let toml = "a = 1\n[package]\nname = \"x\"\n[dependencies.serde]\nfeatures = []\n[[bin]]\npath = \"p\"\n";
    assert_eq!(
        declarations(Language::Toml, toml),
        [
            "key a",
            "key package",
            "key package.name",
            "key dependencies.serde",
            "key dependencies.serde.features",
            "key bin",
            "key bin.path",
        ]
    );
}

#[test]
fn headings_are_found_without_their_signs() {
    let text = "# One\n\ntext\n\n## Two *x*\n\n```\n# no heading\n```\n\nThree\n=====\n";
    let expected = ["heading One", "heading Two *x*", "heading Three"];
    assert_eq!(declarations(Language::Markdown, text), expected);
}
