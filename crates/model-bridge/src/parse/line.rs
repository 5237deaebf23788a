//! Where in its line, and after which line, a position of the text stands.

use super::cue::Cue;

/// How much of a line is kept to read it, in bytes.
pub(super) const LINE_BYTES_MAX: usize = 512;

/// How much of the beginning of a line is kept, in bytes.
const BEGIN_BYTES_MAX: usize = 32;

/// How many blanks begin a line of code, in bytes.
const CODE_BLANKS: usize = 4;

/// The double quotes of a line so far.
#[derive(Debug, Clone, Default)]
struct Quotes {
    is_open: bool,
    /// Whether the last one that opened stood where a value of JSON or code may stand.
    begins_value: bool,
    /// The last character that is not blank, and the last one.
    solid: Option<char>,
    last: Option<char>,
}

/// The line that is being written, and the one before it.
#[derive(Debug, Clone, Default)]
pub(super) struct LineContext {
    /// What the line has so far; its end, where it is long.
    current: String,
    /// Whether only blanks came so far.
    has_begun: bool,
    /// How many blanks that is.
    blanks: usize,
    /// How the line begins, as far as it shows whether it is a quotation.
    begin: String,
    /// How many backticks began the code inside of the line that has not ended; 0 for none.
    code: usize,
    quotes: Quotes,
    /// The same of the line right before, whose code may end on this one.
    code_before: usize,
    /// The last line with something on it.
    previous: String,
    /// Marks that belong to the call right before, where nothing but blanks came since.
    owed: Option<&'static [&'static str]>,
}

// === impl Quotes ===

impl Quotes {
    fn take(&mut self, text: &str) {
        let mut from = 0;
        for place in memchr::memchr_iter(b'"', text.as_bytes()) {
            self.pass(&text[from..place]);
            if self.last != Some('\\') {
                self.is_open = !self.is_open;
                let before = self.solid.is_some_and(|c| ":：{[,，(=".contains(c));
                self.begins_value = self.is_open && before;
            }
            self.pass("\"");
            from = place + 1;
        }
        self.pass(&text[from..]);
    }

    fn pass(&mut self, text: &str) {
        let Some(last) = text.chars().next_back() else { return };
        self.last = Some(last);
        let solid =
            if last.is_whitespace() { text.trim_end().chars().next_back() } else { Some(last) };
        self.solid = solid.or(self.solid);
    }
}

// === impl LineContext ===

impl LineContext {
    /// Takes text that was passed on.
    pub(super) fn pass(&mut self, text: &str) {
        if self.owed.is_some() && !text.trim_start().is_empty() {
            self.owed = None;
        }
        let Some(last) = memchr::memrchr(b'\n', text.as_bytes()) else {
            return self.extend(text);
        };
        // Of all the lines that end here, only the last one that is not blank matters.
        let mut whole = &text[..last];
        let mut ended = 1;
        loop {
            match memchr::memrchr(b'\n', whole.as_bytes()) {
                Some(end) => {
                    let line = &whole[end + 1..];
                    if !line.trim_start_matches(is_blank).is_empty() {
                        self.begin();
                        self.extend(line);
                        break;
                    }
                    whole = &whole[..end];
                    ended += 1;
                }
                None => {
                    self.extend(whole);
                    break;
                }
            }
        }
        self.end();
        if ended > 1 {
            self.code_before = 0;
        }
        self.extend(&text[last + 1..]);
    }

    fn extend(&mut self, mut text: &str) {
        if !self.has_begun {
            let inner = text.trim_start_matches(is_blank);
            self.blanks += text.len() - inner.len();
            text = inner;
            if text.is_empty() {
                return;
            }
            self.has_begun = true;
        }
        self.quotes.take(text);
        let room = BEGIN_BYTES_MAX.saturating_sub(self.begin.len());
        if room > 0 {
            self.begin.push_str(&text[..text.floor_char_boundary(room)]);
        }
        let tail = text.ceil_char_boundary(text.len().saturating_sub(LINE_BYTES_MAX));
        self.current.push_str(&text[tail..]);
        if self.current.len() > 2 * LINE_BYTES_MAX {
            let cut = self.current.ceil_char_boundary(self.current.len() - LINE_BYTES_MAX);
            self.current.drain(..cut);
        }
    }

    fn end(&mut self) {
        if !self.current.is_empty() {
            // What somebody else said is not said of what follows.
            let is_quoted = self.is_quoted();
            self.previous = std::mem::take(&mut self.current);
            if is_quoted {
                self.previous.clear();
            }
        }
        let code = self.code;
        self.begin();
        self.code_before = code;
    }

