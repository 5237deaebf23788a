//! The languages that can be read, and how they are found by a file's name.

/// A language that there is a grammar for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "most are named as the language is; `EXTENSIONS` has their files")]
pub enum Language {
    /// Shell scripts of bash and of what it reads as well.
    Bash,
    /// C and its headers; [`Language::of_text`] finds those of C++ that end with `.h`, too.
    C,
    /// C++ and CUDA, with their headers.
    Cpp,
    Go,
    Java,
    /// JavaScript, with or without JSX.
    JavaScript,
    Json,
    Lua,
    Markdown,
    /// PHP and the HTML around it.
    Php,
    /// Python and its stubs.
    Python,
    /// Ruby, also that of Rakefiles and Gemfiles.
    Ruby,
    Rust,
    /// TOML, also that of lock files.
    Toml,
    /// TypeScript with JSX: it has a grammar of its own.
    Tsx,
    /// TypeScript without JSX, where `<T>x` is a cast.
    TypeScript,
    Yaml,
    /// C# and its scripts.
    #[cfg(feature = "lang-extra")]
    CSharp,
    #[cfg(feature = "lang-extra")]
    Dart,
    #[cfg(feature = "lang-extra")]
    Elixir,
    #[cfg(feature = "lang-extra")]
    Haskell,
    /// Kotlin, and its scripts.
    #[cfg(feature = "lang-extra")]
    Kotlin,
    /// Scala, its scripts and the builds of sbt.
    #[cfg(feature = "lang-extra")]
    Scala,
    /// SQL, of any vendor as far as one grammar reads it.
    #[cfg(feature = "lang-extra")]
    Sql,
    #[cfg(feature = "lang-extra")]
    Swift,
    #[cfg(feature = "lang-extra")]
    Zig,
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
    #[cfg(feature = "lang-extra")]
    (Language::CSharp, &["cs", "csx"]),
    #[cfg(feature = "lang-extra")]
    (Language::Dart, &["dart"]),
    #[cfg(feature = "lang-extra")]
    (Language::Elixir, &["ex", "exs"]),
    #[cfg(feature = "lang-extra")]
    (Language::Haskell, &["hs"]),
    #[cfg(feature = "lang-extra")]
    (Language::Kotlin, &["kt", "kts"]),
    #[cfg(feature = "lang-extra")]
    (Language::Scala, &["scala", "sc", "sbt"]),
    #[cfg(feature = "lang-extra")]
    (Language::Sql, &["sql"]),
    #[cfg(feature = "lang-extra")]
    (Language::Swift, &["swift"]),
    #[cfg(feature = "lang-extra")]
    (Language::Zig, &["zig"]),
];
/// Whole names of files.
const NAMES: &[(Language, &[&str])] = &[
    (Language::Bash, &[".bashrc", ".bash_profile", ".profile", "PKGBUILD"]),
    (Language::Ruby, &["Gemfile", "Rakefile", "Vagrantfile", "Podfile"]),
    (Language::Toml, &["Cargo.lock", "poetry.lock", "uv.lock"]),
];

/// How lines begin that only C++ has.
const OF_CPP: [&str; 7] = [
    "template <",
    "template<",
    "public:",
    "private:",
    "protected:",
    "using namespace ",
    "typename ",
];
/// The same, where the line goes on as a declaration does: a remark may begin so, too.
const OF_CPP_OPENING: [&str; 3] = ["class ", "namespace ", "inline namespace "];

/// Whether a header is one of C++.
fn has_cpp(text: &str) -> bool {
    text.lines().map(str::trim).any(|line| {
        let opens = || line.ends_with(['{', ';', '}', ':']) || line.contains(" : ");
        let is_one_of = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        is_one_of(&OF_CPP) || (is_one_of(&OF_CPP_OPENING) && opens())
    })
}

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

    /// Finds the language of a text by its path and, where C and C++ end alike, by what it holds.
    pub fn of_text(path: &str, text: &str) -> Option<Self> {
        match Self::of_path(path)? {
            Self::C if !path.ends_with(".c") && has_cpp(text) => Some(Self::Cpp),
            language => Some(language),
        }
    }

    /// Every language that this build has a grammar for.
    pub fn all() -> impl Iterator<Item = Self> {
        EXTENSIONS.iter().map(|(language, _)| *language)
    }

    /// Whether its grammar reads so much of what is valid in it that the rest is worth a look. Those of Markdown and
    /// Bash guess, those of SQL's vendors and of the further languages lag behind.
    pub fn is_checked(self) -> bool {
        match self {
            Self::Bash | Self::Markdown => false,
            #[cfg(feature = "lang-extra")]
            Self::CSharp
            | Self::Dart
            | Self::Elixir
            | Self::Haskell
            | Self::Kotlin
            | Self::Scala
            | Self::Sql
            | Self::Swift
            | Self::Zig => false,
            _ => true,
        }
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
            #[cfg(feature = "lang-extra")]
            Self::CSharp => "c#",
            #[cfg(feature = "lang-extra")]
            Self::Dart => "dart",
            #[cfg(feature = "lang-extra")]
            Self::Elixir => "elixir",
            #[cfg(feature = "lang-extra")]
            Self::Haskell => "haskell",
            #[cfg(feature = "lang-extra")]
            Self::Kotlin => "kotlin",
            #[cfg(feature = "lang-extra")]
            Self::Scala => "scala",
            #[cfg(feature = "lang-extra")]
            Self::Sql => "sql",
            #[cfg(feature = "lang-extra")]
            Self::Swift => "swift",
            #[cfg(feature = "lang-extra")]
            Self::Zig => "zig",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_cpp_are_known_by_their_texts() {
        for (path, text, language) in [
            ("a.h", "int f(void);\n/* class of its own: see\n * namespace a {\n */\n", Language::C),
            ("a.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n", Language::C),
            ("a.h", "class of things\n", Language::C),
            ("a.h", "namespace a {\nint f();\n}\n", Language::Cpp),
            ("a.h", "  template <class T>\nT f(T t);\n", Language::Cpp),
            ("a.h", "class A : public B {\n public:\n};\n", Language::Cpp),
            ("a.h", "class A;\n", Language::Cpp),
            ("a.c", "class A;\n", Language::C),
            ("a.cc", "int f();\n", Language::Cpp),
        ] {
            assert_eq!(Language::of_text(path, text), Some(language), "{path}: {text}");
        }
        assert_eq!(Language::of_text("Makefile", "class A;"), None);
    }

    #[test]
    fn languages_are_known_by_names() {
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
