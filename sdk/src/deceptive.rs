//! Characters that make a reader see something else than what is there: the one table for prompts,
//! descriptions, names, diffs, rules and records. What has them is refused where moss decides what a
//! text may be, and shown as escapes where it is somebody else's.
//!
//! The table has the control characters, all of `Default_Ignorable_Code_Point` of Unicode 16.0,
//! format characters beside those, separators of lines, and letters that are drawn as nothing.

/// Joins letters in some scripts, and pictures to one.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
/// Says whether the character before it is drawn as text or as a picture.
const PRESENTATION: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
/// What makes a key of a digit, behind the selector.
const KEYCAP: char = '\u{20e3}';

/// Whether a character moves the cursor, reorders text, or has no width.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                // Braille without a dot.
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                // Fillers and controls of old scripts, notes that are not drawn.
                | '\u{13430}'..='\u{1343f}'
                | '\u{16fe4}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d159}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns a text with an escape in the place of each deceptive character.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_deceptive(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Most bytes of a text of somebody else that go into an error message.
const QUOTED_BYTES_MAX: usize = 1000;

/// Cuts a text of somebody else to what an error message may hold: 1,000 bytes, with an escape in the
/// place of each deceptive character but line breaks.
pub fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTED_BYTES_MAX);
    let lines: Vec<String> = text[..end].split('\n').map(escaped).collect();
    let quoted = lines.join("\n");
    if end < text.len() { quoted + "…" } else { quoted }
}

/// Returns the first deceptive character of a text that is meant to be read, tabs and line breaks
/// among them. Joiners and selectors of presentation are none where they do what they are for: one
/// directly behind a character that they can change. Rows of them hide messages.
pub fn first_deceptive(text: &str) -> Option<char> {
    let mut before = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if is_deceptive(c) && !does_its_work(before, c, rest.clone().next()) {
            return Some(c);
        }
        before = Some(c);
    }
    None
}

fn does_its_work(before: Option<char>, c: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    let is_letter = !before.is_ascii() && !is_deceptive(before);
    if JOINERS.contains(&c) {
        let is_between = after.is_some_and(|after| !after.is_ascii() && !is_deceptive(after));
        return is_between && (is_letter || PRESENTATION.contains(&before));
    }
    let is_key = matches!(before, '0'..='9' | '#' | '*') && after == Some(KEYCAP);
    PRESENTATION.contains(&c) && (is_letter || is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_drawn_is_deceptive() {
        for hidden in [
            '\u{34f}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180f}',
            '\u{2065}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{ffa0}',
            '\u{fff0}',
            '\u{1bca0}',
            '\u{1d173}',
            '\u{e0020}',
            '\u{e0100}',
            '\u{e01ef}',
            '\u{e0fff}',
            '\u{ad}',
            '\u{feff}',
        ] {
            assert!(is_deceptive(hidden), "U+{:04X}", u32::from(hidden));
            assert_eq!(first_deceptive(&format!("a{hidden}b")), Some(hidden));
        }
        for drawn in ['a', ' ', 'é', '字', '👩', '\u{a0}', '\u{3000}', '\u{301}', '\u{20e3}'] {
            assert!(!is_deceptive(drawn), "U+{:04X}", u32::from(drawn));
        }
    }

    #[test]
    fn joiners_are_plain_where_they_join() {
        let plain = [
            "می\u{200c}خواهم",
            "👩\u{200d}💻",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "🏳\u{fe0f}\u{200d}🌈",
        ];
        for text in plain {
            assert_eq!(first_deceptive(text), None, "{text}");
        }
        for (text, hidden) in [
            ("a\u{200d}b", '\u{200d}'),
            ("\u{200c}x", '\u{200c}'),
            ("字\u{200c}\u{200d}字", '\u{200c}'),
            ("字\u{200d}", '\u{200d}'),
            ("字\u{fe0f}\u{fe0e}", '\u{fe0e}'),
            ("1\u{fe0f}", '\u{fe0f}'),
            ("👩\u{fe01}", '\u{fe01}'),
        ] {
            assert_eq!(first_deceptive(text), Some(hidden), "{text:?}");
        }
    }

    #[test]
    fn texts_of_others_are_cut_and_escaped_in_messages() {
        assert_eq!(quoted("a\nb\tc\u{202e}\u{34f}字"), "a\nb\\tc\\u{202e}\\u{34f}字");
        let long = "字".repeat(QUOTED_BYTES_MAX);
        assert_eq!(quoted(&long), "字".repeat(QUOTED_BYTES_MAX / 3) + "…");
    }
}
