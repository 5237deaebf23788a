//! What a question describes: what something does, what something is, or neither. Documentation has its
//! forms, and who asks for a declaration writes much the same.

use crate::words::{is_stop_word, parts};

/// Verbs of what programs do, as documentation in the imperative begins with them. Without those of requests to
/// change something, such as `add`: what such a request is about is no deed.
const DEEDS: &[&str] = &[
    "build", "call", "check", "clear", "close", "compute", "convert", "copy", "create", "decode",
    "delete", "detect", "encode", "execute", "fetch", "find", "format", "generate", "get",
    "insert", "iterate", "load", "open", "parse", "print", "read", "register", "render", "resolve",
    "return", "run", "save", "search", "send", "set", "split", "start", "stop", "store",
    "validate", "wait", "write",
];

/// What a question describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct QuestionShape {
    /// It says what something does: "returns the first match".
    pub(crate) is_deed: bool,
    /// It says what something is: "an iterator over matches".
    pub(crate) is_thing: bool,
    /// What is asked for says yes or no: "whether there is a match".
    pub(crate) is_predicate: bool,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Whether a word is a verb of the third person, as far as its ending says.
fn is_third_person(word: &str) -> bool {
    let is_other = matches!(word, "always" | "does" | "its" | "this" | "was");
    word.len() > 2 && word.ends_with('s') && !word.ends_with("ss") && !is_other
}

/// The name that a question begins with, where it goes on to say what that does or is.
pub(crate) fn subject(text: &str) -> Option<&str> {
    let mut words = words(text);
    let (name, verb) = (words.next()?, words.next()?);
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase());
    let is_said_of = matches!(verb, "is" | "has") || is_third_person(verb);
    (is_name && is_said_of && !is_stop_word(&name.to_lowercase())).then_some(name)
}

/// Whether a name is that of what says yes or no.
pub(crate) fn is_predicate(name: &str) -> bool {
    let first = parts(name).next().unwrap_or_default().to_ascii_lowercase();
    matches!(first.as_str(), "are" | "can" | "contains" | "has" | "is" | "needs" | "should" | "was")
}

// === impl QuestionShape ===

impl QuestionShape {
    /// Whether the question describes something that is there, as documentation does.
    pub(crate) fn is_description(self) -> bool {
        self.is_deed || self.is_thing || self.is_predicate
    }

    pub(crate) fn of(text: &str) -> Self {
        let first = words(text).next().unwrap_or_default().to_lowercase();
        let verb = subject(text).and_then(|_| words(text).nth(1));
        let lower = text.to_lowercase();
        Self {
            is_deed: is_third_person(&first)
                || DEEDS.contains(&first.as_str())
                || verb.is_some_and(is_third_person),
            is_thing: matches!(first.as_str(), "a" | "an" | "the"),
            is_predicate: ["whether", "true if", "true when"]
                .iter()
                .any(|words| lower.contains(words)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_describe_deeds_things_or_neither() {
        for (text, expected) in [
            ("Returns the first match", (true, false, false)),
            ("return the first match", (true, false, false)),
            ("An iterator over matches", (false, true, false)),
            ("Returns true if there is a match", (true, false, true)),
            ("whether there is a match", (false, false, true)),
            ("Abort prevents handlers from being called", (true, false, false)),
            ("Walk is a recursive iterator", (false, false, false)),
            ("where are failed requests retried", (false, false, false)),
            ("fix the retry of requests", (false, false, false)),
            ("Does this pass", (false, false, false)),
            ("重试在哪里", (false, false, false)),
            ("", (false, false, false)),
        ] {
            let shape = QuestionShape::of(text);
            let found = (shape.is_deed, shape.is_thing, shape.is_predicate);
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_subject_is_a_name_that_something_is_said_of() {
        for (text, expected) in [
            ("Walk is a recursive iterator", Some("Walk")),
            ("Abort prevents handlers from being called", Some("Abort")),
            ("walk is a recursive iterator", None),
            ("Where is the config read", None),
            ("Returns the first match", None),
            ("Walk", None),
        ] {
            assert_eq!(subject(text), expected, "{text}");
        }
    }

    #[test]
    fn predicates_are_told_by_their_first_word() {
        for (name, expected) in [
            ("is_empty", true),
            ("hasNext", true),
            ("issue", false),
            ("isolate", false),
            ("", false),
        ] {
            assert_eq!(is_predicate(name), expected, "{name}");
        }
    }
}
