//! Calls as Python has them: keyword arguments whose values are written out. Nothing is computed: a
//! variable, a sum or a call inside of a call is no value.

use serde_json::{Map, Value};

use super::text::{Cursor, number};
use super::{NO_CALL, NamedArguments, Not, NotationResult};

/// The most bytes of the name of a tool.
const NAME_BYTES_MAX: usize = 160;
/// Words for values, those of JSON too.
const WORDS: &[(&str, Value)] = &[
    ("True", Value::Bool(true)),
    ("true", Value::Bool(true)),
    ("False", Value::Bool(false)),
    ("false", Value::Bool(false)),
    ("None", Value::Null),
    ("null", Value::Null),
];

/// What a character behind a backslash means.
const ESCAPES: &[(char, char)] = &[
    ('n', '\n'),
    ('t', '\t'),
    ('r', '\r'),
    ('b', '\u{8}'),
    ('f', '\u{c}'),
    ('a', '\u{7}'),
    ('v', '\u{b}'),
    ('\\', '\\'),
    ('\'', '\''),
    ('"', '"'),
];

/// The name of the first call, where calls begin here; a bracket may stand before it.
pub(in crate::parse::template) fn first_name(text: &str) -> Result<&str, Not> {
    let inner = text.strip_prefix('[').unwrap_or(text).trim_start();
    if text.len() - inner.len() > NAME_BYTES_MAX {
        return Err(Not::Here);
    }
    let near = &inner[..inner.floor_char_boundary(NAME_BYTES_MAX)];
    let length = near.find(|c| !of_name(c)).unwrap_or(near.len());
    let name = &near[..length];
    if !name.is_empty() && !name.starts_with(begins_name) {
        return Err(Not::Here);
    }
    match inner[length..].chars().next() {
        Some('(') if !name.is_empty() => Ok(name),
        None if length < NAME_BYTES_MAX => Err(Not::Yet),
        _ => Err(Not::Here),
    }
}

/// Whether a character may begin a name.
pub(super) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The calls of a text.
pub(super) fn calls(text: &str) -> NotationResult<Vec<NamedArguments>> {
    let mut cursor = Cursor::new(text);
    let mut calls = Vec::new();
    if cursor.take("[") {
        cursor.items("]", |cursor| {
            calls.push(call(cursor)?);
            Ok(())
        })?;
    } else {
        while cursor.peek().is_some() {
            calls.push(call(&mut cursor)?);
            cursor.take(",");
        }
    }
    if cursor.peek().is_some() { Err(NO_CALL) } else { Ok(calls) }
}

fn call(cursor: &mut Cursor<'_>) -> NotationResult<NamedArguments> {
    cursor.skip_blanks();
    let name = cursor.take_while(of_name).to_owned();
    cursor.expect("(")?;
    let mut arguments = Map::new();
    cursor.items(")", |cursor| {
        cursor.skip_blanks();
        let key = cursor.take_while(|c| c.is_alphanumeric() || c == '_');
        cursor.expect("=")?;
        let is_new = arguments.insert(key.to_owned(), value(cursor)?).is_none();
        if is_new && !key.is_empty() { Ok(()) } else { Err(NO_CALL) }
    })?;
    Ok((name, arguments))
}

fn value(cursor: &mut Cursor<'_>) -> NotationResult<Value> {
    match cursor.peek() {
        Some('{') => {
            cursor.skip(1);
            let mut fields = Map::new();
            cursor.items("}", |cursor| {
                let Value::String(key) = value(cursor)? else { return Err(NO_CALL) };
                cursor.expect(":")?;
                let value = value(cursor)?;
                fields.insert(key, value).map_or(Ok(()), |_| Err(NO_CALL))
            })?;
            Ok(Value::Object(fields))
        }
        Some(open @ ('[' | '(')) => {
            cursor.skip(1);
            let mut values = Vec::new();
            cursor.items(if open == '[' { "]" } else { ")" }, |cursor| {
                values.push(value(cursor)?);
                Ok(())
            })?;
            Ok(Value::Array(values))
        }
        Some('"' | '\'') => text(cursor, false).map(Value::from),
        Some('r') if cursor.rest()[1..].starts_with(['"', '\'']) => {
            cursor.skip(1);
            text(cursor, true).map(Value::from)
        }
        _ => {
            let word = cursor.take_while(|c| c.is_alphanumeric() || "+-._".contains(c));
            let known = WORDS.iter().find(|(known, _)| *known == word);
            known.map(|(_, value)| value.clone()).or_else(|| number(word)).ok_or(NO_CALL)
        }
    }
}

/// A text between quotes. `is_raw` says that backslashes in it are what they are.
fn text(cursor: &mut Cursor<'_>, is_raw: bool) -> NotationResult<String> {
    let rest = cursor.rest();
    let is_long = rest.starts_with("\"\"\"") || rest.starts_with("'''");
    let quote = &rest[..if is_long { 3 } else { 1 }];
    cursor.skip(quote.len());
    let mut read = String::new();
    loop {
        let rest = cursor.rest();
        let plain = rest.find(['\\', '"', '\'']).ok_or(NO_CALL)?;
        read.push_str(&rest[..plain]);
        let rest = &rest[plain..];
        cursor.skip(plain);
        if rest.starts_with(quote) {
            cursor.skip(quote.len());
            return Ok(read);
        }
        if !rest.starts_with('\\') {
            read.push_str(&rest[..1]);
            cursor.skip(1);
            continue;
        }
        let c = rest[1..].chars().next().ok_or(NO_CALL)?;
        cursor.skip(1 + c.len_utf8());
        if is_raw {
            read.extend(['\\', c]);
        } else {
            escaped(cursor, c, &mut read)?;
        }
    }
}

/// Whether a backslash in a text escapes something.
pub(super) fn has_escapes(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('\\') {
        let mut behind = behind.chars();
        let escaped = behind.next();
        if escaped.is_some_and(|c| "xuU\n".contains(c) || ESCAPES.iter().any(|(e, _)| *e == c)) {
            return true;
        }
        rest = behind.as_str();
    }
    false
}

/// What a backslash and this character say. What escapes nothing is what it is.
fn escaped(cursor: &mut Cursor<'_>, c: char, read: &mut String) -> NotationResult<()> {
    let digits = match c {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        // The end of a line goes with its backslash.
        '\n' => return Ok(()),
        _ => {
            match ESCAPES.iter().find(|(escape, _)| *escape == c) {
                Some((_, meant)) => read.push(*meant),
                None => read.extend(['\\', c]),
            }
            return Ok(());
        }
    };
    let unit = hex(cursor, digits)?;
    if let (4, 0xd800..0xdc00) = (digits, unit) {
        // JSON writes such a character in two halves; Python never does.
        let second = cursor.rest().strip_prefix("\\u").is_some();
        cursor.skip(if second { 2 } else { 0 });
        let units = [unit, if second { hex(cursor, 4)? } else { 0 }];
        let units = units.map(|unit| u16::try_from(unit).unwrap_or(0));
        let both = char::decode_utf16(units).next().and_then(Result::ok).ok_or(NO_CALL)?;
        read.push(both);
        return Ok(());
    }
    read.push(char::from_u32(unit).ok_or(NO_CALL)?);
    Ok(())
}

fn hex(cursor: &mut Cursor<'_>, digits: usize) -> NotationResult<u32> {
    let written = cursor.rest().get(..digits).ok_or(NO_CALL)?;
    let is_hex = written.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u32::from_str_radix(written, 16).ok().filter(|_| is_hex).ok_or(NO_CALL)?;
    cursor.skip(digits);
    Ok(unit)
}
