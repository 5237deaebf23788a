//! What programs write to a terminal, as text without one, and whether they seem to wait for a reply.

/// Longest line that may be a question, in bytes.
const PROMPT_BYTES_MAX: usize = 300;
/// How the last line ends, in lower case and without signs behind it, of a program that waits for a secret, a name or
/// a value.
const ASKED: [&str; 10] = [
    "password",
    "passphrase",
    "passcode",
    "pin",
    "username",
    "login",
    "one-time code",
    "verification code",
    "token",
    "enter a value",
];
/// The same with something behind it: `Password for 'x':`.
const ASKED_FOR: [&str; 7] = [
    "password for",
    "passphrase for",
    "username for",
    "pin for",
    "type yes",
    "type 'yes'",
    "type \"yes\"",
];
/// How the end of a line begins that asks to go on, with a few words behind it: `Press enter to continue`.
const ASKING: [&str; 5] = ["press enter", "press return", "press any key", "hit enter", "--more--"];
/// Most words behind one of those.
const WORDS_BEHIND_MAX: usize = 4;
/// What a question has that ends its line.
const SURE: &str = "are you sure";
/// What runners of tests write behind the name of a test while it runs.
const RUNNING: &str = " ...";
/// The last word of a question that is replied with yes or no.
const ASKING_WORDS: [&str; 3] = ["continue?", "proceed?", "overwrite?"];
/// Words for yes and no, as choices name them.
const YES_OR_NO: [&str; 4] = ["y", "yes", "n", "no"];
/// Longest choice of several.
const CHOICE_BYTES_MAX: usize = 16;

/// The line of an output that has not ended, as it stands on a terminal: of a long one its end, and that it is long.
#[derive(Debug, Default)]
pub struct OpenLine(Vec<u8>);

/// Removes what moves the cursor of a terminal, and of lines that are written over and over all but
/// the last form.
pub fn plain(bytes: &[u8]) -> String {
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
pub fn prompt(output: &[u8]) -> Option<String> {
    let line = line_behind(output).unwrap_or(output);
    if line.is_empty() || line.len() > PROMPT_BYTES_MAX {
        return None;
    }
    let line = plain(line).trim().to_owned();
    let lower = line.to_lowercase();
    let bare = lower.trim_end_matches([':', '?', '.', '>', ' ']);
    let ends_with_word = |word: &&str| {
        let before = bare.strip_suffix(*word);
        before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    };
    let asks = (lower.ends_with(':') && ASKED.iter().any(ends_with_word))
        || (lower.ends_with(':') && ASKED_FOR.iter().any(|words| bare.contains(words)))
        || ASKING.iter().any(|words| is_end(&lower, words))
        || (lower.contains(SURE) && lower.ends_with('?'))
        || ASKING_WORDS.iter().any(|word| lower.ends_with(word))
        || ends_with_choice(bare);
    asks.then_some(line)
}

/// Whether a line ends with words, or with a few more behind them.
fn is_end(line: &str, words: &str) -> bool {
    let behind = line.rfind(words).map(|at| line[at + words.len()..].split_whitespace());
    let few = |behind: std::str::SplitWhitespace<'_>| {
        behind.filter(|word| word.contains(char::is_alphanumeric)).count() <= WORDS_BEHIND_MAX
    };
    !line.ends_with(RUNNING) && behind.is_some_and(few)
}

/// What is written behind the last line break, and behind what moves to the beginning of its line; none where nothing
/// does.
fn line_behind(output: &[u8]) -> Option<&[u8]> {
    let start = output.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'))?;
    Some(&output[start + 1..])
}

// === impl OpenLine ===

impl OpenLine {
    /// Takes what is written behind it.
    pub fn push(&mut self, bytes: &[u8]) {
        let bytes = match line_behind(bytes) {
            Some(line) => {
                self.0.clear();
                line
            }
            None => bytes,
        };
        let kept_max = PROMPT_BYTES_MAX + 1;
        let bytes = &bytes[bytes.len().saturating_sub(kept_max)..];
        let over = (self.0.len() + bytes.len()).saturating_sub(kept_max);
        self.0.drain(..over);
        self.0.extend_from_slice(bytes);
    }

    /// The question that it looks like.
    pub fn prompt(&self) -> Option<String> {
        prompt(&self.0)
    }
}

