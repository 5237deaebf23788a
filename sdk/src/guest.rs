//! The side of plugins: what a tool is there, what it may ask of moss, what it returns.
//!
//! A tool is a plain function under [`tool`](macro@crate::tool); [`export!`](crate::export) makes a
//! plugin of the tools it lists. A tool writes nothing: it returns [`Proposed`] edits, which people
//! see as a diff before they happen.
//!
//! ```
//! # extern crate moss_sdk as moss;
//! use moss::{Example, ToolError, json};
//!
//! moss::export! { tools: [shout] }
//!
//! /// What to shout.
//! #[moss::data]
//! struct Shout {
//!     /// The text.
//!     text: String,
//! }
//!
//! /// Returns a text in capitals.
//! #[moss::tool(idempotent, examples = examples)]
//! fn shout(parameters: Shout) -> Result<String, ToolError> {
//!     Ok(parameters.text.to_uppercase())
//! }
//!
//! fn examples() -> Vec<Example> {
//!     vec![Example::new("a word", json!({ "text": "ho" })).output(json!("HO"))]
//! }
//! # fn main() {}
//! ```
//!
//! Everything beyond that is a [`Capability`], which the plugin requests and the user grants:
//!
//! | capability | is used through |
//! | --- | --- |
//! | [`files`](Capability::files) | `std::fs`, by paths in the workspace; [`find_files`], [`read_text`] |
//! | [`http`](Capability::http) | `moss::guest::http`, with the feature `http`; or any crate for WASI |
//! | [`env`](Capability::env) | [`std::env::var`] |
//! | [`store`](Capability::store) | [`store`](mod@store) |
//! | [`tool`](Capability::tool) | [`toolbox`] |
//! | [`editor`](Capability::editor) | [`editor`](mod@editor) |
//! | [`index`](Capability::index) | [`index`](mod@index) |
//! | [`command`](Capability::command) | [`commands`] |
//!
//! What a result shows beside its output, such as an image, is added through [`mod@content`].

pub mod commands;
pub mod content;
mod contract;
pub mod editor;
mod files;
#[cfg(feature = "http")]
pub mod http;
pub mod index;
pub mod store;
pub mod toolbox;

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ErrorCode, ToolError};
use crate::schema;
use crate::spec::{Annotations, Effect};

use bindings::exports::moss::plugin::tools as wit;
use bindings::moss::plugin::{context, types};

pub use schemars;
pub use serde;
pub use serde_json;

/// The contract's types and functions, generated from `wit/`.
#[doc(hidden)]
#[allow(
    unsafe_code,
    missing_docs,
    clippy::allow_attributes_without_reason,
    reason = "generated; it calls and is called across the boundary of the component"
)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "plugin",
        pub_export_macro: true,
        default_bindings_module: "moss::guest::bindings",
        export_macro_name: "export_bindings",
    });
}

pub use files::{DEPTH_MAX, Found, find_files, io_error, read_text};
pub use wit::{Capability, Edit, Example};

/// Whether there is a host to ask. Without one, an author's own tests run a tool all the same, as long
/// as it needs no capability.
const IS_COMPONENT: bool = cfg!(target_family = "wasm");

/// A function under [`tool`](macro@crate::tool), as a type.
pub trait GuestTool {
    /// The name that calls it.
    const NAME: &'static str;
    /// A short name for lists.
    const TITLE: &'static str;
    /// What it does, for models and people.
    const DESCRIPTION: &'static str;
    /// What clients may show people about it.
    const ANNOTATIONS: Annotations;
    /// What a model fills in. Its doc comments are the descriptions of the parameters.
    type Parameters: DeserializeOwned + JsonSchema;
    /// An output alone, or one with edits: that decides the effect of the tool.
    type Return: ToolReturn;

    /// Runs the tool for one call.
    fn run(parameters: Self::Parameters) -> Self::Return;

    /// Calls that show what it does.
    fn examples() -> Vec<Example>;
}

