//! What language servers say is defined in the files of a tree: what moss's outlines are measured against.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::foreign_tag::ForeignTag;
use crate::server_pipe::ServerPipe;

/// A server that npm installs.
struct MeasuredServer {
    /// Its packages: its own first.
    packages: &'static [&'static str],
    program: &'static str,
    /// Endings of the names of its files, each with the language as the protocol calls it.
    files: &'static [(&'static str, &'static str)],
    /// What it has as symbols, and what names others' definitions or is nobody's to name.
    left_out: &'static [SymbolKind],
    settings: fn() -> Value,
    options: fn(&Path) -> Value,
}

/// A symbol as a server has it, with what stands around it.
struct SymbolAround<'a> {
    symbol: &'a Value,
    /// The kind of what it lies in.
    around: Option<SymbolKind>,
    /// All that lies in the same.
    beside: &'a Value,
}

/// A kind of symbols, by its number in the protocol.
type SymbolKind = u64;

const MODULE: SymbolKind = 2;
const CLASS: SymbolKind = 5;
const METHOD: SymbolKind = 6;
const PROPERTY: SymbolKind = 7;
const FIELD: SymbolKind = 8;
const CONSTRUCTOR: SymbolKind = 9;
const INTERFACE: SymbolKind = 11;
const FUNCTION: SymbolKind = 12;
const VARIABLE: SymbolKind = 13;
const CONSTANT: SymbolKind = 14;
const STRUCT: SymbolKind = 23;
const TYPE_PARAMETER: SymbolKind = 26;
/// Of files, and of texts, numbers, lists and other data.
const DATA: [SymbolKind; 8] = [1, 15, 16, 17, 18, 19, 20, 21];
/// The names of the kinds, by their numbers.
const KINDS: [&str; 27] = [
    "",
    "file",
    "module",
    "namespace",
    "package",
    "class",
    "method",
    "property",
    "field",
    "constructor",
    "enum",
    "interface",
    "function",
    "variable",
    "constant",
    "string",
    "number",
    "boolean",
    "array",
    "object",
    "key",
    "null",
    "enum member",
    "struct",
    "event",
    "operator",
    "type parameter",
];
/// Kinds of values: in a function they are its own.
const VALUES: [SymbolKind; 4] = [PROPERTY, FIELD, VARIABLE, CONSTANT];
/// Those of them that are declared, not members.
const VARIABLES: [SymbolKind; 2] = [VARIABLE, CONSTANT];
/// Kinds of what values are local to.
const FUNCTIONS: [SymbolKind; 3] = [METHOD, CONSTRUCTOR, FUNCTION];
/// Kinds of what has members.
const TYPES: [SymbolKind; 3] = [CLASS, INTERFACE, STRUCT];
/// What is written where a name could be.
const KEYWORDS: [&str; 2] = ["default", "global"];
/// What servers put before the names of accessors.
const ACCESSORS: [&str; 2] = ["(get) ", "(set) "];

const SERVERS: [MeasuredServer; 2] = [
    MeasuredServer {
        packages: &["pyright"],
        program: "pyright-langserver",
        files: &[(".py", "python"), (".pyi", "python")],
        // Names that an import gives to others' definitions.
        left_out: &[MODULE, TYPE_PARAMETER],
        settings: || {
            let analysis = json!({ "diagnosticMode": "openFilesOnly", "typeCheckingMode": "off" });
            json!({ "python": { "analysis": analysis } })
        },
        options: |_| json!({}),
    },
    MeasuredServer {
        packages: &["typescript-language-server", "typescript"],
        program: "typescript-language-server",
        files: &[
            (".ts", "typescript"),
            (".mts", "typescript"),
            (".cts", "typescript"),
            (".tsx", "typescriptreact"),
            (".js", "javascript"),
            (".mjs", "javascript"),
            (".cjs", "javascript"),
            (".jsx", "javascriptreact"),
        ],
        // A constructor is a keyword, and found by the name of its class.
        left_out: &[CONSTRUCTOR, TYPE_PARAMETER],
        settings: || json!({}),
        options: |modules| {
            // Not the one of the project: what is measured against is the same for all.
            let library = modules.join("typescript/lib");
            json!({
                "disableAutomaticTypingAcquisition": true,
                "tsserver": { "path": library, "logVerbosity": "off" },
            })
        },
    },
];

