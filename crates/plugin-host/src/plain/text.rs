//! The types of functions in words: as in WIT, for tools that come without documentation.

use std::fmt::{self, Write as _};

use super::shape::{Integer, Returns, Shape, Signature};

/// Longest text of a function's types, in bytes; what is longer is cut.
const TEXT_BYTES_MAX: usize = 600;

/// A text that ends at its bound.
struct BoundedText(String);

/// Writes what a function takes and returns, as in WIT.
pub(crate) fn function(name: &str, signature: &Signature) -> String {
    let mut text = BoundedText(String::new());
    if write_function(&mut text, name, signature).is_err() {
        text.0.push('…');
    }
    text.0
}

fn write_function(text: &mut BoundedText, name: &str, signature: &Signature) -> fmt::Result {
    write!(text, "{name}: func(")?;
    separated(text, &signature.parameters, |text, (name, shape)| {
        write!(text, "{name}: ")?;
        kind(text, shape)
    })?;
    text.write_char(')')?;
    match &signature.returns {
        Returns::Nothing => Ok(()),
        Returns::Value(shape) => {
            text.write_str(" -> ")?;
            kind(text, shape)
        }
        Returns::Fallible { ok, error } => {
            text.write_str(" -> ")?;
            result(text, ok.as_ref(), error.as_ref())
        }
    }
}

fn kind(text: &mut BoundedText, shape: &Shape) -> fmt::Result {
    let named = |text: &mut BoundedText, what: &str, names: &[String]| {
        write!(text, "{what} {{ ")?;
        separated(text, names, |text, name| text.write_str(name))?;
        text.write_str(" }")
    };
    match shape {
        Shape::Bool => text.write_str("bool"),
        Shape::Integer(integer) => text.write_str(match integer {
            Integer::S8 => "s8",
            Integer::U8 => "u8",
            Integer::S16 => "s16",
            Integer::U16 => "u16",
            Integer::S32 => "s32",
            Integer::U32 => "u32",
            Integer::S64 => "s64",
            Integer::U64 => "u64",
        }),
        Shape::Float32 => text.write_str("f32"),
        Shape::Float64 => text.write_str("f64"),
        Shape::Char => text.write_str("char"),
        Shape::String => text.write_str("string"),
        Shape::List(item) => generic(text, "list", std::slice::from_ref(&**item)),
        Shape::Option(held) => generic(text, "option", std::slice::from_ref(&**held)),
        Shape::Tuple(items) => generic(text, "tuple", items),
        Shape::Record(fields) => {
            text.write_str("record { ")?;
            separated(text, fields, |text, (name, shape)| {
                write!(text, "{name}: ")?;
                kind(text, shape)
            })?;
            text.write_str(" }")
        }
        Shape::Variant(cases) => {
            text.write_str("variant { ")?;
            separated(text, cases, |text, (name, payload)| match payload {
                None => text.write_str(name),
                Some(payload) => generic_of(text, name, payload),
            })?;
            text.write_str(" }")
        }
        Shape::Result(ok, error) => result(text, ok.as_deref(), error.as_deref()),
        Shape::Enum(names) => named(text, "enum", names),
        Shape::Flags(names) => named(text, "flags", names),
    }
}

fn generic(text: &mut BoundedText, name: &str, of: &[Shape]) -> fmt::Result {
    write!(text, "{name}<")?;
    separated(text, of, kind)?;
    text.write_char('>')
}

fn generic_of(text: &mut BoundedText, name: &str, payload: &Shape) -> fmt::Result {
    write!(text, "{name}(")?;
    kind(text, payload)?;
    text.write_char(')')
}

fn result(text: &mut BoundedText, ok: Option<&Shape>, error: Option<&Shape>) -> fmt::Result {
    let part = |text: &mut BoundedText, shape: Option<&Shape>| match shape {
        Some(shape) => kind(text, shape),
        None => text.write_char('_'),
    };
    if ok.is_none() && error.is_none() {
        return text.write_str("result");
    }
    text.write_str("result<")?;
    part(text, ok)?;
    if error.is_some() {
        text.write_str(", ")?;
        part(text, error)?;
    }
    text.write_char('>')
}

fn separated<T>(
    text: &mut BoundedText,
    items: &[T],
    mut write: impl FnMut(&mut BoundedText, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.write_str(", ")?;
        }
        write(text, item)?;
    }
    Ok(())
}

// === impl BoundedText ===

impl fmt::Write for BoundedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = TEXT_BYTES_MAX - self.0.len();
        let end = text.floor_char_boundary(room);
        self.0.push_str(&text[..end]);
        if end < text.len() { Err(fmt::Error) } else { Ok(()) }
    }
}
