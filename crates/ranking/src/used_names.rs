//! Words of a text that may stand for a name.

use std::collections::BTreeSet;

use moss_symbols::{Import, Outline};

/// Words by which a type or its values are used within it.
const OWN_WORDS: [&str; 4] = ["Self", "self", "super", "this"];

/// Whether a character is part of words.
pub fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a word stands alone in a text, by its first byte.
pub fn find_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let stands_alone = move |at: &usize| {
        let after = text[at + word.len()..].chars().next();
        let before = text[..*at].chars().next_back();
        !before.is_some_and(is_name_part) && !after.is_some_and(is_name_part)
    };
    text.match_indices(word).map(|(at, _)| at).filter(stands_alone)
}

/// Whether something else than what has one of some names seems to be meant at a byte of a text: the word there is another
/// one, and not what the text imports, which may be another name of it.
pub fn is_strange_name(
    text: &str,
    outline: Option<&Outline>,
    at: usize,
    names: &BTreeSet<String>,
) -> bool {
    let behind = text.get(at..).unwrap_or_default();
    let word = &behind[..behind.find(|c| !is_name_part(c)).unwrap_or(behind.len())];
    let is_word = |name: &String| name.trim_matches(|c| !is_name_part(c)) == word;
    if word.is_empty() || OWN_WORDS.contains(&word) || names.iter().any(is_word) {
        return false;
    }
    let has_word = |import: &Import| {
        let range = import.range.start as usize..import.range.end as usize;
        find_words(text.get(range).unwrap_or_default(), word).next().is_some()
    };
    !outline.is_some_and(|outline| outline.imports.iter().any(has_word))
}

/// What of an expression over names a text must match that holds such a name; none where that is not
/// easily said.
pub fn expression_within(expression: &str) -> Option<String> {
    let inner = expression.strip_prefix('^').unwrap_or(expression);
    let inner = match inner.strip_suffix('$') {
        Some(rest) if !rest.ends_with('\\') => rest,
        _ => inner,
    };
    let is_plain = !inner.contains(['^', '$', '\\', '|']) && !inner.is_empty();
    is_plain.then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use moss_symbols::{Language, Outliner};

    use super::*;

    #[test]
    fn words_stand_alone() {
        let found: Vec<_> = find_words("new renew new_ (new) newé", "new").collect();
        assert_eq!(found, [0, 16]);
    }

    #[test]
    fn another_name_is_strange_unless_it_is_imported() {
        let text = "from a import foo as bar\nbar()\nfoo()\nother()\nself.foo()\n";
        let outline = Outliner::default().outline(Language::Python, text).unwrap();
        let names = BTreeSet::from(["foo!".to_owned()]);
        let is_strange =
            |at: &str| is_strange_name(text, Some(&outline), text.find(at).unwrap(), &names);
        for at in ["bar()", "foo()", "foo as", "self.foo", "()"] {
            assert!(!is_strange(at), "{at}");
        }
        assert!(is_strange("other()"));
    }

    #[test]
    fn an_expression_over_names_gives_one_over_texts_where_that_is_certain() {
        assert_eq!(expression_within("^get_.*"), Some("get_.*".to_owned()));
        assert_eq!(expression_within("get$"), Some("get".to_owned()));
        for uncertain in ["^a|b$", "a\\b", "^", "(^a)", "a\\$"] {
            assert_eq!(expression_within(uncertain), None, "{uncertain}");
        }
    }
}
