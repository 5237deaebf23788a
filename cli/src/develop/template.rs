//! New projects, and the SDK that each carries in `vendor/moss`.

use std::path::Path;

use moss_workspace::{Error, project};

/// The files of the SDKs and the templates.
const CARRIED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/carried.rs"));
/// Where a project has its SDK.
pub(crate) const VENDOR: &str = "vendor/moss";
/// Longest name of a plugin, in bytes.
const NAME_BYTES_MAX: usize = 64;
/// Words that no function can be called in some language.
const RESERVED: &[&str] = &[
    "and", "as", "assert", "async", "await", "box", "break", "class", "const", "continue", "crate",
    "def", "del", "do", "dyn", "elif", "else", "enum", "except", "extern", "final", "finally",
    "fn", "for", "from", "gen", "global", "if", "impl", "import", "in", "is", "lambda", "let",
    "loop", "macro", "match", "mod", "moss", "move", "mut", "nonlocal", "not", "or", "override",
    "pass", "priv", "pub", "raise", "ref", "return", "self", "static", "struct", "super", "test",
    "tool", "trait", "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual",
    "where", "while", "with", "yield",
];

/// What a plugin is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PluginLanguage {
    Rust,
    /// TypeScript or JavaScript, for which there is one SDK.
    TypeScript,
    Python,
}

/// Why a name is not valid.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` cannot name a plugin: {why}")]
pub(crate) struct BadName {
    name: String,
    why: &'static str,
    /// A name that is like it and can.
    pub(crate) instead: Option<String>,
}

/// Checks the name of a new plugin, whose tool is called alike.
///
/// # Errors
///
/// Why it is not valid.
pub(crate) fn check_name(name: &str) -> Result<(), BadName> {
    let Err(why) = fits(name) else { return Ok(()) };
    let like = name.trim().to_ascii_lowercase().replace([' ', '_', '.', '/'], "-");
    let instead = Some(like).filter(|like| fits(like).is_ok());
    Err(BadName { name: name.to_owned(), why, instead })
}

fn fits(name: &str) -> Result<(), &'static str> {
    let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if name.len() > NAME_BYTES_MAX {
        return Err("it is longer than 64 characters");
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.bytes().all(is_part) {
        return Err("it takes a lowercase letter, then lowercase letters, digits or `-`");
    }
    if name.ends_with('-') || name.contains("--") {
        return Err("a `-` stands between letters or digits");
    }
    if RESERVED.contains(&tool_name(name).as_str()) {
        return Err("it is a word of a programming language");
    }
    Ok(())
}

/// The name of a new plugin's tool.
pub(crate) fn tool_name(name: &str) -> String {
    name.replace('-', "_")
}

/// Makes the project of a new plugin in a directory that is not there yet, or empty.
///
/// # Errors
///
/// Where something is there already, or cannot be written.
pub(crate) fn create(language: PluginLanguage, name: &str, directory: &Path) -> Result<(), Error> {
    let filled = |text: &str| {
        text.replace("{{name}}", name)
            .replace("{{tool}}", &tool_name(name))
            .replace("{{source}}", language.source())
    };
    let mut files: Vec<(String, String)> = beneath(&format!("templates/{}/", language.template()))
        .map(|(path, text)| (renamed(path), filled(text)))
        .collect();
    files
        .extend(beneath("templates/README.md").map(|(_, text)| ("README.md".into(), filled(text))));
    files.extend(sdk(language).into_iter().map(|(path, text)| (format!("{VENDOR}/{path}"), text)));
    project::lay_out(directory, &files)
}

/// Puts the SDK that this program carries into a project, in place of the one it had.
///
/// # Errors
///
/// Where it cannot be written, or a link is on the way to it.
pub(crate) fn vendor(language: PluginLanguage, directory: &Path) -> Result<(), Error> {
    project::replace(directory, VENDOR, &sdk(language))
}

/// Names that would mean something where the templates lie.
fn renamed(path: &str) -> String {
    match path {
        "gitignore" => ".gitignore".to_owned(),
        "manifest.toml" => "Cargo.toml".to_owned(),
        _ => path.to_owned(),
    }
}