/// What a function must return to be a tool: `Result<T, ToolError>`.
pub trait ToolReturn {
    /// The output and the edits.
    type Outcome: IntoOutput;

    /// Returns the usual form.
    ///
    /// # Errors
    ///
    /// What the tool says.
    fn into_result(self) -> Result<Self::Outcome, ToolError>;
}

/// What a tool returns when it succeeds: an output, or [`Proposed`] edits with an output. The type
/// decides whether a tool only reads.
pub trait IntoOutput {
    /// What the tool may do.
    const EFFECT: Effect;
    /// What the model reads.
    type Output: Serialize + JsonSchema;

    /// Separates what the model reads from the changes that are proposed.
    fn into_parts(self) -> (Self::Output, Vec<Edit>);
}

/// Edits that a tool proposes, and what it says about them.
#[derive(Debug, Clone)]
pub struct Proposed<T> {
    /// What the model reads once the edits are done.
    pub output: T,
    /// The edits, in order.
    pub edits: Vec<Edit>,
}

/// The parameters of a tool that takes none.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
pub struct NoParameters {}

/// How much a log message matters.
pub use context::Level;

/// Writes a message to the log of the call; does nothing in tests outside a component.
pub fn log(level: Level, message: impl fmt::Display) {
    if IS_COMPONENT {
        context::log(level, &message.to_string());
    }
}

/// Reports the progress of the call to its watchers; does nothing in tests outside a component.
pub fn progress(message: impl fmt::Display, done: u64, total: Option<u64>) {
    if IS_COMPONENT {
        context::progress(&message.to_string(), done, total);
    }
}

/// Whether the call is no longer wanted; a long loop asks this to stop early. Never in tests outside
/// a component.
pub fn is_cancelled() -> bool {
    IS_COMPONENT && context::cancelled()
}

/// Reads the settings that the user gave the plugin: `config` of its entry in `moss-tools.json`.
/// Give their type to [`export!`](crate::export) as well: then moss holds `config` to its schema
/// when it loads the list, and people see a mistake before any call. There are none in tests
/// outside a component.
///
/// # Errors
///
/// `InvalidArguments` where they do not fit the type.
pub fn settings<T: DeserializeOwned>() -> Result<T, ToolError> {
    let settings = if IS_COMPONENT { context::settings() } else { "{}".to_owned() };
    serde_json::from_str(&settings).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArguments, format!("the plugin's config: {error}"))
            .hint("correct `config` of the plugin in moss-tools.json")
    })
}

/// Makes a plugin of tools. Its name and version are those of the cargo package. What it requests,
/// and the type of its settings, may be left out.
///
/// ```
/// # extern crate moss_sdk as moss;
/// use moss::{Capability, ToolError};
///
/// moss::export! {
///     tools: [greet],
///     requests: [Capability::env("LANG", "greets in the person's language")],
///     settings: Settings,
/// }
///
/// /// What the user sets in `config`.
/// #[moss::data]
/// struct Settings {
///     /// Whom to greet; by default everybody.
///     name: Option<String>,
/// }
///
/// /// Greets.
/// #[moss::tool]
/// fn greet() -> Result<String, ToolError> {
///     let settings: Settings = moss::guest::settings()?;
///     let is_french = std::env::var("LANG").is_ok_and(|language| language.starts_with("fr"));
///     let greeting = if is_french { "Bonjour" } else { "Hello" };
///     Ok(format!("{greeting}, {}", settings.name.as_deref().unwrap_or("everybody")))
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    (
        tools: [$($tool:path),+ $(,)?]
        $(, requests: [$($request:expr),* $(,)?])?
        $(, settings: $settings:ty)?
        $(,)?
    ) => {
        const _: () = {
            struct Plugin;

            impl $crate::guest::bindings::exports::moss::plugin::tools::Guest for Plugin {
                fn describe() -> $crate::guest::bindings::exports::moss::plugin::tools::Description
                {
                    $crate::guest::bindings::exports::moss::plugin::tools::Description {
                        name: ::std::env!("CARGO_PKG_NAME").to_owned(),
                        version: ::std::env!("CARGO_PKG_VERSION").to_owned(),
                        capabilities: ::std::vec![$($($request),*)?],
                        settings: ::std::vec![$($crate::guest::settings_schema::<$settings>())?]
                            .pop(),
                        tools: ::std::vec![$($crate::guest::describe::<$tool>()),+],
                    }
                }

                fn call(
                    name: ::std::string::String,
                    arguments: ::std::string::String,
                ) -> ::std::result::Result<
                    $crate::guest::bindings::exports::moss::plugin::tools::Outcome,
                    $crate::guest::bindings::moss::plugin::types::Error,
                > {
                    $(if name == <$tool as $crate::guest::GuestTool>::NAME {
                        return $crate::guest::call::<$tool>(&arguments);
                    })+
                    ::std::result::Result::Err($crate::guest::unknown_tool(&name))
                }
            }

            $crate::guest::bindings::export_bindings!(Plugin with_types_in $crate::guest::bindings);
        };
    };
}

