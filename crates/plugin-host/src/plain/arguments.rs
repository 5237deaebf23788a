//! Arguments as JSON, made values of a component's types.
//!
//! They passed the tool's schema before; what does not fit a type after all is named by its
//! location.

use std::fmt;

use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::shape::{Integer, Shape};

/// A value that does not fit its type.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// The keys and indices that lead to it, the last one first.
    path: Vec<String>,
    expected: String,
}

/// Makes the values of the parameters.
///
/// # Errors
///
/// Where an argument does not fit.
pub(crate) fn values(
    parameters: &[(String, Shape)],
    arguments: &Value,
) -> Result<Vec<Val>, Mismatch> {
    Ok(fields(parameters, arguments)?.into_iter().map(|(_, value)| value).collect())
}

/// Makes a value.
///
/// # Errors
///
/// Where it does not fit.
pub(crate) fn value(shape: &Shape, json: &Value) -> Result<Val, Mismatch> {
    Ok(match shape {
        Shape::Bool => Val::Bool(json.as_bool().ok_or_else(|| expected("true or false"))?),
        Shape::Integer(kind) => integer(*kind, json)?,
        Shape::Float32 => {
            let number = json.as_f64().map(|number| number as f32);
            let number = number.filter(|number| number.is_finite());
            Val::Float32(number.ok_or_else(|| expected("a number that 32 bits can hold"))?)
        }
        Shape::Float64 => Val::Float64(json.as_f64().ok_or_else(|| expected("a number"))?),
        Shape::Char => {
            let mut chars = json.as_str().unwrap_or_default().chars();
            match (chars.next(), chars.next()) {
                (Some(char), None) => Val::Char(char),
                _ => return Err(expected("a string of one character")),
            }
        }
        Shape::String => Val::String(json.as_str().ok_or_else(|| expected("a string"))?.to_owned()),
        Shape::List(item) => {
            let items = json.as_array().ok_or_else(|| expected("an array"))?;
            Val::List(list(items.iter().map(|json| (&**item, json)))?)
        }
        Shape::Record(record) => Val::Record(fields(record, json)?),
        Shape::Tuple(shapes) => match json.as_array() {
            Some(items) if items.len() == shapes.len() => {
                Val::Tuple(list(shapes.iter().zip(items))?)
            }
            _ => return Err(expected(format!("an array of {} items", shapes.len()))),
        },
        Shape::Variant(_) => {
            let (name, payload) = case(shape, json)?;
            Val::Variant(name, payload.map(Box::new))
        }
        Shape::Result(..) => {
            let (name, payload) = case(shape, json)?;
            let payload = payload.map(Box::new);
            Val::Result(if name == "ok" { Ok(payload) } else { Err(payload) })
        }
        Shape::Enum(names) => Val::Enum(name(names, json)?),
        Shape::Option(inner) => option(inner, json)?,
        Shape::Flags(names) => flags(names, json)?,
    })
}

fn integer(kind: Integer, json: &Value) -> Result<Val, Mismatch> {
    let (least, greatest) = kind.range();
    let range = i128::from(least)..=i128::from(greatest);
    let whole = |number: &f64| number.fract() == 0.0;
    let number = json
        .as_i64()
        .map(i128::from)
        .or_else(|| json.as_u64().map(i128::from))
        .or_else(|| json.as_f64().filter(whole).map(|number| number as i128))
        .filter(|number| range.contains(number))
        .ok_or_else(|| expected(format!("an integer from {least} to {greatest}")))?;
    Ok(match kind {
        Integer::S8 => Val::S8(number as i8),
        Integer::U8 => Val::U8(number as u8),
        Integer::S16 => Val::S16(number as i16),
        Integer::U16 => Val::U16(number as u16),
        Integer::S32 => Val::S32(number as i32),
        Integer::U32 => Val::U32(number as u32),
        Integer::S64 => Val::S64(number as i64),
        Integer::U64 => Val::U64(number as u64),
    })
}

fn list<'a>(items: impl Iterator<Item = (&'a Shape, &'a Value)>) -> Result<Vec<Val>, Mismatch> {
    let item = |(index, (shape, json)): (usize, (&Shape, &Value))| {
        value(shape, json).map_err(|mismatch| mismatch.within(&index.to_string()))
    };
    items.enumerate().map(item).collect()
}

