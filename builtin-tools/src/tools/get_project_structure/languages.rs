//! Languages of files, inferred from their names.

use std::cmp::Reverse;
use std::collections::HashMap;

use moss_sdk::tree_listing::TreeListing;
use schemars::JsonSchema;
use serde::Serialize;

/// Most languages of one result.
const LANGUAGES_MAX: usize = 20;

/// The files of one language.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct LanguageCount {
    /// Its usual name, such as `Rust`.
    language: &'static str,
    /// How many files there are.
    files: u64,
    /// Their size in bytes.
    bytes: u64,
}

/// What a language is for; the order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    Code,
    Prose,
    Data,
}

use Purpose::{Code, Data, Prose};

/// Languages with the ends of names after the last dot, and with whole names after a slash, all in
/// lower case.
const LANGUAGES: &[(&str, Purpose, &[&str])] = &[
    ("Ada", Code, &["adb", "ads"]),
    ("Assembly", Code, &["asm", "s"]),
    ("Astro", Code, &["astro"]),
    ("Batch", Code, &["bat", "cmd"]),
    ("C", Code, &["c", "h"]),
    ("C#", Code, &["cs", "cshtml", "csx", "razor"]),
    ("C++", Code, &["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ipp", "tpp"]),
    ("CMake", Code, &["cmake", "/cmakelists.txt"]),
    ("CSS", Code, &["css", "less", "sass", "scss"]),
    ("CUDA", Code, &["cu", "cuh"]),
    ("Clojure", Code, &["clj", "cljc", "cljs"]),
    ("Common Lisp", Code, &["cl", "lisp"]),
    ("Crystal", Code, &["cr"]),
    ("D", Code, &["d"]),
    ("Dart", Code, &["dart"]),
    ("Dockerfile", Code, &["dockerfile", "/containerfile", "/dockerfile"]),
    ("Elixir", Code, &["ex", "exs", "heex"]),
    ("Elm", Code, &["elm"]),
    ("Emacs Lisp", Code, &["el"]),
    ("Erlang", Code, &["erl", "hrl"]),
    ("F#", Code, &["fs", "fsi", "fsx"]),
    ("Fortran", Code, &["f", "f03", "f08", "f90", "f95", "for"]),
    ("GLSL", Code, &["frag", "glsl", "vert"]),
    ("Gleam", Code, &["gleam"]),
    ("Go", Code, &["go"]),
    ("GraphQL", Code, &["gql", "graphql"]),
    ("Groovy", Code, &["gradle", "groovy", "/jenkinsfile"]),
    ("HTML", Code, &["htm", "html", "xhtml"]),
    ("Haskell", Code, &["hs", "lhs"]),
    ("Java", Code, &["java"]),
    ("JavaScript", Code, &["cjs", "js", "jsx", "mjs"]),
    ("Julia", Code, &["jl"]),
    ("Jupyter Notebook", Code, &["ipynb"]),
    ("Kotlin", Code, &["kt", "kts"]),
    ("Lean", Code, &["lean"]),
    ("Lua", Code, &["lua", "luau"]),
    ("Makefile", Code, &["mak", "mk", "/gnumakefile", "/justfile", "/makefile"]),
    ("Nim", Code, &["nim"]),
    ("Nix", Code, &["nix"]),
    ("OCaml", Code, &["ml", "mli"]),
    ("Objective-C", Code, &["m", "mm"]),
    ("Odin", Code, &["odin"]),
    ("PHP", Code, &["php", "phtml"]),
    ("Pascal", Code, &["dpr", "pas", "pp"]),
    ("Perl", Code, &["pl", "pm", "t"]),
    ("PowerShell", Code, &["ps1", "psd1", "psm1"]),
    ("Prolog", Code, &["pro"]),
    ("Protocol Buffers", Code, &["proto"]),
    ("Python", Code, &["py", "pyi", "pyx"]),
    ("R", Code, &["r", "rmd"]),
    ("Racket", Code, &["rkt"]),
    ("Ruby", Code, &["erb", "rake", "rb", "ru", "/gemfile", "/rakefile"]),
    ("Rust", Code, &["rs"]),
    ("SQL", Code, &["sql"]),
    ("Scala", Code, &["sbt", "sc", "scala"]),
    ("Scheme", Code, &["scm", "ss"]),
    ("Shell", Code, &["bash", "fish", "ksh", "sh", "zsh"]),
    ("Solidity", Code, &["sol"]),
    ("Starlark", Code, &["bazel", "bzl", "star", "/build", "/workspace"]),
    ("Svelte", Code, &["svelte"]),
    ("Swift", Code, &["swift"]),
    ("SystemVerilog", Code, &["sv", "svh", "v"]),
    ("Tcl", Code, &["tcl"]),
    ("Terraform", Code, &["hcl", "tf", "tfvars"]),
    ("TypeScript", Code, &["cts", "mts", "ts", "tsx"]),
    ("VHDL", Code, &["vhd", "vhdl"]),
    ("Vim script", Code, &["vim"]),
    ("Visual Basic", Code, &["bas", "vb"]),
    ("Vue", Code, &["vue"]),
    ("WebAssembly text", Code, &["wat", "wast"]),
    ("WIT", Code, &["wit"]),
    ("Zig", Code, &["zig"]),
    ("AsciiDoc", Prose, &["adoc", "asciidoc"]),
    ("LaTeX", Prose, &["bib", "cls", "sty", "tex"]),
    ("Markdown", Prose, &["markdown", "md", "mdx"]),
    ("Org", Prose, &["org"]),
    ("Typst", Prose, &["typ"]),
    ("Text", Prose, &["txt"]),
    ("reStructuredText", Prose, &["rst"]),
    ("CSV", Data, &["csv", "tsv"]),
    ("INI", Data, &["cfg", "conf", "ini", "properties"]),
    ("JSON", Data, &["json", "json5", "jsonc", "jsonl", "ndjson"]),
    ("TOML", Data, &["toml"]),
    ("XML", Data, &["plist", "xml", "xsd", "xsl", "xslt"]),
    ("YAML", Data, &["yaml", "yml"]),
];

