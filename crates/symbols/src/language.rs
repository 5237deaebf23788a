//! The languages that can be read, and how they are told from a file's name.

/// A language that there is a grammar for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Shell scripts.
    Bash,
    /// C, and headers.
    C,
    /// C++.
    Cpp,
    /// Go.
    Go,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// JSON.
    Json,
    /// Lua.
    Lua,
    /// Markdown.
    Markdown,
    /// PHP.
    Php,
    /// Python.
    Python,
    /// Ruby.
    Ruby,
    /// Rust.
    Rust,
    /// TOML.
    Toml,
    /// TypeScript with JSX.
    Tsx,
    /// TypeScript.
    TypeScript,
    /// YAML.
    Yaml,
}

/// What names of files end with, after the last dot, in lower case.
const EXTENSIONS: &[(Language, &[&str])] = &[
    (Language::Bash, &["sh", "bash", "bats", "ksh"]),
    (Language::C, &["c", "h"]),
    (
        Language::Cpp,
        &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "tpp", "inl", "cu", "cuh"],
    ),
    (Language::Go, &["go"]),
    (Language::Java, &["java"]),
    (Language::JavaScript, &["js", "jsx", "mjs", "cjs"]),
    (Language::Json, &["json", "geojson", "webmanifest"]),
    (Language::Lua, &["lua"]),
    (Language::Markdown, &["md", "markdown"]),
    (Language::Php, &["php", "phtml"]),
    (Language::Python, &["py", "pyi", "pyw"]),
    (Language::Ruby, &["rb", "rake", "gemspec", "ru"]),
    (Language::Rust, &["rs"]),
    (Language::Toml, &["toml"]),
    (Language::Tsx, &["tsx"]),
    (Language::TypeScript, &["ts", "mts", "cts"]),
    (Language::Yaml, &["yaml", "yml"]),
];
/// Whole names of files.
const NAMES: &[(Language, &[&str])] = &[
    (Language::Bash, &[".bashrc", ".bash_profile", ".profile", "PKGBUILD"]),
    (Language::Ruby, &["Gemfile", "Rakefile", "Vagrantfile", "Podfile"]),
    (Language::Toml, &["Cargo.lock", "poetry.lock", "uv.lock"]),
];

// === impl Language ===

impl Language {
    /// Finds the language of a file by its path; none where there is no grammar for it.
    pub fn of_path(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some((language, _)) = NAMES.iter().find(|(_, names)| names.contains(&name)) {
            return Some(*language);
        }
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        let extension = extension.to_ascii_lowercase();
        let has_it = |(_, extensions): &&(Self, &[&str])| extensions.contains(&extension.as_str());
        EXTENSIONS.iter().find(has_it).map(|(language, _)| *language)
    }

    /// Every language.
    pub fn all() -> impl Iterator<Item = Self> {
        EXTENSIONS.iter().map(|(language, _)| *language)
    }

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::C => "c",
            Self::Cpp => "c++",
            Self::Go => "go",
            Self::Java => "java",
            Self::JavaScript => "javascript",
            Self::Json => "json",
            Self::Lua => "lua",
            Self::Markdown => "markdown",
            Self::Php => "php",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Rust => "rust",
            Self::Toml => "toml",
            Self::Tsx => "tsx",
            Self::TypeScript => "typescript",
            Self::Yaml => "yaml",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_names() {
        for (path, language) in [
            ("src/lib.rs", Some(Language::Rust)),
            ("a/B.PY", Some(Language::Python)),
            ("x.test.tsx", Some(Language::Tsx)),
            ("Gemfile", Some(Language::Ruby)),
            ("Cargo.lock", Some(Language::Toml)),
            ("include/a.h", Some(Language::C)),
            ("Makefile", None),
            (".rs", None),
            ("a/.json", None),
            ("rs", None),
            ("", None),
        ] {
            assert_eq!(Language::of_path(path), language, "{path}");
        }
        assert_eq!(Language::all().count(), EXTENSIONS.len());
    }
}
