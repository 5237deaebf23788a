//! Words that are written in several forms of which none is an ending of the other: abbreviations of
//! programs, irregular verbs.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::stem;

/// A form, and the word that it stands for.
const FORMS: &[(&str, &str)] = &[
    ("addr", "address"),
    ("app", "application"),
    ("arg", "argument"),
    ("attr", "attribute"),
    ("bg", "background"),
    ("bool", "boolean"),
    ("bound", "bind"),
    ("broken", "break"),
    ("buf", "buffer"),
    ("built", "build"),
    ("calc", "calculate"),
    ("cb", "callback"),
    ("cfg", "configure"),
    ("char", "character"),
    ("children", "child"),
    ("chosen", "choose"),
    ("cmd", "command"),
    ("col", "column"),
    ("concat", "concatenate"),
    ("conf", "configure"),
    ("config", "configure"),
    ("conn", "connection"),
    ("ctx", "context"),
    ("curr", "current"),
    ("db", "database"),
    ("decl", "declaration"),
    ("def", "definition"),
    ("del", "delete"),
    ("dep", "dependency"),
    ("desc", "description"),
    ("dest", "destination"),
    ("dict", "dictionary"),
    ("dir", "directory"),
    ("doc", "document"),
    ("drawn", "draw"),
    ("dst", "destination"),
    ("elem", "element"),
    ("env", "environment"),
    ("err", "error"),
    ("eval", "evaluate"),
    ("exec", "execute"),
    ("expr", "expression"),
    ("ext", "extension"),
    ("fg", "foreground"),
    ("fmt", "format"),
    ("fn", "function"),
    ("found", "find"),
    ("func", "function"),
    ("gen", "generate"),
    ("given", "give"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("idx", "index"),
    ("img", "image"),
    ("impl", "implement"),
    ("info", "information"),
    ("init", "initialize"),
    ("int", "integer"),
    ("kept", "keep"),
    ("lang", "language"),
    ("len", "length"),
    ("lib", "library"),
    ("loc", "location"),
    ("lost", "lose"),
    ("max", "maximum"),
    ("mem", "memory"),
    ("min", "minimum"),
    ("msg", "message"),
    ("mut", "mutable"),
    ("num", "number"),
    ("obj", "object"),
    ("op", "operation"),
    ("opt", "option"),
    ("param", "parameter"),
    ("pkg", "package"),
    ("pos", "position"),
    ("prev", "previous"),
    ("proc", "process"),
    ("prop", "property"),
    ("ptr", "pointer"),
    ("pub", "public"),
    ("rand", "random"),
    ("recv", "receive"),
    ("ref", "reference"),
    ("regexp", "regex"),
    ("repo", "repository"),
    ("req", "request"),
    ("resp", "response"),
    ("ret", "return"),
    ("sel", "selection"),
    ("sent", "send"),
    ("sep", "separator"),
    ("seq", "sequence"),
    ("shown", "show"),
    ("spec", "specification"),
    ("src", "source"),
    ("stmt", "statement"),
    ("str", "string"),
    ("struct", "structure"),
    ("taken", "take"),
    ("temp", "temporary"),
    ("thrown", "throw"),
    ("tmp", "temporary"),
    ("tmpl", "template"),
    ("tok", "token"),
    ("val", "value"),
    ("var", "variable"),
    ("vec", "vector"),
    ("ver", "version"),
    ("win", "window"),
    ("written", "write"),
    ("wrote", "write"),
];

/// The stem that stands for another one.
static STEMS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    FORMS.iter().map(|(form, word)| (stem::stem(form), stem::stem(word))).collect()
});

/// Returns the one stem of all forms of a word, which is in lower case.
pub(crate) fn stem(word: &str) -> String {
    let stem = stem::stem(word);
    match STEMS.get(&stem) {
        Some(word) => word.clone(),
        None => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_and_its_word_are_one() {
        for (form, word) in [
            ("config", "configuration"),
            ("args", "arguments"),
            ("ctx", "context"),
            ("written", "writes"),
            ("children", "child"),
        ] {
            assert_eq!(stem(form), stem(word), "{form}");
        }
        assert_eq!(stem("retries"), "retri");
    }

    #[test]
    fn forms_are_in_order_and_lead_to_a_word_at_once() {
        assert!(FORMS.is_sorted());
        for (form, word) in FORMS {
            let (form, word) = (stem::stem(form), stem::stem(word));
            assert!(!STEMS.contains_key(&word), "{form} leads to {word}, which is a form");
            assert_ne!(form, word, "its ending is enough");
        }
        assert_eq!(STEMS.len(), FORMS.len());
    }
}
