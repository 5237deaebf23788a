//! Words and signs of a text, and the constructs among them that its grammar does not know.

use std::ops::Range;

/// Most tokens that one construct may have.
const LENGTH_MAX: usize = 400;

/// A part of a text, and what stands there instead; the rest is blanked.
#[derive(Debug)]
pub(super) struct FilledGap {
    pub(super) range: Range<usize>,
    pub(super) replacement: String,
}

/// The words and signs of a text, whatever is quoted or a comment: to fill something there changes nothing.
pub(super) struct GapScan<'t> {
    text: &'t str,
    tokens: Vec<Range<usize>>,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn blank(range: Range<usize>) -> FilledGap {
    FilledGap { range, replacement: String::new() }
}

// === impl GapScan ===

impl<'t> GapScan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut tokens: Vec<Range<usize>> = Vec::new();
        let mut is_open = false;
        for (at, c) in text.char_indices() {
            let end = at + c.len_utf8();
            match (is_word(c), is_open) {
                (true, true) => tokens.last_mut().expect("one is open").end = end,
                (true, false) => tokens.push(at..end),
                (false, _) if !c.is_whitespace() => tokens.push(at..end),
                _ => {}
            }
            is_open = is_word(c);
        }
        Self { text, tokens }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    fn token(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |range| &self.text[range.clone()])
    }

    fn before(&self, at: usize) -> &'t str {
        at.checked_sub(1).map_or("", |before| self.token(before))
    }

    fn is_word(&self, at: usize) -> bool {
        self.token(at).starts_with(is_word)
    }

    fn is_number(&self, at: usize) -> bool {
        self.token(at).starts_with(|c: char| c.is_ascii_digit())
    }

    fn are(&self, at: usize, expected: &[&str]) -> bool {
        expected.iter().enumerate().all(|(place, token)| self.token(at + place) == *token)
    }

    /// From one token to the end of another.
    fn bytes(&self, first: usize, last: usize) -> Range<usize> {
        self.tokens[first].start..self.tokens[last].end
    }

    /// The token that closes the bracket at a place.
    fn closing(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for place in at..self.len().min(at + LENGTH_MAX) {
            match self.token(place) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return Some(place);
            }
        }
        None
    }

    /// The first of some tokens from a place on that lies in no bracket behind it, or that closes one around it.
    fn next_of(&self, at: usize, ends: &[&str]) -> Option<usize> {
        let mut place = at;
        while place < self.len().min(at + LENGTH_MAX) {
            match self.token(place) {
                token if ends.contains(&token) => return Some(place),
                "(" | "[" | "{" => place = self.closing(place)? + 1,
                _ => place += 1,
            }
        }
        None
    }

    /// What a pattern of words and signs finds at a place.
    pub(super) fn matches(&self, pattern: &[&str], at: usize) -> Vec<FilledGap> {
        let mut found = Vec::new();
        let mut place = at;
        for part in pattern {
            if let Some(other) = part.strip_prefix('!').filter(|other| !other.is_empty()) {
                if self.before(at) == other {
                    return Vec::new();
                }
                continue;
            }
            let is_marked = part.len() > 1 && part.starts_with(['~', '^']);
            let (mark, token) = part.split_at(usize::from(is_marked));
            let holds = match token {
                "ID" => self.is_word(place),
                token => self.token(place) == token,
            };
            if !holds {
                return Vec::new();
            }
            let range = self.tokens[place].clone();
            match mark {
                "~" => found.push(blank(range)),
                "^" => {
                    let replacement = "_".repeat(range.len());
                    found.push(FilledGap { range, replacement });
                }
                _ => {}
            }
            place += 1;
        }
        found
    }

    /// `import("x").` before a type that has arguments.
    pub(super) fn import_type(&self, at: usize) -> Option<FilledGap> {
        let open = self.are(at, &["import", "("]).then_some(at + 1)?;
        let close = self.closing(open)?;
        let mut last = None;
        let mut place = close + 1;
        while self.token(place) == "." && self.is_word(place + 1) {
            last = Some(place);
            place += 2;
        }
        (self.token(place) == "<").then(|| Some(blank(self.bytes(at, last?))))?
    }

    /// `export default function (`, of which a declaration has no body.
    pub(super) fn nameless_default(&self, at: usize) -> Option<FilledGap> {
        let is_it = self.are(at, &["export", "default", "function", "("]);
        let range = || self.bytes(at, at + 2);
        is_it.then(|| FilledGap { range: range(), replacement: "function x".to_owned() })
    }

    /// `= int` in `class C[T = int]`: of the place of its `=`.
    pub(super) fn type_parameter_default(&self, at: usize) -> Option<FilledGap> {
        if self.token(at) != "=" || self.token(at + 1) == "=" {
            return None;
        }
        let open = self.opening(at)?;
        let word = open.checked_sub(2).map(|place| self.token(place))?;
        let is_it = self.token(open) == "[" && matches!(word, "class" | "def" | "type");
        let end = self.next_of(at + 1, &[",", "]"]).filter(|_| is_it)?;
        Some(blank(self.bytes(at, end - 1)))
    }

    /// The bracket that is open at a place.
    fn opening(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for place in (at.saturating_sub(LENGTH_MAX)..at).rev() {
            match self.token(place) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" if depth == 0 => return Some(place),
                "(" | "[" | "{" => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// `type X;`, as `extern` blocks declare types.
    pub(super) fn extern_type(&self, at: usize) -> Option<FilledGap> {
        let is_it = self.token(at) == "type" && self.is_word(at + 1) && self.token(at + 2) == ";";
        let replacement = || format!("fn {}();", self.token(at + 1));
        is_it.then(|| FilledGap { range: self.bytes(at, at + 2), replacement: replacement() })
    }

    /// `[(); N]:`, a bound that only says that something can be computed.
    pub(super) fn array_bound(&self, at: usize) -> Option<FilledGap> {
        let close = self.are(at, &["[", "(", ")", ";"]).then(|| self.closing(at))??;
        if self.token(close + 1) != ":" {
            return None;
        }
        // The grammar wants a bound where the language does not.
        let is_empty = matches!(self.token(close + 2), "{" | "," | ";");
        let (last, replacement) = if is_empty { (close + 1, "T:T") } else { (close, "T") };
        Some(FilledGap { range: self.bytes(at, last), replacement: replacement.to_owned() })
    }

    /// Whether a token is the first of its line.
    fn begins_line(&self, at: usize) -> bool {
        // All that is not blank is a token.
        let Some(before) = at.checked_sub(1) else { return true };
        self.text[self.tokens[before].end..self.tokens[at].start].contains('\n')
    }

    /// `export module a.b:c;`, `import std;`, or `export` before a declaration.
    pub(super) fn module_line(&self, at: usize) -> Option<FilledGap> {
        let is_exported = self.token(at) == "export";
        let word = at + usize::from(is_exported);
        let next = self.token(word + 1);
        let names = self.is_word(word + 1) || matches!(next, "<" | ":" | ";" | "\"");
        if matches!(self.token(word), "module" | "import") && names {
            let end = self.next_of(word, &[";"])?;
            return self.begins_line(at).then(|| blank(self.bytes(at, end)));
        }
        (is_exported && self.begins_line(at)).then(|| blank(self.bytes(at, at)))
    }

    /// `= 1` or `{1}` behind the width of a bit field.
    pub(super) fn bit_field_value(&self, at: usize) -> Option<FilledGap> {
        let is_width = self.token(at) == ":" && self.is_number(at + 1);
        match self.token(at + 2) {
            "=" if is_width => {
                let end = self.next_of(at + 2, &[";", ","])?;
                Some(blank(self.bytes(at + 2, end - 1)))
            }
            "{" if is_width => Some(blank(self.bytes(at + 2, self.closing(at + 2)?))),
            _ => None,
        }
    }

    /// `if consteval` and `if !consteval`.
    pub(super) fn if_consteval(&self, at: usize) -> Option<FilledGap> {
        let is_negated = self.token(at + 1) == "!";
        let word = at + 1 + usize::from(is_negated);
        let is_it = self.token(at) == "if" && self.token(word) == "consteval";
        is_it.then(|| FilledGap { range: self.bytes(at + 1, word), replacement: "(1)".to_owned() })
    }

    /// `[[nodiscard]]` and other attributes.
    pub(super) fn attribute(&self, at: usize) -> Option<FilledGap> {
        let is_it = self.are(at, &["[", "["]) && self.is_word(at + 2);
        let close = is_it.then(|| self.closing(at))??;
        self.are(close - 1, &["]", "]"]).then(|| blank(self.bytes(at, close)))
    }

    /// `typeof(x)` and `_BitInt(8)`, which are types.
    pub(super) fn type_of(&self, at: usize) -> Option<FilledGap> {
        let is_it = matches!(self.token(at), "typeof" | "typeof_unqual" | "_BitInt");
        let close = (is_it && self.token(at + 1) == "(").then(|| self.closing(at + 1))??;
        Some(FilledGap { range: self.bytes(at, close), replacement: "int".to_owned() })
    }

    /// `: unsigned` behind the name of an enumeration.
    pub(super) fn enum_type(&self, at: usize) -> Option<FilledGap> {
        let is_named = self.token(at) == "enum" && self.is_word(at + 1);
        let colon = at + 1 + usize::from(is_named);
        if self.token(at) != "enum" || self.token(colon) != ":" {
            return None;
        }
        let is_type = |place: &usize| self.is_word(*place);
        let end = (colon + 1..self.len()).take_while(is_type).last()?;
        Some(blank(self.bytes(colon, end)))
    }

    /// A line with `#embed`.
    pub(super) fn embed(&self, at: usize) -> Option<FilledGap> {
        let is_it = self.are(at, &["#", "embed"]) && self.begins_line(at);
        let start = is_it.then(|| self.tokens[at].start)?;
        let length = self.text[start..].find('\n').unwrap_or(self.text.len() - start);
        Some(blank(start..start + length))
    }

    /// `range s` in `for range s {`, whose block the grammar takes for a literal of the type `s`.
    pub(super) fn bare_range(&self, at: usize) -> Option<FilledGap> {
        if self.token(at) != "range" || self.before(at) != "for" {
            return None;
        }
        let end = self.next_of(at + 1, &["{", "[", ";"])?;
        (self.token(end) == "{").then(|| blank(self.bytes(at, end - 1)))
    }

    /// `r;` in `try (r; var q = x())`: variables as resources, before others.
    pub(super) fn named_resource(&self, at: usize) -> Option<FilledGap> {
        if !self.are(at, &["try", "("]) {
            return None;
        }
        let (mut place, mut last) = (at + 2, None);
        loop {
            let is_name = |place: &usize| self.is_word(*place) || self.token(*place) == ".";
            let end = (place..self.len()).find(|place| !is_name(place))?;
            // The last one stays.
            if end == place || self.token(end) != ";" || self.token(end + 1) == ")" {
                return Some(blank(self.bytes(at + 2, last?)));
            }
            (place, last) = (end + 1, Some(end));
        }
    }

    /// `; y` in `->(x; y)`: variables of the block alone.
    pub(super) fn lambda_locals(&self, at: usize) -> Option<FilledGap> {
        let open = self.are(at, &["-", ">", "("]).then_some(at + 2)?;
        let close = self.closing(open)?;
        let start = self.next_of(open + 1, &[";", ")"]).filter(|start| *start < close)?;
        Some(blank(self.bytes(start, close - 1)))
    }

    /// The `+` in `1e+22`, as JSON has it.
    pub(super) fn signed_exponent(&self, at: usize) -> Option<FilledGap> {
        let is_exponent = self.is_number(at) && self.token(at).ends_with(['e', 'E']);
        let is_it = is_exponent && self.token(at + 1) == "+" && self.is_number(at + 2);
        let range = || self.bytes(at + 1, at + 1);
        is_it.then(|| FilledGap { range: range(), replacement: "0".to_owned() })
    }

    /// A table in braces with line breaks, comments or a comma behind its last value.
    pub(super) fn inline_table(&self, at: usize) -> Option<FilledGap> {
        let opens = self.token(at) == "{" && matches!(self.before(at), "=" | "," | "[");
        let close = opens.then(|| self.closing(at))??;
        let range = self.bytes(at, close);
        let mut one_line = String::with_capacity(range.len());
        for line in self.text[range.clone()].split_inclusive('\n') {
            let code = line.find('#').map_or(line, |comment| &line[..comment]);
            let code = code.trim_end_matches(['\n', '\r']);
            one_line.push_str(code);
            one_line.push_str(&" ".repeat(line.len() - code.len()));
        }
        let values = one_line.strip_suffix('}')?.trim_end();
        if let Some(last) = values.strip_suffix(',') {
            let comma = last.len();
            one_line.replace_range(comma..=comma, " ");
        }
        (one_line != self.text[range.clone()]).then_some(FilledGap { range, replacement: one_line })
    }

    /// A time without seconds.
    pub(super) fn short_time(&self, at: usize) -> Option<FilledGap> {
        let is_time = self.token(at) == "="
            && self.is_number(at + 1)
            && self.token(at + 2) == ":"
            && self.is_number(at + 3)
            && self.token(at + 4) != ":";
        let range = || self.bytes(at + 1, at + 3);
        is_time.then(|| FilledGap { range: range(), replacement: "1".to_owned() })
    }

    /// `\e` and `\x41` in a text.
    pub(super) fn short_escape(&self, at: usize) -> Option<FilledGap> {
        let is_escape = self.token(at) == "\\" && self.token(at + 1).starts_with(['e', 'x']);
        let start = self.tokens[at].start;
        is_escape.then(|| FilledGap { range: start..start + 2, replacement: "\\n".to_owned() })
    }
}
