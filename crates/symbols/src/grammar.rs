//! The grammar of each language.

use crate::language::Language;

/// Returns the grammar of a language.
pub(crate) fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Bash => tree_sitter_bash::LANGUAGE,
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Json => tree_sitter_json::LANGUAGE,
        Language::Lua => tree_sitter_lua::LANGUAGE,
        Language::Markdown => tree_sitter_md::LANGUAGE,
        Language::Php => tree_sitter_php::LANGUAGE_PHP,
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::Ruby => tree_sitter_ruby::LANGUAGE,
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Toml => tree_sitter_toml_ng::LANGUAGE,
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Yaml => tree_sitter_yaml::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::CSharp => tree_sitter_c_sharp::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Dart => tree_sitter_dart::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Elixir => tree_sitter_elixir::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Haskell => tree_sitter_haskell::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Kotlin => tree_sitter_kotlin_ng::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Scala => tree_sitter_scala::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Sql => tree_sitter_sequel::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Swift => tree_sitter_swift::LANGUAGE,
        #[cfg(feature = "lang-extra")]
        Language::Zig => tree_sitter_zig::LANGUAGE,
    }
    .into()
}
