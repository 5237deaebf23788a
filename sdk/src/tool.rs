//! What a native tool is: a parameter struct that can run.
//!
//! [`AnyTool`] is the same with its types erased; it is the only place where arguments become
//! typed values.

use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::{BoxFuture, Context};
use crate::error::{ErrorCode, ToolError};
use crate::schema::{self, ParameterSchemas};
use crate::spec::{Annotations, Effect, ToolSpec, ToolText, Toolset};

/// A native tool. The implementing struct is its parameters: the struct's documentation is the
/// description that models read, the fields' documentation describes the parameters.
///
/// A field with `#[schemars(extend("x-extra" = true))]` is a parameter beyond the specification: it
/// must be optional, is always accepted, and is published only to those who ask for all parameters.
pub trait Tool: DeserializeOwned + JsonSchema + Send + Sized + 'static {
    /// The name that calls it.
    const NAME: &'static str;
    /// A short name for lists.
    const TITLE: &'static str;
    /// What it may do.
    const EFFECT: Effect;
    /// The group it belongs to.
    const TOOLSET: Toolset = Toolset::Base;
    /// Other accepted keys of a parameter.
    const ALIASES: &'static [(&'static str, &'static [&'static str])] = &[];
    /// What a call that succeeds returns; models read it as JSON.
    type Output: Serialize + JsonSchema + Send;

    /// Does the work. Effects go through the context.
    fn run(self, cx: Context) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;
}

/// A native tool behind a table entry.
pub trait AnyTool: Send + Sync {
    /// Describes the tool in English.
    fn spec(&self) -> ToolSpec;

    /// Binds arguments that passed the strict schema and runs the tool.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` where the arguments fit the schema but not the type; what the tool says.
    fn call(&self, arguments: Value, cx: Context) -> BoxFuture<'static, Result<Value, ToolError>>;
}

/// Makes a table entry of a tool.
pub fn erased<T: Tool>() -> Box<dyn AnyTool> {
    Box::new(Erased::<T>(PhantomData))
}

struct Erased<T>(PhantomData<fn() -> T>);

// === impl Erased ===

impl<T: Tool> AnyTool for Erased<T> {
    fn spec(&self) -> ToolSpec {
        let ParameterSchemas { strict: parameters_strict, published: parameters, extras } =
            ParameterSchemas::of::<T>();
        ToolSpec {
            name: T::NAME.to_owned(),
            effect: T::EFFECT,
            toolset: T::TOOLSET,
            text: text::<T>(&parameters_strict),
            text_zh: None,
            text_brief: None,
            parameters,
            extras,
            parameters_strict,
            output: schema::output::<T::Output>(),
            annotations: Annotations::default(),
            aliases: T::ALIASES
                .iter()
                .map(|(key, aliases)| {
                    ((*key).to_owned(), aliases.iter().map(|alias| (*alias).to_owned()).collect())
                })
                .collect(),
        }
    }

    fn call(&self, arguments: Value, cx: Context) -> BoxFuture<'static, Result<Value, ToolError>> {
        Box::pin(async move {
            let tool: T = serde_json::from_value(arguments)
                .map_err(|error| ToolError::new(ErrorCode::InvalidArguments, error.to_string()))?;
            let output = tool.run(cx).await?;
            serde_json::to_value(output)
                .map_err(|error| ToolError::new(ErrorCode::Internal, error.to_string()))
        })
    }
}

/// Collects a tool's English text from the documentation of its types.
fn text<T: Tool>(strict: &Value) -> ToolText {
    let description = |schema: &Value| {
        schema::unwrapped(schema.get("description").and_then(Value::as_str).unwrap_or_default())
    };
    let properties = strict.get("properties").and_then(Value::as_object);
    ToolText {
        title: T::TITLE.to_owned(),
        description: description(&schemars::schema_for!(T).into()),
        parameters: properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.clone(), description(schema)))
            .collect(),
    }
}
