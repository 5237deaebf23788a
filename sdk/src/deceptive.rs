//! Characters that make a reader see something else than what is there: the one table for prompts,
//! descriptions, names, diffs, rules and records. What has them is refused where moss decides what a
//! text may be, and shown as escapes where it is somebody else's.
//!
//! The table has the control characters, all of `Default_Ignorable_Code_Point` of Unicode 16.0,
//! format characters beside those, separators of lines, and letters that are drawn as nothing.

/// Joins letters in some scripts, and pictures to one.
const JOINER: char = '\u{200d}';
/// Keeps letters of some scripts apart.
const NON_JOINER: char = '\u{200c}';
/// Says whether the character before it is drawn as text or as a picture.
const PRESENTATION: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
/// What makes a key of a digit, behind the selector.
const KEYCAP: char = '\u{20e3}';

/// Whether a character moves the cursor, reorders text, or has no width.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || is_ignorable(c)
        || matches!(
            c,
            '\u{2028}'..='\u{2029}'
                // Braille without a dot.
                | '\u{2800}'
                | '\u{fff9}'..='\u{fffb}'
                // Fillers and controls of old scripts, notes that are not drawn.
                | '\u{13430}'..='\u{1343f}'
                | '\u{16fe4}'
                | '\u{1d159}'
        )
}

/// Whether a character is not drawn, and file systems that fold names leave it out: all of
/// `Default_Ignorable_Code_Point`.
pub fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character is in a block of which some are drawn as pictures.
fn is_picture(c: char) -> bool {
    matches!(
        c,
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | 'Ⓜ' | '〰' | '〽' | '㊗' | '㊙'
            // Arrows, technical signs, shapes, symbols, dingbats.
            | '\u{2190}'..='\u{21ff}'
            | '\u{2300}'..='\u{23ff}'
            | '\u{25a0}'..='\u{27bf}'
            | '\u{2900}'..='\u{297f}'
            | '\u{2b00}'..='\u{2bff}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

/// Whether a character is of a script in which joiners decide how letters are drawn: Arabic and its relatives, those
/// of India and of what is around it, Mongolian, Adlam.
fn is_of_joining_script(c: char) -> bool {
    let is_of_block = matches!(
        c,
        '\u{600}'..='\u{dff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1780}'..='\u{18af}'
            | '\u{1a20}'..='\u{1aaf}'
            | '\u{1b00}'..='\u{1c4f}'
            | '\u{1cd0}'..='\u{1cff}'
            | '\u{a800}'..='\u{a82f}'
            | '\u{a840}'..='\u{a87f}'
            | '\u{a8e0}'..='\u{a8ff}'
            | '\u{a980}'..='\u{a9ff}'
            | '\u{aa60}'..='\u{aa7f}'
            | '\u{abc0}'..='\u{abff}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{feff}'
            | '\u{10a00}'..='\u{10aff}'
            | '\u{11000}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}'
    );
    is_of_block && !is_deceptive(c)
}

/// Whether a character ends what is in brackets or quotes, and begins nothing.
fn is_closing(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '»' | '›' | '’' | '”')
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
/// directly behind a character that they can change, joiners between letters of a script that has them or between
/// pictures, non-joiners also between what ends a quotation or brackets and an ending in such letters. Elsewhere, and in rows, they hide messages.
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
    if PRESENTATION.contains(&c) {
        let is_key = matches!(before, '0'..='9' | '#' | '*') && after == Some(KEYCAP);
        return is_picture(before) || is_key;
    }
    let Some(after) = after.filter(|_| matches!(c, JOINER | NON_JOINER)) else { return false };
    let joins_pictures =
        c == JOINER && (is_picture(before) || PRESENTATION.contains(&before)) && is_picture(after);
    let is_before_letter = is_of_joining_script(before) || (c == NON_JOINER && is_closing(before));
    joins_pictures || (is_before_letter && is_of_joining_script(after))
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
            "«کتاب»\u{200c}ها (کتاب)\u{200c}ها “کتاب”\u{200c}ها",
            "\u{abc0}\u{abed}\u{200c}\u{abc1} \u{a807}\u{a806}\u{200c}\u{a808}",
            "👩\u{200d}💻",
            "❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "🏳\u{fe0f}\u{200d}🌈",
            "🏋🏽\u{200d}♂\u{fe0f}",
            "☎\u{fe0e} ↔\u{fe0f} ©\u{fe0f} ㊗\u{fe0f}",
            "क\u{94d}\u{200d}ष ක\u{dca}\u{200d}ර",
        ];
        for text in plain {
            assert_eq!(first_deceptive(text), None, "{text}");
        }
        for (text, hidden) in [
            ("a\u{200d}b", '\u{200d}'),
            ("\u{200c}x", '\u{200c}'),
            ("字\u{200c}\u{200d}字", '\u{200c}'),
            ("字\u{200d}", '\u{200d}'),
            ("字\u{200d}字", '\u{200d}'),
            ("字\u{200c}字", '\u{200c}'),
            ("é\u{200d}é", '\u{200d}'),
            ("👩\u{200c}💻", '\u{200c}'),
            ("👩\u{200d}字", '\u{200d}'),
            ("می\u{200c}x", '\u{200c}'),
            ("«کتاب»\u{200d}ها", '\u{200d}'),
            ("«کتاب»\u{200c}x", '\u{200c}'),
            ("«\u{200c}کتاب»", '\u{200c}'),
            ("\"\u{200c}کتاب\"", '\u{200c}'),
            ("字\u{fe0f}", '\u{fe0f}'),
            ("é\u{fe0e}", '\u{fe0e}'),
            ("م\u{fe0f}", '\u{fe0f}'),
            ("❤\u{fe0f}\u{fe0e}", '\u{fe0e}'),
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
