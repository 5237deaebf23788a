//! The types of a component's functions, as far as their values have a form in JSON.
//!
//! A type comes from a stranger: how much of it is looked at is bounded, and what has no form in
//! JSON is refused with the reason.

use wasmtime::component::Type;
use wasmtime::component::types::{Case, ComponentFunc, Field};

/// Most types, fields, cases and names of one function.
const NODES_MAX: usize = 4096;
/// Most levels of a type.
const DEPTH_MAX: usize = 32;

/// A type whose values have a form in JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Bool,
    Integer(Integer),
    Float32,
    Float64,
    Char,
    String,
    List(Box<Self>),
    Record(Vec<(String, Self)>),
    Tuple(Vec<Self>),
    Variant(Vec<(String, Option<Self>)>),
    Enum(Vec<String>),
    Option(Box<Self>),
    /// The types of `ok` and of `error`.
    Result(Option<Box<Self>>, Option<Box<Self>>),
    Flags(Vec<String>),
}

/// An integer type of WIT; its range bounds the number in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integer {
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
}

/// What a function takes and returns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signature {
    pub(crate) parameters: Vec<(String, Shape)>,
    pub(crate) returns: Returns,
}

/// What a function returns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Returns {
    Nothing,
    Value(Shape),
    /// A `result`: the output, or the error.
    Fallible {
        ok: Option<Shape>,
        error: Option<Shape>,
    },
}

/// Counts what was looked at.
struct ShapeReader {
    nodes: usize,
    depth: usize,
}

// === impl Signature ===

impl Signature {
    /// Reads the type of a function.
    ///
    /// # Errors
    ///
    /// Why it cannot be a tool.
    pub(crate) fn of(function: &ComponentFunc) -> Result<Self, String> {
        if function.async_() {
            return Err("it is async".to_owned());
        }
        let mut reader = ShapeReader { nodes: 0, depth: 0 };
        let mut parameters = Vec::new();
        for (name, kind) in function.params() {
            let shape = reader.read(&kind).map_err(|why| format!("its `{name}` {why}"))?;
            parameters.push((name.to_owned(), shape));
        }
        let mut results = function.results();
        let returns = match (results.next(), results.next()) {
            (None, _) => Returns::Nothing,
            (Some(kind), None) => {
                match reader.read(&kind).map_err(|why| format!("its result {why}"))? {
                    Shape::Result(ok, error) => {
                        Returns::Fallible { ok: ok.map(|ok| *ok), error: error.map(|error| *error) }
                    }
                    shape => Returns::Value(shape),
                }
            }
            _ => return Err("it has more than one result".to_owned()),
        };
        Ok(Self { parameters, returns })
    }

    /// How many values the function returns.
    pub(crate) fn results(&self) -> usize {
        usize::from(self.returns != Returns::Nothing)
    }
}

// === impl ShapeReader ===

impl ShapeReader {
    fn count(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES_MAX {
            return Err(format!("has more than {NODES_MAX} parts"));
        }
        Ok(())
    }

    fn read(&mut self, kind: &Type) -> Result<Shape, String> {
        if self.depth == DEPTH_MAX {
            return Err(format!("is nested deeper than {DEPTH_MAX} levels"));
        }
        self.count(1)?;
        self.depth += 1;
        let shape = self.read_unbounded(kind);
        self.depth -= 1;
        shape
    }

    fn read_unbounded(&mut self, kind: &Type) -> Result<Shape, String> {
        let refused = |what: &str| Err(format!("has {what}, which JSON cannot hold"));
        Ok(match kind {
            Type::Bool => Shape::Bool,
            Type::S8 => Shape::Integer(Integer::S8),
            Type::U8 => Shape::Integer(Integer::U8),
            Type::S16 => Shape::Integer(Integer::S16),
            Type::U16 => Shape::Integer(Integer::U16),
            Type::S32 => Shape::Integer(Integer::S32),
            Type::U32 => Shape::Integer(Integer::U32),
            Type::S64 => Shape::Integer(Integer::S64),
            Type::U64 => Shape::Integer(Integer::U64),
            Type::Float32 => Shape::Float32,
            Type::Float64 => Shape::Float64,
            Type::Char => Shape::Char,
            Type::String => Shape::String,
            Type::List(list) => Shape::List(Box::new(self.read(&list.ty())?)),
            Type::Record(record) => {
                self.count(record.fields().len())?;
                let read = |field: Field<'_>| Ok((field.name.to_owned(), self.read(&field.ty)?));
                Shape::Record(record.fields().map(read).collect::<Result<_, String>>()?)
            }
            Type::Tuple(tuple) => {
                self.count(tuple.types().len())?;
                Shape::Tuple(tuple.types().map(|kind| self.read(&kind)).collect::<Result<_, _>>()?)
            }
            Type::Variant(variant) => {
                self.count(variant.cases().len())?;
                let read = |case: Case<'_>| {
                    let payload = case.ty.map(|kind| self.read(&kind)).transpose()?;
                    Ok((case.name.to_owned(), payload))
                };
                Shape::Variant(variant.cases().map(read).collect::<Result<_, String>>()?)
            }
            Type::Enum(names) => Shape::Enum(self.names(names.names())?),
            Type::Flags(names) => Shape::Flags(self.names(names.names())?),
            Type::Option(option) => Shape::Option(Box::new(self.read(&option.ty())?)),
            Type::Result(result) => {
                let ok = result.ok().map(|kind| self.read(&kind)).transpose()?;
                let error = result.err().map(|kind| self.read(&kind)).transpose()?;
                Shape::Result(ok.map(Box::new), error.map(Box::new))
            }
            Type::Own(_) | Type::Borrow(_) => return refused("a resource"),
            Type::Future(_) => return refused("a future"),
            Type::Stream(_) => return refused("a stream"),
            Type::ErrorContext => return refused("an error context"),
            Type::Map(_) => return refused("a map"),
            Type::FixedLengthList(_) => return refused("a list of a fixed length"),
        })
    }

    fn names<'a>(
        &mut self,
        names: impl ExactSizeIterator<Item = &'a str>,
    ) -> Result<Vec<String>, String> {
        self.count(names.len())?;
        Ok(names.map(str::to_owned).collect())
    }
}

// === impl Shape ===

impl Shape {
    /// The cases of a variant, or of a result, which is one.
    pub(crate) fn cases(&self) -> Vec<(&str, Option<&Self>)> {
        match self {
            Self::Variant(cases) => {
                cases.iter().map(|(name, payload)| (name.as_str(), payload.as_ref())).collect()
            }
            Self::Result(ok, error) => vec![("ok", ok.as_deref()), ("error", error.as_deref())],
            _ => Vec::new(),
        }
    }
}

// === impl Integer ===

impl Integer {
    /// The least and the greatest value.
    pub(crate) fn range(self) -> (i64, u64) {
        match self {
            Self::S8 => (i8::MIN.into(), i8::MAX as u64),
            Self::U8 => (0, u8::MAX.into()),
            Self::S16 => (i16::MIN.into(), i16::MAX as u64),
            Self::U16 => (0, u16::MAX.into()),
            Self::S32 => (i32::MIN.into(), i32::MAX as u64),
            Self::U32 => (0, u32::MAX.into()),
            Self::S64 => (i64::MIN, i64::MAX as u64),
            Self::U64 => (0, u64::MAX),
        }
    }
}
