//! Scalars of YAML: what they read as, and how JSON is written so that YAML reads it as such.

use serde_json::Value;

/// Words that some versions of YAML read as something else than text.
const WORDS: [&str; 8] = ["yes", "no", "on", "off", "y", "n", "<<", "="];

/// How the text of a scalar is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScalarStyle {
    Plain,
    Single,
    Double,
}

/// Reads the text of a scalar that is written so; none where that is no text by the rules of YAML.
pub(super) fn text(written: &str) -> Option<String> {
    let written = written.replace("\r\n", "\n");
    let quoted = |quote: char| {
        let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner.to_owned())
    };
    match written.chars().next() {
        Some('\'') => folded(&quoted('\'')?, ScalarStyle::Single),
        Some('"') => folded(&quoted('"')?, ScalarStyle::Double),
        Some('|') => block(&written, false),
        Some('>') => block(&written, true),
        _ => folded(&written, ScalarStyle::Plain),
    }
}

/// Reads a scalar; none where versions of YAML differ about what it is, or it has no form in JSON.
pub(super) fn value(written: &str) -> Option<Value> {
    let text = text(written)?;
    if written.starts_with(['\'', '"', '|', '>']) {
        return Some(Value::from(text));
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::from(true)),
        "false" | "False" | "FALSE" => return Some(Value::from(false)),
        _ => {}
    }
    if !may_be_other(&text) {
        return Some(Value::from(text));
    }
    let is_same_everywhere = text.chars().all(|c| matches!(c, '0'..='9' | '-' | '.'));
    serde_json::from_str(&text).ok().filter(|_| is_same_everywhere)
}

/// Writes a value in one line, as JSON is.
pub(super) fn written(value: &Value) -> String {
    let mut line = String::new();
    for c in value.to_string().chars() {
        match c {
            // YAML does not take these as they are, or reads them as line ends.
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                line.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => line.push(c),
        }
    }
    line
}

/// Writes the key of a member, in quotes where it could be read as something else.
pub(super) fn key(name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_word)
        && value(name).is_some_and(|value| value.is_string());
    if is_plain { name.to_owned() } else { written(&Value::from(name)) }
}

/// Whether some version of YAML may read a plain text as a number, a switch or a time.
fn may_be_other(text: &str) -> bool {
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(text));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let is_special = [".inf", ".nan"].iter().any(|word| word.eq_ignore_ascii_case(unsigned));
    let is_of_numbers = |c: char| c.is_ascii_hexdigit() || "xXoO_.:+- tTzZ".contains(c);
    let may_be_number = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(is_of_numbers)
        && digits.matches('.').count() < 2;
    is_word || is_special || may_be_number
}

/// Joins the lines of a scalar and resolves what is escaped in it.
fn folded(written: &str, style: ScalarStyle) -> Option<String> {
    let mut text = String::new();
    // White space before this is escaped and stays.
    let mut kept = 0;
    let mut chars = written.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                let end = kept.max(text.trim_end_matches([' ', '\t']).len());
                text.truncate(end);
                let mut breaks = 1;
                while let Some(c) = chars.next_if(|c| matches!(c, ' ' | '\t' | '\n')) {
                    breaks += usize::from(c == '\n');
                }
                let joined = if breaks == 1 { " ".to_owned() } else { "\n".repeat(breaks - 1) };
                text.push_str(&joined);
                kept = text.len();
            }
            '\'' if style == ScalarStyle::Single => {
                chars.next_if_eq(&'\'')?;
                text.push('\'');
            }
            '\\' if style == ScalarStyle::Double => {
                match escaped(&mut chars)? {
                    Some(c) => text.push(c),
                    None => while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {},
                }
                kept = text.len();
            }
            _ => text.push(c),
        }
    }
    Some(text)
}

/// Reads what follows a backslash: a character, or nothing where the line goes on.
fn escaped(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Option<char>> {
    let of_digits = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, count: usize| {
        let digits: Option<String> =
            (0..count).map(|_| chars.next().filter(char::is_ascii_hexdigit)).collect();
        char::from_u32(u32::from_str_radix(&digits?, 16).ok()?)
    };
    let c = match chars.next()? {
        '\n' => return Some(None),
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        c @ (' ' | '"' | '/' | '\\') => c,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => of_digits(chars, 2)?,
        'u' => of_digits(chars, 4)?,
        'U' => of_digits(chars, 8)?,
        _ => return None,
    };
    Some(Some(c))
}

/// Reads a scalar whose lines stand beneath its sign; none where its sign says how far they stand in.
fn block(written: &str, is_folded: bool) -> Option<String> {
    let (sign, lines) = written.split_once('\n').unwrap_or((written, ""));
    let sign = sign[1..].split('#').next().unwrap_or_default().trim();
    let keeps_end = match sign {
        "" => true,
        "-" => false,
        // How many empty lines are kept is not in what is written here.
        _ => return None,
    };
    let lines: Vec<&str> = lines.lines().collect();
    let first = lines.iter().find(|line| !line.trim().is_empty());
    let indent = first.map_or(0, |line| line.len() - line.trim_start_matches(' ').len());
    let lines: Vec<&str> =
        lines.iter().map(|line| line.get(indent..).unwrap_or_default()).collect();
    let is_apart = |line: &str| line.is_empty() || line.starts_with([' ', '\t']);
    if is_folded && lines.iter().any(|line| is_apart(line)) {
        // Lines that stand in further and empty ones are not joined like others.
        return None;
    }
    let mut text = lines.join(if is_folded { " " } else { "\n" });
    if keeps_end && !text.is_empty() {
        text.push('\n');
    }
    Some(text)
}