/// Asks the servers in a `node_modules` about files beneath a directory, each about those that it knows.
///
/// # Errors
///
/// Where one does not start, or does not respond.
pub(crate) fn tags(root: &Path, paths: &[String], modules: &Path) -> Result<BTreeSet<ForeignTag>> {
    let root = root.canonicalize()?;
    let mut tags = BTreeSet::new();
    for server in &SERVERS {
        let served = paths.iter().filter_map(|path| Some((path, server.language_of(path)?)));
        let served: Vec<_> = served.collect();
        if served.is_empty() {
            continue;
        }
        let versions = server.packages.iter().map(|package| version(modules, package));
        println!("against {}", versions.collect::<Result<Vec<_>>>()?.join(", "));
        let mut pipe = server.start(&root, modules)?;
        for (path, language) in served {
            let bytes = fs::read(root.join(path)).with_context(|| path.clone())?;
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let uri = uri(&root.join(path));
            let document = json!({
                "uri": uri, "languageId": language, "version": 1, "text": text,
            });
            pipe.notify("textDocument/didOpen", &json!({ "textDocument": document }))?;
            let document = json!({ "textDocument": { "uri": uri } });
            let symbols = pipe.request("textDocument/documentSymbol", &document);
            let symbols = symbols.with_context(|| path.clone())?;
            pipe.notify("textDocument/didClose", &document)?;
            let lines: Vec<&str> = text.lines().collect();
            server.take((path, &lines), &symbols, None, &mut tags);
        }
    }
    Ok(tags)
}

/// A package with its version.
fn version(modules: &Path, package: &str) -> Result<String> {
    let file = modules.join(package).join("package.json");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let read: Value = serde_json::from_str(&text)?;
    Ok(format!("{package} {}", read["version"].as_str().context("it has no version")?))
}

/// The name of a file, as the protocol writes it.
fn uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let path = path.to_string_lossy();
    let written = path.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("file://{}", written.collect::<String>())
}

/// A position, as line and character.
fn position(written: &Value) -> Option<(u64, u64)> {
    Some((written["line"].as_u64()?, written["character"].as_u64()?))
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || "_$".contains(character)
}

/// Whether a line has a name that is no part of another.
fn has_name(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let behind = line[at + name.len()..].chars().next();
        !before.is_some_and(is_of_name) && !behind.is_some_and(is_of_name)
    })
}

// === impl MeasuredServer ===

impl MeasuredServer {
    fn language_of(&self, path: &str) -> Option<&'static str> {
        self.files.iter().find(|(ending, _)| path.ends_with(ending)).map(|(_, language)| *language)
    }

    fn start(&self, root: &Path, modules: &Path) -> Result<ServerPipe> {
        let mut command = Command::new(modules.join(".bin").join(self.program));
        command.arg("--stdio").current_dir(root);
        let mut pipe = ServerPipe::start(command, (self.settings)())?;
        let root_uri = uri(root);
        let first = json!({
            "processId": null,
            "rootUri": root_uri,
            "workspaceFolders": [{ "uri": root_uri, "name": "tree" }],
            "initializationOptions": (self.options)(modules),
            "capabilities": {
                "workspace": { "configuration": true, "workspaceFolders": true },
                "textDocument": {
                    "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                },
            },
        });
        pipe.request("initialize", &first)?;
        pipe.notify("initialized", &json!({}))?;
        Ok(pipe)
    }

    /// Takes symbols of a file that lie in a symbol of some kind, and all that lies in them.
    fn take(
        &self,
        (path, lines): (&str, &[&str]),
        symbols: &Value,
        around: Option<SymbolKind>,
        tags: &mut BTreeSet<ForeignTag>,
    ) {
        for symbol in symbols.as_array().into_iter().flatten() {
            let tag = self.tag((path, lines), &SymbolAround { symbol, around, beside: symbols });
            tags.extend(tag);
            self.take((path, lines), &symbol["children"], symbol["kind"].as_u64(), tags);
        }
    }

    /// Reads a symbol; none for what does not count.
    fn tag(&self, (path, lines): (&str, &[&str]), at: &SymbolAround<'_>) -> Option<ForeignTag> {
        let kind = at.symbol["kind"].as_u64()?;
        let is_local = VALUES.contains(&kind) && at.is_in_function();
        // It may be a key of an object, which is data, or a member of what is a type by another name.
        let is_unsure = kind == PROPERTY && at.around.is_none_or(|around| !TYPES.contains(&around));
        if self.left_out.contains(&kind) || DATA.contains(&kind) || is_local {
            return None;
        }
        let said = at.symbol["name"].as_str()?;
        let said = ACCESSORS.iter().find_map(|sign| said.strip_prefix(sign)).unwrap_or(said);
        // Private names stand in the outlines of moss without their sign, too; namespaces by their last part.
        let name = said.strip_prefix('#').unwrap_or(said).rsplit('.').next()?;
        if name.is_empty() || !name.chars().all(is_of_name) || KEYWORDS.contains(&name) {
            return None;
        }
        // What a server gives to what has no name is not written there; and of what is declared several times it
        // has but one place of a name.
        let place =
            |end: &str| usize::try_from(at.symbol["selectionRange"][end]["line"].as_u64()?).ok();
        let (first, last) = (place("start")?, place("end")?);
        let mut range = lines.get(first..)?.iter().take(last.saturating_sub(first) + 1);
        let written = range.position(|line| has_name(line, name))?;
        let line = u32::try_from(first + written + 1).ok()?;
        let kind = (*KINDS.get(usize::try_from(kind).ok()?)?).to_owned();
        Some(ForeignTag { path: path.to_owned(), name: name.to_owned(), kind, line, is_unsure })
    }
}