    /// Forgets the line that ended.
    fn begin(&mut self) {
        self.current.clear();
        self.has_begun = false;
        self.blanks = 0;
        self.begin.clear();
        self.code = 0;
        self.quotes = Quotes::default();
        self.code_before = 0;
    }

    /// Forgets what was written before a call: it has no meaning for the next one. What follows the
    /// call on its line does not begin a line, unless the call took the end of its line with it.
    /// `owed` are marks that may follow it and belong to it.
    pub(super) fn forget(&mut self, owed: &'static [&'static str], ends_line: bool) {
        *self = Self { has_begun: !ends_line, owed: Some(owed), ..Self::default() };
    }

    /// Marks that belong to the call right before this position, where there is one.
    pub(super) fn owed(&self) -> Option<&'static [&'static str]> {
        self.owed
    }

    /// Takes text that is only shown: what was said before it is said of what follows, too.
    pub(super) fn pass_shown(&mut self, text: &str) {
        let before = self.before().to_owned();
        self.pass(text);
        self.end();
        self.previous = before;
    }

    /// Whether only blanks came on the line so far.
    pub(super) fn is_blank(&self) -> bool {
        !self.has_begun
    }

    /// Whether as many blanks begin the line as begin one of code.
    pub(super) fn is_indented(&self) -> bool {
        self.blanks >= CODE_BLANKS
    }

    /// Whether a backtick stands right before this position.
    pub(super) fn ends_with_backtick(&self) -> bool {
        self.current.ends_with('`')
    }

    /// Whether a sentence, or what introduces something, ends right before this position on the
    /// line.
    pub(super) fn is_after_sentence(&self) -> bool {
        let before = self.current.trim_end_matches([' ', '\t']);
        self.has_begun && before.ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：'])
    }

    /// Whether the line quotes somebody: `>` begins it, also in a list, or the sign of a diff right
    /// before this position.
    pub(super) fn is_quoted(&self) -> bool {
        let mut begin = self.begin.trim_start();
        if matches!(begin, "+" | "-") {
            return true;
        }
        while let Some(rest) = without_bullet(begin) {
            begin = rest.trim_start();
        }
        begin.starts_with('>')
    }

    /// Whether the position is inside of a string of JSON or code that the line shows.
    pub(super) fn in_string(&self) -> bool {
        self.quotes.is_open && self.quotes.begins_value
    }

    /// Whether the position is inside of code between backticks. Such code may go over a line end;
    /// but what begins a line is more likely to stand behind a backtick that has no other.
    pub(super) fn in_code(&self) -> bool {
        self.code > 0 || (self.code_before > 0 && self.has_begun)
    }

    /// Whether what stands at the position is shown and not meant: in a quote, in code or in a
    /// string.
    pub(super) fn is_shown(&self) -> bool {
        self.is_quoted() || self.in_code() || self.in_string()
    }

    /// Takes a run of backticks, which begins code or ends it.
    pub(super) fn toggle_code(&mut self, run: usize) {
        if self.code_before == run {
            self.code_before = 0;
        } else if self.code == 0 {
            self.code = run;
        } else if self.code == run {
            self.code = 0;
        }
    }

    /// How the words before this position speak of what follows.
    pub(super) fn cue(&self) -> Cue {
        Cue::of(self.before())
    }

    /// What the line has so far, and the last one with something on it before; of each its end where it
    /// is long.
    pub(super) fn last_two(&self) -> (&str, &str) {
        let current = if self.has_begun { near(&self.current) } else { "" };
        (current, near(&self.previous))
    }

    fn before(&self) -> &str {
        let line = if self.has_begun { &self.current } else { &self.previous };
        near(line)
    }
}

/// The end of a line: as much of it whatever the pieces were in which it came.
fn near(line: &str) -> &str {
    &line[line.ceil_char_boundary(line.len().saturating_sub(LINE_BYTES_MAX))..]
}

/// Whether a character is nothing to read: white space, or the mark of the order of bytes.
pub(super) fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// What follows the sign of an item of a list.
fn without_bullet(line: &str) -> Option<&str> {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let sign = match digits {
        0 => line.strip_prefix(['-', '*', '+'])?,
        _ => line[digits..].strip_prefix(['.', ')'])?,
    };
    sign.starts_with(' ').then_some(sign)
}
