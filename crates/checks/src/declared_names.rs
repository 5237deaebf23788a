//! What tests may call what files declare.

use std::collections::BTreeSet;

use moss_symbols::{DeclarationKind, Language, Outliner};

/// Most names of which tests are looked for.
const NAMES_MAX: usize = 300;
/// Shortest name that says something.
const NAME_CHARS_MIN: usize = 3;

/// The names that files declare, and those of their modules, from their paths and texts.
pub fn declared_names(files: &[(String, String)]) -> BTreeSet<String> {
    let mut outliner = Outliner::default();
    let mut names = BTreeSet::new();
    for (path, text) in files {
        let file_name = path.rsplit('/').next();
        names.extend(file_name.and_then(|name| name.split('.').next()).map(str::to_owned));
        let Some(language) = Language::of_text(path, text) else { continue };
        let Ok(outline) = outliner.outline(language, text) else { continue };
        let outer = outline.declarations.iter().filter(|declaration| {
            !matches!(
                declaration.kind,
                DeclarationKind::Field
                    | DeclarationKind::Variant
                    | DeclarationKind::Variable
                    | DeclarationKind::Heading
                    | DeclarationKind::Key
            )
        });
        names.extend(outer.filter_map(|declaration| {
            let range = declaration.name.start as usize..declaration.name.end as usize;
            text.get(range).map(str::to_owned)
        }));
    }
    names.into_iter().filter(|name| says_something(name)).take(NAMES_MAX).collect()
}

fn says_something(name: &str) -> bool {
    let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_common = ["index", "main", "mod", "new", "lib", "__init__"].contains(&name);
    is_word && !is_common && name.chars().count() >= NAME_CHARS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules_and_declarations_count_and_common_ones_do_not() {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let files = [
            file("a/calc.py", "def adds():\n    local = 1\n\ndef f():\n    pass\n"),
            file("src/lib.rs", "pub struct Sum { total: u32 }\nfn new() {}\n"),
            file("notes", ""),
        ];
        let found: Vec<String> = declared_names(&files).into_iter().collect();
        assert_eq!(found, ["Sum", "adds", "calc", "notes"]);
    }
}
