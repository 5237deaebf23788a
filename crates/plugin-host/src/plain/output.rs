//! Values of a component's types, written as JSON within a bound.

use std::fmt::Write as _;

use wasmtime::component::Val;

use super::arguments::pointer;

/// Why a value has no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unwritable {
    /// It would be longer than the bound.
    TooLong,
    /// It, or a part of it, is something that JSON cannot hold.
    Formless {
        /// The keys and indices that lead to it, the last one first.
        path: Vec<String>,
        what: String,
    },
}

/// Writes a value as JSON of so many bytes at most.
///
/// # Errors
///
/// Where it would be longer, or a number is NaN or infinite.
pub(crate) fn json(value: &Val, bytes_max: usize) -> Result<String, Unwritable> {
    let mut writer = BoundedWriter { text: String::new(), bytes_max };
    writer.value(value)?;
    Ok(writer.text)
}

struct BoundedWriter {
    text: String,
    bytes_max: usize,
}

// === impl BoundedWriter ===

impl BoundedWriter {
    fn put(&mut self, text: &str) -> Result<(), Unwritable> {
        if text.len() > self.bytes_max - self.text.len() {
            return Err(Unwritable::TooLong);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn value(&mut self, value: &Val) -> Result<(), Unwritable> {
        match value {
            Val::Bool(value) => self.put(if *value { "true" } else { "false" }),
            Val::S8(number) => self.number((*number).into()),
            Val::U8(number) => self.number((*number).into()),
            Val::S16(number) => self.number((*number).into()),
            Val::U16(number) => self.number((*number).into()),
            Val::S32(number) => self.number((*number).into()),
            Val::U32(number) => self.number((*number).into()),
            Val::S64(number) => self.number((*number).into()),
            Val::U64(number) => self.number((*number).into()),
            Val::Float32(number) => {
                self.float(number.is_finite(), *number, serde_json::to_string(number))
            }
            Val::Float64(number) => {
                self.float(number.is_finite(), *number, serde_json::to_string(number))
            }
            Val::Char(char) => self.string(char.encode_utf8(&mut [0; 4])),
            Val::String(text) | Val::Enum(text) => self.string(text),
            Val::List(items) | Val::Tuple(items) => self.items(items),
            Val::Record(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.as_str(), value));
                self.object(fields)
            }
            Val::Variant(name, payload) => self.case(name, payload.as_deref()),
            Val::Result(Ok(payload)) => self.case("ok", payload.as_deref()),
            Val::Result(Err(payload)) => self.case("error", payload.as_deref()),
            Val::Option(None) => self.put("null"),
            Val::Option(Some(held)) if matches!(**held, Val::Option(_)) => {
                self.object(std::iter::once(("some", &**held)))
            }
            Val::Option(Some(held)) => self.value(held),
            Val::Flags(names) => {
                let mut separator = "[";
                for name in names {
                    self.put(separator)?;
                    self.string(name)?;
                    separator = ",";
                }
                self.put(if names.is_empty() { "[]" } else { "]" })
            }
            Val::Map(_) | Val::FixedLengthList(_) => Err(formless("a value of an unknown type")),
            Val::Resource(_) | Val::Future(_) | Val::Stream(_) | Val::ErrorContext(_) => {
                Err(formless("a resource"))
            }
        }
    }

    fn number(&mut self, number: i128) -> Result<(), Unwritable> {
        self.put(&number.to_string())
    }

    fn float(
        &mut self,
        is_finite: bool,
        number: impl std::fmt::Display,
        text: serde_json::Result<String>,
    ) -> Result<(), Unwritable> {
        match text {
            Ok(text) if is_finite => self.put(&text),
            _ => Err(formless(&number.to_string())),
        }
    }

    fn string(&mut self, text: &str) -> Result<(), Unwritable> {
        self.put("\"")?;
        let mut rest = text;
        while let Some(at) = rest.find(|char: char| char < ' ' || char == '"' || char == '\\') {
            self.put(&rest[..at])?;
            let mut escaped = String::new();
            match rest.as_bytes()[at] {
                byte @ (b'"' | b'\\') => escaped.extend(['\\', byte.into()]),
                b'\n' => escaped.push_str("\\n"),
                b'\r' => escaped.push_str("\\r"),
                b'\t' => escaped.push_str("\\t"),
                byte => write!(escaped, "\\u{byte:04x}").map_err(|_| Unwritable::TooLong)?,
            }
            self.put(&escaped)?;
            rest = &rest[at + 1..];
        }
        self.put(rest)?;
        self.put("\"")
    }

    fn items(&mut self, items: &[Val]) -> Result<(), Unwritable> {
        self.put("[")?;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.put(",")?;
            }
            self.value(item).map_err(|why| why.within(&index.to_string()))?;
        }
        self.put("]")
    }

    fn object<'a>(
        &mut self,
        fields: impl Iterator<Item = (&'a str, &'a Val)>,
    ) -> Result<(), Unwritable> {
        self.put("{")?;
        for (index, (name, value)) in fields.enumerate() {
            if index > 0 {
                self.put(",")?;
            }
            self.string(name)?;
            self.put(":")?;
            self.value(value).map_err(|why| why.within(name))?;
        }
        self.put("}")
    }

    fn case(&mut self, name: &str, payload: Option<&Val>) -> Result<(), Unwritable> {
        match payload {
            None => self.string(name),
            Some(payload) => self.object(std::iter::once((name, payload))),
        }
    }
}

fn formless(what: &str) -> Unwritable {
    Unwritable::Formless { path: Vec::new(), what: what.to_owned() }
}

// === impl Unwritable ===

impl Unwritable {
    fn within(mut self, key: &str) -> Self {
        if let Self::Formless { path, .. } = &mut self {
            path.push(key.to_owned());
        }
        self
    }

    /// What is wrong with the output, where it is not only too long.
    pub(crate) fn explanation(&self) -> Option<String> {
        match self {
            Self::TooLong => None,
            Self::Formless { path, what } => {
                Some(format!("the output at `{}` is {what}, which JSON cannot hold", pointer(path)))
            }
        }
    }
}