/// Whether a line ends with choices of which one is yes or no: `[y/N]`, `(yes/no/[fingerprint])`, `(y)`.
fn ends_with_choice(line: &str) -> bool {
    let split = [('(', ')'), ('[', ']')].iter().find_map(|&(open, close)| {
        let within = line.strip_suffix(close)?;
        within.rfind(open).map(|start| (&line[..start], &within[start + open.len_utf8()..]))
    });
    split.is_some_and(|(before, choices)| {
        let choices: Vec<_> = choices.split(['/', '|', ',']).collect();
        let word = |choice: &&str| choice.trim_matches([' ', '[', ']']).to_owned();
        let mut words = choices.iter().map(word);
        // An index of an array and the arguments of a function are none.
        let stands_alone = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        stands_alone
            && (choices.len() > 1 || before.contains('?'))
            && words.clone().all(|word| !word.is_empty() && word.len() <= CHOICE_BYTES_MAX)
            && words.any(|word| YES_OR_NO.contains(&word.as_str()))
    })
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
            ("Ok to proceed? (y) ", Some("Ok to proceed? (y)")),
            ("Stage this hunk [y,n,q,a,d,e,?]? ", Some("Stage this hunk [y,n,q,a,d,e,?]?")),
            ("Apply? [y/d/N] ", Some("Apply? [y/d/N]")),
            ("Install them (y/N/a): ", Some("Install them (y/N/a):")),
            ("(yes/no/[fingerprint])? ", Some("(yes/no/[fingerprint])?")),
            ("Are you sure you want to drop it? ", Some("Are you sure you want to drop it?")),
            ("Press ENTER to go on", Some("Press ENTER to go on")),
            ("Press any key to continue . . . ", Some("Press any key to continue . . .")),
            ("Enter PIN: ", Some("Enter PIN:")),
            ("Username for 'https://example.org': ", Some("Username for 'https://example.org':")),
            ("host login: ", Some("host login:")),
            ("--More--(12%)", Some("--More--(12%)")),
            ("Do you want to continue? ", Some("Do you want to continue?")),
            ("Type 'yes' to continue: ", Some("Type 'yes' to continue:")),
            ("  Enter a value: ", Some("Enter a value:")),
            ("\r9% done\rOverwrite? [y/N] ", Some("Overwrite? [y/N]")),
            ("Are you sure that it asks ... ", None),
            ("Are you sure is what it asks. Then it waits for so long: ", None),
            ("Press enter is what the page says, and here is more of it", None),
            ("Press enter to continue ... ", None),
            ("Press return", Some("Press return")),
            ("Password:\n", None),
            ("loading (3/9)", None),
            ("f(x, y)", None),
            ("array[n]", None),
            ("the axis (y)", None),
            ("spin: ", None),
            ("tests [ok/failed]", None),
            ("[y/", None),
            ("compiling 3/9", None),
            ("", None),
        ] {
            assert_eq!(prompt(output.as_bytes()).as_deref(), expected, "{output:?}");
        }
        assert_eq!(prompt(&[vec![b'x'; PROMPT_BYTES_MAX], b"[y/n]".to_vec()].concat()), None);
    }

    #[test]
    fn an_open_line_is_what_stands_there_and_no_question_once_it_is_long() {
        let mut line = OpenLine::default();
        for percent in 0..100 {
            line.push(format!("\r{percent}% done").as_bytes());
        }
        line.push(b"\rOverwrite");
        line.push(b"? [y/N] ");
        assert_eq!(line.prompt().as_deref(), Some("Overwrite? [y/N]"));
        line.push(b"n\n");
        assert_eq!(line.prompt(), None);

        let long = [vec![b'x'; PROMPT_BYTES_MAX - 6], b" [y/n]".to_vec()].concat();
        line.push(&long);
        assert!(line.prompt().is_some());
        line.push(b" and more");
        assert_eq!(line.prompt(), None, "its beginning looks like a question");
        line.push(b" [y/n]");
        assert_eq!(line.prompt(), None, "so does its end");
        assert!(line.0.len() <= PROMPT_BYTES_MAX + 1);
        line.push(&[long.as_slice(), b"\r", b"Go on? [y/n]"].concat());
        assert_eq!(line.prompt().as_deref(), Some("Go on? [y/n]"));
    }
}