/// The languages by the ends of names and, after a slash, by whole names.
pub(super) struct Languages {
    endings: HashMap<&'static str, LanguageNumber>,
    wholes: HashMap<&'static str, LanguageNumber>,
}

/// Which of the languages a file is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LanguageNumber(u8);

/// The languages of the files of a listing, by the numbers of its entries; none for what is not counted.
pub(super) type FileLanguages = Box<[Option<LanguageNumber>]>;

// === impl Languages ===

impl Languages {
    pub(super) fn new() -> Self {
        let numbered = (0..).map(LanguageNumber).zip(LANGUAGES);
        let named = numbered.flat_map(|(number, (.., endings))| {
            endings.iter().map(move |ending| (*ending, number))
        });
        let (wholes, endings): (Vec<_>, Vec<_>) =
            named.partition(|(name, _)| name.starts_with('/'));
        let wholes = wholes.into_iter().map(|(name, number)| (&name[1..], number));
        Self { endings: endings.into_iter().collect(), wholes: wholes.collect() }
    }

    /// The language of a file, by its name in lower case.
    pub(super) fn of(&self, name: &str) -> Option<LanguageNumber> {
        let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        self.wholes.get(name).or_else(|| self.endings.get(ending?.1)).copied()
    }
}

// === impl LanguageNumber ===

impl LanguageNumber {
    pub(super) fn purpose(self) -> Purpose {
        LANGUAGES[usize::from(self.0)].1
    }
}

/// Counts the files of a listing by language: code first, then prose, then data; the largest of each
/// first.
pub(super) fn counted(listing: &TreeListing, languages: &FileLanguages) -> Vec<LanguageCount> {
    let none =
        |(language, ..): &(&'static str, _, _)| LanguageCount { language, files: 0, bytes: 0 };
    let mut counts: Vec<LanguageCount> = LANGUAGES.iter().map(none).collect();
    for (number, language) in (0..).zip(languages) {
        let Some(LanguageNumber(language)) = *language else { continue };
        let count = &mut counts[usize::from(language)];
        count.files += 1;
        count.bytes += listing.size_bytes(number).unwrap_or_default();
    }
    let purposes = LANGUAGES.iter().map(|(_, purpose, _)| *purpose);
    let mut all: Vec<_> = purposes.zip(counts).filter(|(_, count)| count.files > 0).collect();
    all.sort_by_key(|(purpose, count)| (*purpose, Reverse(count.bytes), count.language));
    all.truncate(LANGUAGES_MAX);
    all.into_iter().map(|(_, count)| count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_follow_from_names() {
        let languages = Languages::new();
        let of = |name: &str| languages.of(name).map(|number| LANGUAGES[usize::from(number.0)].0);
        for (name, language) in [
            ("main.rs", Some("Rust")),
            ("a.test.tsx", Some("TypeScript")),
            ("cmakelists.txt", Some("CMake")),
            ("notes.txt", Some("Text")),
            ("dockerfile", Some("Dockerfile")),
            ("app.dockerfile", Some("Dockerfile")),
            ("makefile", Some("Makefile")),
            ("build", Some("Starlark")),
            ("cargo.lock", None),
            (".rs", None),
            ("rs", None),
            ("a.", None),
            ("", None),
        ] {
            assert_eq!(of(name), language, "{name}");
        }
    }

    #[test]
    fn no_ending_is_of_two_languages() {
        let endings = LANGUAGES.iter().map(|(.., endings)| endings.len()).sum::<usize>();
        let languages = Languages::new();
        assert_eq!(languages.endings.len() + languages.wholes.len(), endings);
    }
}
