//! What programs write to a terminal, as text without one, and whether they seem to wait for a reply.

/// Longest line that may be a question, in bytes.
const PROMPT_BYTES_MAX: usize = 300;
/// How the last line ends, in lower case, of a program that waits for a reply.
const PROMPTS: [&str; 13] = [
    "password:",
    "passphrase:",
    "[y/n]",
    "(y/n)",
    "(yes/no)",
    "[y/n]:",
    "[y/n]?",
    "(y/n)?",
    "(yes/no)?",
    "[yes/no]",
    "(yes/no/[fingerprint])?",
    "continue?",
    "username:",
];

/// Removes what moves the cursor of a terminal, and of lines that are written over and over all but
/// the last form.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => skip_escape(&mut characters),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' => {
                let line = plain.rfind('\n').map_or(0, |end| end + 1);
                plain.truncate(line);
            }
            '\u{8}' => {
                if !plain.ends_with('\n') {
                    plain.pop();
                }
            }
            c if c.is_control() && c != '\n' && c != '\t' => plain.push('\u{fffd}'),
            c => plain.push(c),
        }
    }
    plain
}

/// Skips what follows an escape character: a sequence that ends with a letter, or a text that ends
/// with a bell.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next() {
        Some('[') => {
            for c in characters.by_ref() {
                if matches!(c, '@'..='~') {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(c) = characters.next() {
                if c == '\u{7}' || (c == '\u{1b}' && characters.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        _ => {}
    }
}

/// The question at the end of an output, where its last line has not ended and looks like one.
pub(crate) fn prompt(output: &[u8]) -> Option<String> {
    let start = output.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = &output[start..];
    if line.is_empty() || line.len() > PROMPT_BYTES_MAX {
        return None;
    }
    let line = plain(line).trim().to_owned();
    let lower = line.to_lowercase();
    let bare = lower.trim_end_matches([':', '?', ' ']);
    let asks = PROMPTS.iter().any(|prompt| lower.ends_with(prompt))
        || (lower.ends_with(':')
            && (bare.contains("password for") || bare.contains("passphrase for")));
    asks.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_the_cursor_is_removed() {
        assert_eq!(plain(b"\x1b[31mred\x1b[0m \x1b]0;title\x07x"), "red x");
        assert_eq!(plain(b"10%\r50%\r100%\ndone\r\n"), "100%\ndone\n");
        assert_eq!(plain(b"a\0b"), "a\u{fffd}b");
    }

    #[test]
    fn a_last_line_that_waits_for_a_reply_is_a_prompt() {
        for (output, expected) in [
            ("Password: ", Some("Password:")),
            ("[sudo] password for me: ", Some("[sudo] password for me:")),
            ("one\nOverwrite? [y/N] ", Some("Overwrite? [y/N]")),
            ("Enter passphrase for key '/k': ", Some("Enter passphrase for key '/k':")),
            ("\u{1b}[1mProceed (Y/n)?\u{1b}[0m ", Some("Proceed (Y/n)?")),
            ("Password:\n", None),
            ("compiling 3/9", None),
            ("", None),
        ] {
            assert_eq!(prompt(output.as_bytes()).as_deref(), expected, "{output:?}");
        }
        assert_eq!(prompt(&[vec![b'x'; PROMPT_BYTES_MAX], b"[y/n]".to_vec()].concat()), None);
    }
}