/// The files of an SDK, as they lie in `vendor/moss`.
fn sdk(language: PluginLanguage) -> Vec<(String, String)> {
    let owned = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
    let (contract, at) = match language {
        PluginLanguage::Rust => ("sdk/wit/", "sdk/wit/"),
        PluginLanguage::TypeScript => ("sdk/wit/", "wit/"),
        PluginLanguage::Python => ("sdk/wit/", "wit/deps/plugin/"),
    };
    let mut files: Vec<_> = match language {
        PluginLanguage::Rust => {
            let mut files: Vec<_> = ["sdk/Cargo.toml", "sdk/src/", "sdk/macros/"]
                .into_iter()
                .flat_map(|tree| {
                    beneath(tree).map(move |(path, text)| (format!("{tree}{path}"), text))
                })
                .map(|(path, text)| (path, text.to_owned()))
                .collect();
            files.push(("Cargo.toml".to_owned(), cargo_workspace()));
            files
        }
        PluginLanguage::TypeScript => beneath("typescript/").map(owned).collect(),
        PluginLanguage::Python => beneath("python/").map(owned).collect(),
    };
    files.extend(beneath(contract).map(|(path, text)| (format!("{at}{path}"), text.to_owned())));
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        files.extend(beneath(licence).map(|(_, text)| (licence.to_owned(), text.to_owned())));
    }
    files
}

/// The files beneath a name that ends with `/`, or the one of that name; paths follow it.
fn beneath(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    CARRIED.iter().filter_map(move |(path, text)| Some((path.strip_prefix(name)?, *text)))
}

/// The manifest of a workspace of the SDK alone, out of moss's own.
fn cargo_workspace() -> String {
    let (_, text) = beneath("workspace.toml").next().expect("it is carried");
    let own: toml::Table = text.parse().expect("cargo has read it");
    let own = own.get("workspace").and_then(toml::Value::as_table).expect("it is a workspace");
    let mut used = toml::Table::new();
    for manifest in ["sdk/Cargo.toml", "sdk/macros/Cargo.toml"] {
        let (_, text) = beneath(manifest).next().expect("it is carried");
        let manifest: toml::Table = text.parse().expect("cargo has read it");
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for name in dependencies.into_iter().flat_map(toml::Table::keys) {
            used.insert(name.clone(), own["dependencies"][name].clone());
        }
    }
    let mut workspace = toml::Table::new();
    workspace.insert("resolver".to_owned(), own["resolver"].clone());
    workspace.insert("members".to_owned(), vec!["sdk", "sdk/macros"].into());
    for key in ["package", "lints"] {
        workspace.insert(key.to_owned(), own[key].clone());
    }
    workspace.insert("dependencies".to_owned(), toml::Value::Table(used));
    let mut manifest = toml::Table::new();
    manifest.insert("workspace".to_owned(), toml::Value::Table(workspace));
    format!("# The SDK of moss, as it was when this plugin was made.\n{manifest}")
}

// === impl PluginLanguage ===

impl PluginLanguage {
    pub(crate) const ALL: [Self; 3] = [Self::Rust, Self::TypeScript, Self::Python];

    /// The language of a project.
    pub(crate) fn of(directory: &Path) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|language| project::changed(&directory.join(language.manifest())).is_some())
    }

    /// The file that names and describes a project.
    pub(crate) const fn manifest(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::TypeScript => "package.json",
            Self::Python => "pyproject.toml",
        }
    }

    const fn template(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::TypeScript => "ts",
            Self::Python => "python",
        }
    }

    const fn source(self) -> &'static str {
        match self {
            Self::Rust => "src/lib.rs",
            Self::TypeScript => "src/plugin.ts",
            Self::Python => "src/plugin.py",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_and_one_like_it_is_reported() {
        for name in ["a", "word-count", "x2"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for (name, instead) in [
            ("Word Count", Some("word-count")),
            ("word_count", Some("word-count")),
            ("-a", None),
            ("a--b", None),
            ("2x", None),
            ("", None),
            ("match", None),
            ("é", None),
        ] {
            let bad = check_name(name).unwrap_err();
            assert_eq!(bad.instead.as_deref(), instead, "{name}");
        }
        assert!(check_name(&"a".repeat(65)).is_err());
    }

    #[test]
    fn every_template_is_complete() {
        let scratch = project::Scratch::new("moss-test-").unwrap();
        for language in PluginLanguage::ALL {
            let directory = scratch.path().join(language.template());
            create(language, "my-plugin", &directory).unwrap();
            assert_eq!(PluginLanguage::of(&directory), Some(language));
            for file in [language.source(), "README.md", ".gitignore", "vendor/moss/LICENSE-MIT"] {
                let text = project::read(&directory.join(file), 1 << 20).unwrap();
                let text = text.unwrap_or_else(|| panic!("{language:?} has no {file}"));
                assert!(!text.contains("{{"), "{text}");
            }
            let again = create(language, "my-plugin", &directory);
            assert!(matches!(again, Err(Error::Own { .. })), "{again:?}");
            vendor(language, &directory).unwrap();
        }
    }
}
