//! What universal-ctags says is defined in the files of a tree: what moss's outlines are measured against.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::foreign_tag::ForeignTag;

const PROGRAM: &str = "ctags";
const INSTALL: &str = "install universal-ctags (apt install universal-ctags, dnf install ctags, \
                       brew install universal-ctags)";
/// What ctags also tags and nobody looks up as a definition, by its language; `*` is all of them. The rest of what
/// it enables by itself counts: functions, methods, types, macros, modules, constants, global variables and fields.
const LEFT_OUT: [(&str, &[&str]); 11] = [
    // Of a function alone: nobody else can name them.
    ("*", &["local", "parameter", "label", "heredoc"]),
    // Each file names its package; the directory is what is meant.
    ("*", &["package", "packageName", "script"]),
    ("PHP", &["namespace", "alias"]),
    // They use what is defined elsewhere.
    ("*", &["header", "library", "unknown"]),
    // An `impl` defines no name: the type that it names has its own tag.
    ("Rust", &["implementation"]),
    // An embedded field has the name of a type, which is tagged itself.
    ("Go", &["anonMember"]),
    // Names that an import gives to others' definitions.
    ("Python", &["namespace", "module"]),
    // Keys of object literals: data.
    ("JavaScript", &["property"]),
    // The methods that `attr_reader` makes and other names of methods: calls, no declarations.
    ("Ruby", &["accessor", "alias"]),
    // Sentences in calls.
    ("RSpec", &["describe", "context"]),
    ("Sh", &["alias"]),
];
/// Kinds of values: in a function they are its own, even where ctags does not call them local.
const VALUES: [&str; 3] = ["constant", "variable", "property"];
/// Kinds of what values are local to.
const FUNCTIONS: [&str; 6] =
    ["function", "method", "singletonMethod", "generator", "getter", "setter"];
/// How the names begin that ctags gives to what has none.
const NAMELESS: [&str; 3] = ["__anon", "AnonymousFunction", "AnonymousClass"];
/// How the pattern of a tag begins whose line is indented.
const INDENTED: [&str; 2] = ["/^ ", "/^\t"];
/// Variants of a language that it would not look into.
const MAPS: [&str; 3] =
    ["--map-TypeScript=+.mts", "--map-TypeScript=+.cts", "--map-JavaScript=+.cjs"];

/// Asks ctags about files beneath a directory.
///
/// # Errors
///
/// Where universal-ctags is not installed, or another ctags is.
pub(crate) fn tags(root: &Path, paths: &[String]) -> Result<BTreeSet<ForeignTag>> {
    check()?;
    let mut command = Command::new(PROGRAM);
    // No configuration of the person at the terminal changes what is measured.
    command.args([
        "--options=NONE",
        "--quiet",
        "--output-format=json",
        "--fields=+nlKsZ",
        "--sort=no",
    ]);
    command.args(MAPS).args(["-L", "-", "-f", "-"]).current_dir(root);
    // It warns of each file that it does not understand.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let mut input = child.stdin.take().context("ctags reads nothing")?;
    let list: String = paths.iter().map(|path| format!("{path}\n")).collect();
    let writing = std::thread::spawn(move || input.write_all(list.as_bytes()));
    let output = child.wait_with_output()?;
    writing.join().ok().context("the writer broke")??;
    ensure!(output.status.success(), "ctags ended with {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(|line| tag(&serde_json::from_str(line).ok()?)).collect())
}

/// Reads a tag; none for what does not count.
fn tag(said: &Value) -> Option<ForeignTag> {
    let text = |key: &str| said[key].as_str().map(str::to_owned);
    let (name, kind, language) = (text("name")?, text("kind")?, text("language")?);
    let is_left_out = LEFT_OUT
        .iter()
        .any(|(of, kinds)| (*of == "*" || *of == language) && kinds.contains(&kind.as_str()));
    let is_of_function = || said["scopeKind"].as_str().is_some_and(|of| FUNCTIONS.contains(&of));
    // Of JavaScript it does not know in which function a block is.
    let is_indented = || {
        matches!(language.as_str(), "JavaScript" | "TypeScript")
            && kind != "property"
            && said["pattern"]
                .as_str()
                .is_some_and(|text| INDENTED.iter().any(|at| text.starts_with(at)))
    };
    let is_value = VALUES.contains(&kind.as_str());
    let (is_local, is_unsure) = (is_value && is_of_function(), is_value && is_indented());
    // It calls objects classes, too; functions with a prototype are some.
    let is_object = language == "JavaScript"
        && kind == "class"
        && said["pattern"]
            .as_str()
            .is_none_or(|text| !["class", "function"].iter().any(|word| text.contains(word)));
    // It takes an empty list of Bash for the parentheses of a function: `found=()`.
    let is_list = language == "Sh" && name.ends_with('=');
    let is_import = said["pattern"].as_str().is_some_and(|text| text.starts_with("/^import "));
    if is_left_out
        || is_local
        || is_object
        || is_list
        || is_import
        || NAMELESS.iter().any(|start| name.starts_with(start))
    {
        return None;
    }
    // It qualifies names of Lua by their tables, and namespaces by those around them: `Picker:find`, `A.B`.
    let name = match language.as_str() {
        "Lua" => name.rsplit([':', '.']).next().unwrap_or_default().to_owned(),
        "TypeScript" if kind == "namespace" => {
            name.rsplit('.').next().unwrap_or_default().to_owned()
        }
        // It has the sign of private names in TypeScript alone.
        "JavaScript" | "TypeScript" if name.starts_with('#') => name[1..].to_owned(),
        "C++" => name.replace("operator ", "operator"),
        _ => name,
    };
    let line = u32::try_from(said["line"].as_u64()?).ok()?;
    Some(ForeignTag { path: text("path")?, name, kind, line, is_unsure })
}

fn check() -> Result<()> {
    let Ok(output) = Command::new(PROGRAM).arg("--version").output() else {
        bail!("there is no `{PROGRAM}` in PATH: {INSTALL}");
    };
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = version.lines().next().unwrap_or_default();
    ensure!(first.contains("Universal Ctags"), "`{PROGRAM}` is another one: {INSTALL}");
    ensure!(version.contains("+json"), "`{PROGRAM}` was built without JSON: {INSTALL}");
    println!("against {}", first.split(',').next().unwrap_or(first));
    Ok(())
}
