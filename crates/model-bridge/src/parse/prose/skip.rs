//! Brackets in text that begin nothing, whatever comes: most are known by the few bytes behind them,
//! and text is passed over them in one piece.

use std::sync::LazyLock;

use super::super::alike::{PARAMETER_MARKS, WORDS};
use super::super::html::SHOWS;
use super::super::mark::HERMES_OPEN;
use super::super::{file_edit, template};
use super::{CHAT_CLOSE, CHAT_OPEN, THOUGHTS};
use crate::registry::Registry;

/// The most bytes of a word behind a bracket that are looked at.
const WORD_BYTES_MAX: usize = 64;

/// The most bytes of a text that is looked at byte by byte: words come in such pieces.
const SHORT_BYTES_MAX: usize = 32;
/// The bytes of anything that is looked for in text, first ones of marks that do not begin with a bracket
/// among them.
const NOTED: [bool; 256] = {
    let mut noted = [false; 256];
    let mut at = 0;
    while at < LOOKED_FOR.len() {
        noted[LOOKED_FOR[at] as usize] = true;
        at += 1;
    }
    noted
};
const LOOKED_FOR: &[u8] = b"`~[<{]f";

/// The two bytes that follow `<` in anything that is looked for.
static SECONDS: LazyLock<Box<[bool]>> = LazyLock::new(|| {
    let mut seconds = vec![false; 1 << 16].into_boxed_slice();
    for mark in marks() {
        if let [b'<', second, third, ..] = mark.as_bytes() {
            seconds[pair(*second, *third)] = true;
        }
    }
    seconds
});

fn marks() -> impl Iterator<Item = &'static str> {
    let shows = SHOWS.iter().chain(THOUGHTS).map(|(open, _)| *open);
    let own = [HERMES_OPEN, file_edit::OPEN, CHAT_CLOSE, CHAT_OPEN];
    template::marks().chain(shows).chain(PARAMETER_MARKS.iter().copied()).chain(own)
}

fn pair(second: u8, third: u8) -> usize {
    usize::from(second) << 8 | usize::from(third)
}

/// Whether a text is short, and nothing begins in it nor at its end.
pub(super) fn is_short_text(text: &[u8]) -> bool {
    text.len() <= SHORT_BYTES_MAX && !text.iter().any(|byte| NOTED[usize::from(*byte)])
}

/// Whether the `[` or `<` that begins a text begins nothing, and looks like nothing: that is certain
/// whatever follows the text.
pub(super) fn begins_nothing(registry: &Registry, text: &[u8]) -> bool {
    match text {
        [b'[', rest @ ..] => begins_no_list(rest),
        [b'<', rest @ ..] => begins_no_tag(registry, rest),
        _ => false,
    }
}

/// No name that is called, no object, no mark of a form.
fn begins_no_list(rest: &[u8]) -> bool {
    match rest.first() {
        Some(b'[' | b']' | b'0'..=b'9' | b'"' | b'\'') => true,
        // The marks of forms are in capitals.
        Some(b'a'..=b'z') => {
            matches!(behind_word(rest), Some((_, next)) if !b"(.-".contains(&next))
        }
        _ => false,
    }
}

/// No mark of a form, no name of a tool, no word for calls.
fn begins_no_tag(registry: &Registry, rest: &[u8]) -> bool {
    let (is_end, name) = match rest {
        [b'/', name @ ..] => (true, name),
        _ => (false, rest),
    };
    match *rest {
        [
            b' ' | b'\t' | b'\r' | b'\n' | b'=' | b'(' | b')' | b'&' | b'"' | b'\'' | b',' | b'<',
            ..,
        ] => true,
        [second @ (b'a'..=b'z' | b'A'..=b'Z' | b'/'), third, ..]
            if !SECONDS[pair(second, third)] =>
        {
            let Some((word, next)) = behind_word(name) else { return false };
            match next {
                b'>' => is_end || !(is_of_calls(word) || names_tool(registry, word)),
                _ => !b"|:-./".contains(&next),
            }
        }
        _ => false,
    }
}

/// The word that begins a text, and the byte behind it; none where that has not come, or is no ASCII.
fn behind_word(text: &[u8]) -> Option<(&[u8], u8)> {
    let near = &text[..text.len().min(WORD_BYTES_MAX)];
    let length = near.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))?;
    near[length].is_ascii().then_some((&near[..length], near[length]))
}

/// Whether a word holds one for calls.
fn is_of_calls(word: &[u8]) -> bool {
    WORDS.iter().any(|of_calls| {
        word.windows(of_calls.len()).any(|part| part.eq_ignore_ascii_case(of_calls.as_bytes()))
    })
}

fn names_tool(registry: &Registry, word: &[u8]) -> bool {
    let Ok(word) = std::str::from_utf8(word) else { return true };
    let is_lower = !word.bytes().any(|byte| byte.is_ascii_uppercase());
    registry.tool(word).is_some()
        || (!is_lower && registry.tool(&word.to_ascii_lowercase()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_nothing_is_known_by_the_bytes_behind_it() {
        let registry = Registry::from_json(r#"[{"name":"look"},{"name":"Ask"}]"#).unwrap();
        for text in [
            "[1]",
            "[]",
            "[[",
            "[x] done",
            "[twice]:",
            "[\"a\"",
            "< b",
            "<= c",
            "<<",
            "<div class",
            "<p>text",
            "</p>",
            "</div>",
            "Vec<",
            "<String>",
            "<u8, ",
        ] {
            let bracket = text.find(['[', '<']).unwrap();
            let expected = text.len() > bracket + 1;
            assert_eq!(begins_nothing(&registry, &text.as_bytes()[bracket..]), expected, "{text}");
        }
        for text in [
            "[",
            "[look",
            "[look(",
            "[a.b(",
            "[TOOL_CALLS]",
            "[ARGS]{",
            "[{",
            "[ look(",
            "[é]",
            "<",
            "<d",
            "<div",
            "<look>",
            "<LOOK>",
            "<Ask>",
            "<my_action>",
            "<MyTool>",
            "<tool_call>",
            "<think>",
            "<pre>",
            "<code ",
            "<file-edit ",
            "<invoke name=",
            "<arg_key>",
            "<|call|>",
            "<｜tool",
            "<a:b>",
            "<中>",
            "</chat>",
        ] {
            assert!(!begins_nothing(&registry, text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_marks_begin_with_is_looked_for() {
        for (lead, _) in template::LEADS {
            assert!(LOOKED_FOR.contains(&lead.as_bytes()[0]), "{lead}");
        }
    }

    #[test]
    fn no_mark_of_a_form_begins_nothing() {
        let registry = Registry::from_json(r#"[{"name":"look"}]"#).unwrap();
        for mark in marks() {
            for follows in ["", ">", " ", "x"] {
                let text = format!("{mark}{follows}");
                assert!(!begins_nothing(&registry, text.as_bytes()), "{text}");
            }
        }
    }
}