/// Describes a tool. Called by `export!`.
#[doc(hidden)]
pub fn describe<T: GuestTool>() -> wit::Tool {
    type OutcomeOf<T> = <<T as GuestTool>::Return as ToolReturn>::Outcome;
    wit::Tool {
        name: T::NAME.to_owned(),
        title: T::TITLE.to_owned(),
        description: T::DESCRIPTION.to_owned(),
        effect: match OutcomeOf::<T>::EFFECT {
            Effect::Read => wit::Effect::Read,
            Effect::Write | Effect::Exec => wit::Effect::Write,
        },
        parameters: schema::strict::<T::Parameters>().to_string(),
        output: schema::output::<<OutcomeOf<T> as IntoOutput>::Output>().to_string(),
        annotations: wit::Annotations {
            destructive: T::ANNOTATIONS.destructive,
            idempotent: T::ANNOTATIONS.idempotent,
            open_world: T::ANNOTATIONS.open_world,
        },
        examples: T::examples(),
    }
}

/// Derives the schema of settings. Called by `export!`.
#[doc(hidden)]
pub fn settings_schema<T: DeserializeOwned + JsonSchema>() -> String {
    schema::strict::<T>().to_string()
}

/// Runs a tool. Called by `export!`.
///
/// # Errors
///
/// What the tool says, and arguments that do not fit its type.
#[doc(hidden)]
pub fn call<T: GuestTool>(arguments: &str) -> Result<wit::Outcome, types::Error> {
    let parameters = serde_json::from_str(arguments)
        .map_err(|error| ToolError::new(ErrorCode::InvalidArguments, error.to_string()))?;
    let (output, edits) = T::run(parameters).into_result()?.into_parts();
    let output = serde_json::to_string(&output)
        .map_err(|error| ToolError::new(ErrorCode::PluginFailed, error.to_string()))?;
    Ok(wit::Outcome { output, edits })
}

/// Refuses a tool that is not there. Called by `export!`.
#[doc(hidden)]
pub fn unknown_tool(name: &str) -> types::Error {
    ToolError::new(ErrorCode::NotFound, format!("no tool `{name}`")).into()
}

// === impl IntoOutput ===

impl<T: IntoOutput> ToolReturn for Result<T, ToolError> {
    type Outcome = T;

    fn into_result(self) -> Self {
        self
    }
}

impl<T: Serialize + JsonSchema> IntoOutput for T {
    const EFFECT: Effect = Effect::Read;
    type Output = T;

    fn into_parts(self) -> (T, Vec<Edit>) {
        (self, Vec::new())
    }
}

impl<T: Serialize + JsonSchema> IntoOutput for Proposed<T> {
    const EFFECT: Effect = Effect::Write;
    type Output = T;

    fn into_parts(self) -> (T, Vec<Edit>) {
        (self.output, self.edits)
    }
}
