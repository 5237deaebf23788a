//! JSON with positions: typed access to a tree whose every node knows where it stands.

use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use moss_schema::nearest;

/// Something wrong at a location of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListProblem {
    /// The location, in bytes.
    pub(crate) span: Range<usize>,
    /// What is wrong there, in one sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) help: Option<String>,
}

/// One value of the tree.
#[derive(Clone, Copy)]
pub(crate) struct ListNode<'t>(&'t ast::Value<'t>);

/// The members of an object whose keys are all known.
pub(crate) struct Members<'t> {
    of: ListNode<'t>,
    properties: &'t [ObjectProp<'t>],
}

/// How lists are written: JSON, and comments.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads a text as JSON with comments.
pub(crate) fn read(text: &str) -> Result<ast::Value<'_>, ListProblem> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| {
        let range = error.range();
        let message = lowercase_first(&error.kind().to_string());
        ListProblem::at(range.start..range.end, format!("not JSON: {message}"))
    })?;
    parsed.value.ok_or_else(|| ListProblem::at(0..0, "the file is empty"))
}

/// Returns line and column, in characters, from 1, of a byte of a text.
pub(crate) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

// === impl ListProblem ===

impl ListProblem {
    pub(crate) fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

// === impl ListNode ===

impl<'t> ListNode<'t> {
    pub(crate) fn root(tree: &'t ast::Value<'t>) -> Self {
        Self(tree)
    }

    pub(crate) fn start(self) -> usize {
        self.0.start()
    }

    pub(crate) fn problem(self, message: impl Into<String>) -> ListProblem {
        ListProblem::at(self.0.start()..self.0.end(), message)
    }

    /// Reads an object that has no other keys than these, and none twice.
    pub(crate) fn object(self, known: &[&str]) -> Result<Members<'t>, ListProblem> {
        let ast::Value::Object(object) = self.0 else {
            return Err(self.expected("an object"));
        };
        for (index, property) in object.properties.iter().enumerate() {
            let key = property.name.as_str();
            let refused = |message: String| {
                ListProblem::at(property.name.start()..property.name.end(), message)
            };
            if !known.contains(&key) {
                let problem = refused(format!("unknown key `{key}`"));
                return Err(problem.help(match nearest(key, known.iter().copied()) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => format!("known keys: {}", known.join(", ")),
                }));
            }
            if object.properties[..index].iter().any(|earlier| earlier.name.as_str() == key) {
                return Err(refused(format!("the key `{key}` is given twice")));
            }
        }
        Ok(Members { of: self, properties: &object.properties })
    }

    /// Reads an object with any keys, none twice, of at most so many members.
    pub(crate) fn members(
        self,
        count_max: usize,
    ) -> Result<impl Iterator<Item = (&'t str, Self)>, ListProblem> {
        let ast::Value::Object(object) = self.0 else {
            return Err(self.expected("an object"));
        };
        let keys: Vec<&str> = object.properties.iter().map(|p| p.name.as_str()).collect();
        if let Some(first_above) = object.properties.get(count_max) {
            return Err(Self(&first_above.value).problem(format!("more than {count_max} members")));
        }
        // Only to find keys that are given twice.
        self.object(&keys)?;
        Ok(object.properties.iter().map(|p| (p.name.as_str(), Self(&p.value))))
    }

    /// The keys of an object, with where they start.
    pub(crate) fn keys(self) -> impl Iterator<Item = (&'t str, usize)> {
        let properties = match self.0 {
            ast::Value::Object(object) => object.properties.as_slice(),
            _ => &[],
        };
        properties.iter().map(|property| (property.name.as_str(), property.name.start()))
    }

    /// Reads an array of at most so many elements.
    pub(crate) fn array(self, count_max: usize) -> Result<impl Iterator<Item = Self>, ListProblem> {
        let ast::Value::Array(array) = self.0 else {
            return Err(self.expected("an array"));
        };
        match array.elements.get(count_max) {
            Some(first_above) => {
                Err(Self(first_above).problem(format!("more than {count_max} elements")))
            }
            None => Ok(array.elements.iter().map(Self)),
        }
    }

    pub(crate) fn string(self) -> Result<&'t str, ListProblem> {
        match self.0 {
            ast::Value::StringLit(string) => Ok(&string.value),
            _ => Err(self.expected("a string")),
        }
    }

    pub(crate) fn integer(self) -> Result<u64, ListProblem> {
        match self.0 {
            ast::Value::NumberLit(number) => {
                number.value.parse().map_err(|_| self.problem("expected a whole number"))
            }
            _ => Err(self.expected("a number")),
        }
    }

    pub(crate) fn boolean(self) -> Result<bool, ListProblem> {
        match self.0 {
            ast::Value::BooleanLit(boolean) => Ok(boolean.value),
            _ => Err(self.expected("true or false")),
        }
    }

    /// Reads any value, keeping the order of keys.
    pub(crate) fn value(self) -> Result<Value, ListProblem> {
        Ok(match self.0 {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(boolean) => Value::Bool(boolean.value),
            ast::Value::StringLit(string) => Value::String(string.value.clone().into_owned()),
            ast::Value::NumberLit(number) => serde_json::from_str(number.value)
                .map_err(|_| self.problem("the number is out of range"))?,
            ast::Value::Array(array) => {
                let values = array.elements.iter().map(|element| ListNode(element).value());
                Value::Array(values.collect::<Result<_, _>>()?)
            }
            ast::Value::Object(object) => {
                let keys: Vec<&str> = object.properties.iter().map(|p| p.name.as_str()).collect();
                // Only to find keys that are given twice.
                self.object(&keys)?;
                let mut map = Map::new();
                for property in &object.properties {
                    map.insert(
                        property.name.as_str().to_owned(),
                        ListNode(&property.value).value()?,
                    );
                }
                Value::Object(map)
            }
        })
    }

    pub(crate) fn expected(self, what: &str) -> ListProblem {
        let got = match self.0 {
            ast::Value::StringLit(_) => "a string",
            ast::Value::NumberLit(_) => "a number",
            ast::Value::BooleanLit(_) => "a boolean",
            ast::Value::Object(_) => "an object",
            ast::Value::Array(_) => "an array",
            ast::Value::NullKeyword(_) => "null",
        };
        self.problem(format!("expected {what}, got {got}"))
    }
}

// === impl Members ===

impl<'t> Members<'t> {
    pub(crate) fn optional(&mut self, key: &str) -> Option<ListNode<'t>> {
        let property = self.properties.iter().find(|property| property.name.as_str() == key);
        property.map(|property| ListNode(&property.value))
    }

    pub(crate) fn required(&mut self, key: &str) -> Result<ListNode<'t>, ListProblem> {
        let (start, of) = (self.of.start(), self.of);
        self.optional(key).ok_or_else(|| ListProblem {
            // The opening brace: the whole object would be too much to show.
            span: start..start + 1,
            ..of.problem(format!("the key `{key}` is missing"))
        })
    }
}
