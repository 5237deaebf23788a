//! Finds where the JSON of a frame ends, in text that may be no strict JSON: end marks inside of
//! strings are none.

/// How long a run of signs and what follows it on its line may be to be looked at, in bytes.
const RUN_BYTES_MAX: usize = 256;

/// What begins another call: after JSON that is whole it is no list.
pub(super) const NEXT_FRAME: &str = "[TOOL";

/// What a scan came upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanHit {
    /// The end of the text.
    Nothing,
    /// The outermost bracket closed; the position after it.
    Balanced(usize),
    /// Outside of strings: a run of signs as long as the fence, `[/` or `</`; its position.
    Mark(usize),
    /// The first character that is neither blank nor belongs to JSON, after the JSON is whole.
    Other(usize),
    /// Inside of a string, at the end of a line: a run of signs as long as the fence. It may be
    /// the end where a quote is missing before.
    Suspect(usize),
}

impl ScanHit {
    /// Where in the text the hit is; none where nothing was hit.
    pub(super) fn place(self) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Balanced(place) | Self::Mark(place) => Some(place),
            Self::Other(place) | Self::Suspect(place) => Some(place),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanMode {
    Outside,
    /// In a string that this character ends.
    Double,
    Smart,
    Single,
    Escaped(Quote),
    LineComment,
    BlockComment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    Double,
    Smart,
    Single,
}

/// A scan that continues where it stopped.
#[derive(Debug)]
pub(super) struct Scan {
    at: usize,
    mode: ScanMode,
    depth: usize,
    /// Whether a bracket was opened.
    begun: bool,
    /// The length of the fence; 0 without a fence.
    fence: usize,
    /// What it is made of.
    sign: u8,
    /// Whether `<|` and `<｜` begin marks, as they do in tokens of models.
    has_tokens: bool,
}

/// Whether nothing but blanks stands before a position on its line.
fn begins_line(text: &str, place: usize) -> bool {
    text[..place].trim_end_matches([' ', '\t']).ends_with('\n')
}

// === impl Scan ===

impl Scan {
    /// Begins a scan for JSON inside of a fence of so many signs, or of none.
    pub(super) fn new(sign: u8, fence: usize) -> Self {
        Self {
            at: 0,
            mode: ScanMode::Outside,
            depth: 0,
            begun: false,
            fence,
            sign,
            has_tokens: false,
        }
    }

    /// Takes that tokens of models are marks.
    pub(super) fn with_tokens(mut self) -> Self {
        self.has_tokens = true;
        self
    }

    /// Whether all that was opened is closed.
    pub(super) fn is_balanced(&self) -> bool {
        self.begun && self.depth == 0 && self.mode == ScanMode::Outside
    }
    /// Goes back to a position outside of strings, to look at it again.
    pub(super) fn back_to(&mut self, place: usize) {
        self.at = place;
    }

    /// Continues to the next thing of note. `text` is all of it from the beginning; `is_last` says
    /// that no more will come.
    pub(super) fn next(&mut self, text: &str, is_last: bool) -> ScanHit {
        let bytes = text.as_bytes();
        while self.at < bytes.len() {
            let byte = bytes[self.at];
            match self.mode {
                ScanMode::Outside => {
                    // What a mark is, is seen when it is whole.
                    if !is_last && self.at + 1 == bytes.len() && b"[</".contains(&byte) {
                        return ScanHit::Nothing;
                    }
                    if let Some(found) = self.outside(text, byte, is_last) {
                        return found;
                    }
                }
                ScanMode::Escaped(quote) => {
                    self.at += text[self.at..].chars().next().map_or(1, char::len_utf8);
                    self.mode = match quote {
                        Quote::Double => ScanMode::Double,
                        Quote::Smart => ScanMode::Smart,
                        Quote::Single => ScanMode::Single,
                    };
                }
                ScanMode::LineComment => match memchr::memchr(b'\n', &bytes[self.at..]) {
                    Some(length) => {
                        self.at += length;
                        self.mode = ScanMode::Outside;
                    }
                    None => self.at = bytes.len(),
                },
                ScanMode::BlockComment => match memchr::memmem::find(&bytes[self.at..], b"*/") {
                    Some(length) => {
                        self.at += length + 2;
                        self.mode = ScanMode::Outside;
                    }
                    None => {
                        self.at = bytes.len() - usize::from(bytes.ends_with(b"*"));
                        return ScanHit::Nothing;
                    }
                },
                ScanMode::Double | ScanMode::Smart | ScanMode::Single => {
                    match self.inside(text, is_last) {
                        Some(found) => return found,
                        None => continue,
                    }
                }
            }
        }
        ScanHit::Nothing
    }

