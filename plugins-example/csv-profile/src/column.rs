//! What is known of one column while its values pass by. Pure.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Most distinct values that are distinguished.
pub(crate) const DISTINCT_MAX: usize = 5000;
/// How many different values are shown.
const EXAMPLES: usize = 3;
/// Longest value that is shown, in characters.
const SHOWN_CHARS_MAX: usize = 80;
/// Texts that stand for no value, in small letters.
const EMPTY: &[&str] = &["", "na", "n/a", "null"];

/// What is in a column.
#[moss::data]
pub(crate) struct Profile {
    /// Its name.
    name: String,
    /// What all its values are; `empty` where there are none.
    #[serde(rename = "type")]
    kind: Kind,
    /// How many values are empty.
    empty: u64,
    /// How many different values there are, without the empty ones.
    distinct: u64,
    /// Whether there may be more of them: from 5000 on they are not counted.
    distinct_is_least: bool,
    /// The least value: by number where all are numbers, else by text.
    min: Option<String>,
    /// The greatest value.
    max: Option<String>,
    /// The mean, where all values are numbers.
    mean: Option<f64>,
    /// The first three different values.
    examples: Vec<String>,
}

/// What values are. A column has the narrowest that fits all of them.
#[moss::data]
#[derive(Copy, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// No values.
    Empty,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `2026-01-31`, with or without a time.
    Date,
    /// Anything.
    Text,
}

/// A column of which some values have passed.
pub(crate) struct Column {
    name: String,
    kind: Kind,
    empty: u64,
    values: u64,
    /// Hashes: the values themselves may be long.
    distinct: HashSet<u64>,
    sum: f64,
    numbers: Option<(f64, f64)>,
    /// How the least and the greatest number are written.
    written: (String, String),
    texts: Option<(String, String)>,
    examples: Vec<String>,
}

// === impl Column ===

impl Column {
    pub(crate) fn new(name: String) -> Self {
        Self {
            name: shown(&name),
            kind: Kind::Empty,
            empty: 0,
            values: 0,
            distinct: HashSet::new(),
            sum: 0.0,
            numbers: None,
            written: (String::new(), String::new()),
            texts: None,
            examples: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, value: &str) {
        let value = value.trim();
        if EMPTY.iter().any(|empty| value.eq_ignore_ascii_case(empty)) {
            self.empty += 1;
            return;
        }
        self.values += 1;
        let (kind, number) = Kind::of(value);
        self.kind = self.kind.with(kind);
        match number {
            Some(number) => self.add_number(number, value),
            None => self.numbers = None,
        }
        self.add_text(value);
        if self.distinct.len() < DISTINCT_MAX {
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(value);
            if self.distinct.insert(hash) && self.examples.len() < EXAMPLES {
                self.examples.push(shown(value));
            }
        }
    }

    fn add_number(&mut self, number: f64, value: &str) {
        self.sum += number;
        match &mut self.numbers {
            None => {
                self.numbers = Some((number, number));
                self.written = (value.to_owned(), value.to_owned());
            }
            Some((least, greatest)) => {
                if number < *least {
                    *least = number;
                    self.written.0 = value.to_owned();
                }
                if number > *greatest {
                    *greatest = number;
                    self.written.1 = value.to_owned();
                }
            }
        }
    }

    fn add_text(&mut self, value: &str) {
        match &mut self.texts {
            None => self.texts = Some((value.to_owned(), value.to_owned())),
            Some((least, greatest)) => {
                if value < least.as_str() {
                    value.clone_into(least);
                }
                if value > greatest.as_str() {
                    value.clone_into(greatest);
                }
            }
        }
    }

    pub(crate) fn finish(self) -> Profile {
        let is_number = matches!(self.kind, Kind::Integer | Kind::Number);
        let range = if is_number { Some(self.written) } else { self.texts };
        let (min, max) = range.map(|(min, max)| (shown(&min), shown(&max))).unzip();
        Profile {
            name: self.name,
            kind: self.kind,
            empty: self.empty,
            distinct: self.distinct.len() as u64,
            distinct_is_least: self.distinct.len() == DISTINCT_MAX,
            min,
            max,
            mean: is_number.then(|| self.sum / self.values as f64),
            examples: self.examples,
        }
    }
}

// === impl Kind ===

impl Kind {
    /// Reports what a value is, and its number if it is one.
    fn of(value: &str) -> (Self, Option<f64>) {
        let is_numeric = value.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        if is_numeric
            && let Ok(number) = value.parse::<f64>()
            && number.is_finite()
        {
            let digits = value.trim_start_matches(['+', '-']);
            let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
            return match digits.bytes().all(|byte| byte.is_ascii_digit()) {
                // A number with leading zeros is the name of something, such as a postal code.
                _ if is_code => (Self::Text, None),
                true => (Self::Integer, Some(number)),
                false => (Self::Number, Some(number)),
            };
        }
        if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
            (Self::Boolean, None)
        } else if is_date(value) {
            (Self::Date, None)
        } else {
            (Self::Text, None)
        }
    }

    /// Returns the narrowest that fits both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, kind) | (kind, Self::Empty) => kind,
            (left, right) if left == right => left,
            (Self::Integer, Self::Number) | (Self::Number, Self::Integer) => Self::Number,
            _ => Self::Text,
        }
    }
}

/// `YYYY-MM-DD`, and whatever begins so and continues with `T` or a blank.
fn is_date(value: &str) -> bool {
    let bytes = value.as_bytes();
    let Some(day) = bytes.get(..10) else { return false };
    let is_shaped = day.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let number = |from: usize| (day[from] - b'0') * 10 + (day[from + 1] - b'0');
    is_shaped
        && (1..=12).contains(&number(5))
        && (1..=31).contains(&number(8))
        && matches!(bytes.get(10), None | Some(b'T' | b' '))
}

fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