/// Reads an object; an optional key may be missing.
fn fields(shapes: &[(String, Shape)], json: &Value) -> Result<Vec<(String, Val)>, Mismatch> {
    let object = json.as_object().ok_or_else(|| expected("an object"))?;
    let is_known = |key: &String| shapes.iter().any(|(name, _)| name == key);
    if let Some(key) = object.keys().find(|key| !is_known(key)) {
        return Err(expected("no such key").within(key));
    }
    let field = |(name, shape): &(String, Shape)| {
        let json = match (object.get(name), shape) {
            (Some(json), _) => json,
            (None, Shape::Option(_)) => &Value::Null,
            (None, _) => return Err(expected("a value").within(name)),
        };
        let value = value(shape, json).map_err(|mismatch| mismatch.within(name))?;
        Ok((name.clone(), value))
    };
    shapes.iter().map(field).collect()
}

/// Reads the name of a case without a payload, or an object with the case as its one key.
fn case(shape: &Shape, json: &Value) -> Result<(String, Option<Val>), Mismatch> {
    let cases = shape.cases();
    let found = match json {
        Value::String(name) => {
            cases.iter().find(|(known, payload)| known == name && payload.is_none())
        }
        Value::Object(object) => only_key(object).and_then(|name| {
            cases.iter().find(|(known, payload)| known == name && payload.is_some())
        }),
        _ => None,
    };
    let Some((name, payload)) = found else {
        let forms = cases.iter().map(|(name, payload)| match payload {
            None => format!("\"{name}\""),
            Some(_) => format!("{{\"{name}\": …}}"),
        });
        return Err(expected(format!("one of {}", forms.collect::<Vec<_>>().join(", "))));
    };
    let payload = payload
        .map(|shape| value(shape, &json[*name]).map_err(|mismatch| mismatch.within(name)))
        .transpose()?;
    Ok(((*name).to_owned(), payload))
}

/// Reads null, or what an option holds; an option in an option is distinguished by the key `some`.
fn option(inner: &Shape, json: &Value) -> Result<Val, Mismatch> {
    if json.is_null() {
        return Ok(Val::Option(None));
    }
    let held = match inner {
        Shape::Option(_) => {
            let key = json.as_object().and_then(only_key);
            if key.is_none_or(|key| key != "some") {
                return Err(expected("null or {\"some\": …}"));
            }
            value(inner, &json["some"]).map_err(|mismatch| mismatch.within("some"))?
        }
        _ => value(inner, json)?,
    };
    Ok(Val::Option(Some(Box::new(held))))
}

fn flags(names: &[String], json: &Value) -> Result<Val, Mismatch> {
    let items = json.as_array().ok_or_else(|| expected("an array of names"))?;
    let mut set = Vec::with_capacity(names.len().min(items.len()));
    for (index, item) in items.iter().enumerate() {
        let within = |mismatch: Mismatch| mismatch.within(&index.to_string());
        let name = name(names, item).map_err(within)?;
        if set.contains(&name) {
            return Err(within(expected("each name once")));
        }
        set.push(name);
    }
    Ok(Val::Flags(set))
}

fn name(names: &[String], json: &Value) -> Result<String, Mismatch> {
    let found = json.as_str().and_then(|json| names.iter().find(|name| *name == json));
    found.cloned().ok_or_else(|| expected(format!("one of {}", names.join(", "))))
}

fn only_key(object: &Map<String, Value>) -> Option<&String> {
    object.keys().next().filter(|_| object.len() == 1)
}

fn expected(what: impl Into<String>) -> Mismatch {
    Mismatch { path: Vec::new(), expected: what.into() }
}

// === impl Mismatch ===

impl Mismatch {
    fn within(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at `{}`: expected {}", pointer(&self.path), self.expected)
    }
}

/// Writes a JSON pointer of keys and indices, the last one first.
pub(crate) fn pointer(path: &[String]) -> String {
    let escaped = |key: &String| format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    let pointer: String = path.iter().rev().map(escaped).collect();
    if pointer.is_empty() { "/".to_owned() } else { pointer }
}