// === impl SymbolAround ===

impl SymbolAround<'_> {
    /// Whether a value lies in a function: as a server has it, as what a method assigns to `self` and a server has as
    /// one of the class, and as a variable in another one, whose value is a function then.
    fn is_in_function(&self) -> bool {
        let is_function = |kind: SymbolKind| FUNCTIONS.contains(&kind);
        let is_variable =
            self.symbol["kind"].as_u64().is_some_and(|kind| VARIABLES.contains(&kind));
        let named_at = position(&self.symbol["selectionRange"]["start"]);
        let holds = |other: &Value| {
            let [start, end] = ["start", "end"].map(|end| position(&other["range"][end]));
            let is_function = other["kind"].as_u64().is_some_and(is_function);
            is_function && (start..=end).contains(&named_at)
        };
        self.around.is_some_and(is_function)
            || is_variable && self.around.is_some_and(|around| VALUES.contains(&around))
            || self.beside.as_array().is_some_and(|beside| beside.iter().any(holds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import x from 'x'\nclass A {\n  #size\n  get b() {}\n  m() { let c }\n}\n\
                        const o = {\n  key: 1,\n  n() {}\n}\nover(): void\nover(a?) {}\nnamespace N.M {}\n";

    fn symbol(name: &str, kind: SymbolKind, lines: (u64, u64), children: &Value) -> Value {
        let at = |line: u64| json!({ "line": line, "character": 0 });
        let range = json!({ "start": at(lines.0), "end": at(lines.1) });
        json!({
            "name": name, "kind": kind, "range": range, "selectionRange": range, "children": children,
        })
    }

    fn read(server: &MeasuredServer, symbols: &Value) -> Vec<String> {
        let (lines, mut tags) = (TEXT.lines().collect::<Vec<_>>(), BTreeSet::new());
        server.take(("a.ts", &lines), symbols, None, &mut tags);
        let unsure = |tag: &ForeignTag| if tag.is_unsure { "?" } else { "" };
        let shown =
            |tag: &ForeignTag| format!("{} {}:{}{}", tag.kind, tag.name, tag.line, unsure(tag));
        tags.iter().map(shown).collect()
    }

    #[test]
    fn symbols_that_define_something_count_where_their_names_stand() {
        let none = json!([]);
        let one = |name, kind, line| symbol(name, kind, (line, line), &none);
        let method = symbol("m", METHOD, (4, 4), &json!([one("c", VARIABLE, 4)]));
        let members = json!([
            one("#size", PROPERTY, 2),
            one("(get) b", PROPERTY, 3),
            one("constructor", CONSTRUCTOR, 4),
            method,
        ]);
        // An object has no variables: the value is a function.
        let object = json!([one("key", PROPERTY, 7), one("n", METHOD, 8), one("key", CONSTANT, 7)]);
        let symbols = json!([
            symbol("A", CLASS, (1, 1), &members),
            symbol("o", CONSTANT, (6, 6), &object),
            symbol("over", FUNCTION, (10, 10), &none),
            symbol("over", FUNCTION, (10, 11), &none),
            symbol("it(\"x\") callback", FUNCTION, (11, 11), &none),
            one("default", FUNCTION, 11),
            one("N.M", MODULE, 12),
        ]);
        let mut expected = [
            "class A:2",
            "property size:3",
            "property b:4",
            "method m:5",
            "constant o:7",
            "property key:8?",
            "method n:9",
            "function over:11",
            "module M:13",
        ];
        let mut found = read(&SERVERS[1], &symbols);
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_a_method_assigns_is_its_own() {
        let text = "class A:\n    a = 1\n    def m(self):\n        self.b = 1\n    c = 2\n";
        let (lines, none) = (text.lines().collect::<Vec<_>>(), json!([]));
        let one = |name, kind, lines| symbol(name, kind, lines, &none);
        let members = json!([
            one("a", VARIABLE, (1, 1)),
            one("m", METHOD, (2, 3)),
            one("b", VARIABLE, (3, 3)),
            one("c", VARIABLE, (4, 4)),
        ]);
        let (symbols, mut tags) = (json!([symbol("A", CLASS, (0, 0), &members)]), BTreeSet::new());
        SERVERS[0].take(("a.py", &lines), &symbols, None, &mut tags);
        let names: Vec<_> = tags.iter().map(|tag| tag.name.as_str()).collect();
        assert_eq!(names, ["A", "a", "c", "m"]);
    }

    #[test]
    fn names_of_imports_in_python_are_no_definitions() {
        let symbols = json!([symbol("x", MODULE, (0, 0), &json!([]))]);
        assert!(read(&SERVERS[0], &symbols).is_empty());
        assert_eq!(read(&SERVERS[1], &symbols), ["module x:1"]);
    }

    #[test]
    fn paths_are_written_as_the_protocol_does() {
        assert_eq!(uri(Path::new("/a b/ä.ts")), "file:///a%20b/%C3%A4.ts");
        assert!(has_name("a.b(c)", "b") && !has_name("ab b2 _b", "b"));
    }
}
