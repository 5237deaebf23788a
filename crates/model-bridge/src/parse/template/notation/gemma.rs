//! The braces of Gemma 4 and FunctionGemma: keys without quotes, texts between marks of their own.

use serde_json::{Map, Value};

use super::text::{Cursor, number};
use super::{NO_CALL, NotationResult};
use crate::diagnostic::RepairKind;

/// What ends a key or a word.
const SIGNS: &str = "{}[],:<>\"";

/// The arguments of a text, and what was changed to read them.
pub(super) fn arguments(
    text: &str,
    quote: &str,
) -> NotationResult<(Map<String, Value>, Vec<RepairKind>)> {
    let mut cursor = Cursor::new(text);
    let mut changes = Vec::new();
    cursor.expect("{")?;
    let fields = fields(&mut cursor, quote, &mut changes)?;
    if cursor.peek().is_some() { Err(NO_CALL) } else { Ok((fields, changes)) }
}

fn fields(
    cursor: &mut Cursor<'_>,
    quote: &str,
    changes: &mut Vec<RepairKind>,
) -> NotationResult<Map<String, Value>> {
    let mut fields = Map::new();
    cursor.items("}", |cursor| {
        let key = match cursor.take(quote) {
            true => text(cursor, quote)?,
            false => cursor.take_while(|c| !SIGNS.contains(c)).trim().to_owned(),
        };
        cursor.expect(":")?;
        if key.is_empty() {
            return Err(NO_CALL);
        }
        let value = value(cursor, quote, changes)?;
        fields.insert(key, value).map_or(Ok(()), |_| Err(NO_CALL))
    })?;
    Ok(fields)
}

fn value(
    cursor: &mut Cursor<'_>,
    quote: &str,
    changes: &mut Vec<RepairKind>,
) -> NotationResult<Value> {
    if cursor.take(quote) {
        return text(cursor, quote).map(Value::from);
    }
    if cursor.take("{") {
        return fields(cursor, quote, changes).map(Value::Object);
    }
    if cursor.take("[") {
        let mut values = Vec::new();
        cursor.items("]", |cursor| {
            values.push(value(cursor, quote, changes)?);
            Ok(())
        })?;
        return Ok(Value::Array(values));
    }
    let word = cursor.take_while(|c| !SIGNS.contains(c)).trim();
    match word {
        "" => Err(NO_CALL),
        "true" => Ok(Value::Bool(true)),
        "false" => Ok(Value::Bool(false)),
        "null" => Ok(Value::Null),
        _ => Ok(number(word).unwrap_or_else(|| {
            // The marks around the text are missing.
            if !changes.contains(&RepairKind::Quotes) {
                changes.push(RepairKind::Quotes);
            }
            Value::from(word)
        })),
    }
}

/// A text, the mark before it read.
fn text(cursor: &mut Cursor<'_>, quote: &str) -> NotationResult<String> {
    let rest = cursor.rest();
    let length = rest.find(quote).ok_or(NO_CALL)?;
    cursor.skip(length + quote.len());
    Ok(rest[..length].to_owned())
}
