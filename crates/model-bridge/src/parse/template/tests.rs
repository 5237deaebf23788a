//! Tests of the module `template`.

use super::*;

/// How much of a text is held back because it may become a mark, in bytes, at the most.
const HELD_BYTES_MAX: usize = 24;

#[test]
fn what_is_no_mark_is_known_soon() {
    let forms = Forms::default();
    for mark in marks() {
        let places = mark.char_indices().map(|(place, _)| place).filter(|place| *place > 0);
        for place in places {
            let other = format!("{}#", &mark[..place]);
            assert_eq!(opening(&other, true, None, &forms).err(), Some(Not::Here), "{other}");
            assert_eq!(opening(&mark[..place], true, None, &forms).err(), Some(Not::Yet), "{mark}");
        }
        // What is longer is a token of its model: no text begins so.
        let is_token =
            ["<|", "<｜", "<start_function_call>"].iter().any(|begin| mark.starts_with(begin));
        assert!(mark.len() <= HELD_BYTES_MAX + 1 || is_token, "{mark}");
    }
}
