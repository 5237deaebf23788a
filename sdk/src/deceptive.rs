//! Characters that make a reader see something else than what is there.

/// Characters that join letters in some scripts, and do not deceive there.
pub const JOINERS: &[char] = &['\u{200c}', '\u{200d}'];

/// Whether a character moves the cursor, reorders text, or takes no place.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
