//! Outlines as tables of short lines, to be compared.

use moss_symbols::{Declaration, Language, Outline, Outliner, TextRange, UseKind};

pub(crate) fn outline(language: Language, text: &str) -> Outline {
    Outliner::default().outline(language, text).expect("an outline")
}

pub(crate) fn slice<'t>(text: &'t str, range: &TextRange) -> &'t str {
    &text[range.start as usize..range.end as usize]
}

/// What a declaration belongs to.
fn owner<'t>(outline: &Outline, text: &'t str, declaration: &Declaration) -> Option<&'t str> {
    let container = declaration.container.map(|place| &outline.declarations[place as usize].name);
    declaration.owner.as_ref().or(container).map(|owner| slice(text, owner))
}

/// Each declaration as `kind Owner.name`.
pub(crate) fn declarations(language: Language, text: &str) -> Vec<String> {
    let outline = outline(language, text);
    let line = |declaration: &Declaration| {
        let owner = owner(&outline, text, declaration).map(|owner| format!("{owner}."));
        let kind = format!("{:?}", declaration.kind).to_lowercase();
        format!("{kind} {}{}", owner.unwrap_or_default(), slice(text, &declaration.name))
    };
    outline.declarations.iter().map(line).collect()
}

/// Each declaration that has some, as its name and what documents it.
pub(crate) fn documentation(language: Language, text: &str) -> Vec<(String, String)> {
    let outline = outline(language, text);
    let documented = outline.declarations.iter().filter_map(|declaration| {
        let documentation = slice(text, declaration.documentation.as_ref()?);
        Some((slice(text, &declaration.name).to_owned(), documentation.to_owned()))
    });
    documented.collect()
}

/// The signature of a declaration, in one line.
pub(crate) fn signature(language: Language, text: &str, name: &str) -> String {
    let outline = outline(language, text);
    let found = outline.declarations.iter().find(|one| slice(text, &one.name) == name);
    let signature = slice(text, &found.unwrap_or_else(|| panic!("no {name}")).signature);
    signature.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The names that are used in some way.
pub(crate) fn uses(language: Language, text: &str, kind: UseKind) -> Vec<String> {
    let outline = outline(language, text);
    let uses = outline.uses.iter().filter(|used| used.kind == kind);
    uses.map(|used| slice(text, &used.name).to_owned()).collect()
}

/// Returns the paths of the imports, in the order of the text.
pub(crate) fn imports(language: Language, text: &str) -> Vec<String> {
    let outline = outline(language, text);
    outline.imports.iter().map(|import| slice(text, &import.path).to_owned()).collect()
}
