//! Tools as the calls of a history show them: names, and what the arguments looked like.

use std::collections::{BTreeSet, HashMap};

use moss_schema::json_type;
use serde_json::{Map, Value, json};

use super::super::history::HistoryCall;
use super::super::limits::TOOLS_MAX;
use super::free_form_parameters;
use crate::registry::ToolDefinition;

/// How many parameters a tool gets; what else its calls had is allowed all the same.
const PARAMETERS_MAX: usize = 128;

/// A tool that calls show.
pub(super) struct Inferred {
    pub(super) definition: ToolDefinition,
    pub(super) is_free_form: bool,
}

/// What the calls of a tool show.
struct ObservedTool<'a> {
    name: &'a str,
    is_free_form: bool,
    /// The JSON types of each parameter, in the order in which they came.
    parameters: Vec<(&'a str, BTreeSet<&'static str>)>,
    places: HashMap<&'a str, usize>,
}

/// Works out the tools that calls show and that are not known, in the order of their first calls.
pub(super) fn infer<'a>(
    seen: impl Iterator<Item = HistoryCall<'a>>,
    known: &[ToolDefinition],
) -> Vec<Inferred> {
    let known: BTreeSet<&str> = known.iter().map(|tool| tool.name.as_str()).collect();
    let mut shapes: Vec<ObservedTool<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for call in seen.filter(|call| !known.contains(call.name)) {
        let place = match places.get(call.name) {
            Some(place) => *place,
            None if shapes.len() + known.len() >= TOOLS_MAX => continue,
            None => {
                places.insert(call.name, shapes.len());
                shapes.push(ObservedTool::new(call.name));
                shapes.len() - 1
            }
        };
        shapes[place].add(&call);
    }
    shapes.into_iter().map(ObservedTool::into_tool).collect()
}

// === impl ObservedTool ===

impl<'a> ObservedTool<'a> {
    fn new(name: &'a str) -> Self {
        Self { name, is_free_form: false, parameters: Vec::new(), places: HashMap::new() }
    }

    fn add(&mut self, call: &HistoryCall<'a>) {
        self.is_free_form |= call.is_free_form;
        for (key, value) in call.arguments.into_iter().flatten() {
            let place = match self.places.get(key.as_str()) {
                Some(place) => *place,
                None if self.parameters.len() >= PARAMETERS_MAX => continue,
                None => {
                    self.places.insert(key, self.parameters.len());
                    self.parameters.push((key, BTreeSet::new()));
                    self.parameters.len() - 1
                }
            };
            self.parameters[place].1.insert(json_type(value));
        }
    }

    fn into_tool(self) -> Inferred {
        let parameters = match self.is_free_form {
            true => free_form_parameters(None),
            false => {
                let properties = self.parameters.into_iter().map(|(key, mut types)| {
                    if types.contains("number") {
                        types.remove("integer");
                    }
                    let types: Vec<&str> = types.into_iter().collect();
                    let kind = match types.as_slice() {
                        [only] => json!(only),
                        several => json!(several),
                    };
                    (key.to_owned(), json!({ "type": kind }))
                });
                let properties: Map<String, Value> = properties.collect();
                json!({
                    "type": "object",
                    "properties": properties,
                    "additionalProperties": true,
                })
            }
        };
        let name = self.name.to_owned();
        let definition = ToolDefinition { name, parameters, ..Default::default() };
        Inferred { definition, is_free_form: self.is_free_form }
    }
}