    fn outside(&mut self, text: &str, byte: u8, is_last: bool) -> Option<ScanHit> {
        let rest = &text[self.at..];
        let c = rest.chars().next()?;
        let place = self.at;
        if byte == self.sign && self.fence > 0 {
            let run = rest.bytes().take_while(|byte| *byte == self.sign).count();
            if run == rest.len() && !is_last && run < self.fence {
                return Some(ScanHit::Nothing);
            }
            self.at += run;
            return (run >= self.fence).then_some(ScanHit::Mark(place));
        }
        let marks = ["[/", "</", "<|", "<｜"];
        let marks = &marks[..if self.has_tokens { 4 } else { 2 }];
        if let Some(mark) = marks.iter().find(|mark| rest.starts_with(**mark)) {
            self.at += mark.len();
            return Some(ScanHit::Mark(place));
        }
        if self.is_balanced() && byte == b'[' {
            if !is_last && rest.len() < NEXT_FRAME.len() && NEXT_FRAME.starts_with(rest) {
                return Some(ScanHit::Nothing);
            }
            if rest.starts_with(NEXT_FRAME) {
                self.at += 1;
                return Some(ScanHit::Other(place));
            }
        }
        self.at += c.len_utf8();
        match c {
            '"' if self.depth > 0 => self.mode = ScanMode::Double,
            '“' | '”' | '„' | '＂' if self.depth > 0 => self.mode = ScanMode::Smart,
            '\'' | '‘' if self.depth > 0 => self.mode = ScanMode::Single,
            '{' | '[' | '｛' | '［' => {
                self.depth += 1;
                self.begun = true;
            }
            '}' | ']' | '｝' | '］' if self.is_balanced() => return Some(ScanHit::Other(place)),
            '}' | ']' | '｝' | '］' => {
                let was_open = self.depth == 1;
                self.depth = self.depth.saturating_sub(1);
                if was_open {
                    return Some(ScanHit::Balanced(self.at));
                }
            }
            '#' if self.depth > 0 && begins_line(text, place) => self.mode = ScanMode::LineComment,
            '/' if rest.starts_with("//") && self.may_comment(text, place) => {
                self.mode = ScanMode::LineComment;
            }
            '/' if rest.starts_with("/*") && self.may_comment(text, place) => {
                self.at += 1;
                self.mode = ScanMode::BlockComment;
            }
            c if self.is_balanced() && !c.is_whitespace() => return Some(ScanHit::Other(place)),
            _ => {}
        }
        None
    }

    /// Whether a comment may begin at a position: a path without quotes has slashes, too.
    fn may_comment(&self, text: &str, place: usize) -> bool {
        let before = place.checked_sub(1).map(|place| text.as_bytes()[place]);
        self.depth > 0 && before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
    }

    /// Goes through a string. Returns none to continue.
    fn inside(&mut self, text: &str, is_last: bool) -> Option<ScanHit> {
        let bytes = &text.as_bytes()[self.at..];
        let (quote, length) = match self.mode {
            ScanMode::Double => (Quote::Double, memchr::memchr3(b'"', b'\\', self.sign, bytes)),
            ScanMode::Single => (Quote::Single, memchr::memchr3(b'\'', b'\\', self.sign, bytes)),
            _ => {
                let special =
                    |byte: &u8| matches!(byte, b'"' | b'\\' | 0xe2 | 0xef) || *byte == self.sign;
                (Quote::Smart, bytes.iter().position(special))
            }
        };
        let Some(length) = length else {
            self.at = text.len();
            return Some(ScanHit::Nothing);
        };
        self.at += length;
        let rest = &text[self.at..];
        match rest.as_bytes()[0] {
            b'\\' => {
                if rest.len() == 1 {
                    return Some(ScanHit::Nothing);
                }
                self.at += 1;
                self.mode = ScanMode::Escaped(quote);
            }
            sign if sign == self.sign => return self.signs(rest, is_last),
            b'"' | b'\'' => {
                self.at += 1;
                self.mode = ScanMode::Outside;
            }
            _ => {
                let c = rest.chars().next()?;
                self.at += c.len_utf8();
                if matches!(c, '“' | '”' | '„' | '＂') {
                    self.mode = ScanMode::Outside;
                }
            }
        }
        None
    }

    /// Looks at what may be a fence inside of a string.
    fn signs(&mut self, rest: &str, is_last: bool) -> Option<ScanHit> {
        if self.fence == 0 {
            self.at += 1;
            return None;
        }
        // So much decides, whether more is there or not.
        let near = &rest.as_bytes()[..rest.len().min(RUN_BYTES_MAX)];
        let run = near.iter().take_while(|byte| **byte == self.sign).count();
        let after = &near[run..];
        let blank = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        let ends_line = match after.get(blank) {
            Some(byte) => *byte == b'\n',
            None if near.len() == RUN_BYTES_MAX => false,
            None if is_last => true,
            None => return Some(ScanHit::Nothing),
        };
        let place = self.at;
        self.at += run;
        (run >= self.fence && ends_line).then_some(ScanHit::Suspect(place))
    }
}
