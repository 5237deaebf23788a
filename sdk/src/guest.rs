//! The side of plugins: what a tool is there, what it may ask of moss, what it returns.
//!
//! A tool is a plain function under [`tool`](macro@crate::tool); [`export!`](crate::export) makes a
//! plugin of the tools it lists. Files are read with `std::fs`, beneath the directories that were
//! granted, by their paths in the workspace. A tool writes nothing: it returns [`Proposed`] edits,
//! which people see as a diff before they happen.
//!
//! ```text
//! /// What to shout.
//! #[moss::data]
//! struct Shout {
//!     /// The text.
//!     text: String,
//! }
//!
//! /// Returns a text in capitals.
//! #[moss::tool]
//! fn shout(parameters: Shout) -> Result<String, moss::ToolError> {
//!     Ok(parameters.text.to_uppercase())
//! }
//!
//! moss::export! { tools: [shout] }
//! ```

mod files;

use std::fmt;
use std::io;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ErrorCode, ToolError};
use crate::hash::ContentHash;
use crate::schema;
use crate::spec::Effect;

use bindings::exports::moss::plugin::tools as wit;
use bindings::moss::plugin::{context, types};

pub use schemars;
pub use serde;

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

pub use files::{DEPTH_MAX, Found, find_files, read_text};
pub use wit::{Capability, Edit};

/// A function under [`tool`](macro@crate::tool), as a type.
pub trait Tool {
    /// The name that calls it.
    const NAME: &'static str;
    /// A short name for lists.
    const TITLE: &'static str;
    /// What it does, for models and people.
    const DESCRIPTION: &'static str;
    /// What it takes.
    type Parameters: DeserializeOwned + JsonSchema;
    /// What it returns.
    type Answer: Answer;

    /// Does the work.
    fn run(parameters: Self::Parameters) -> Self::Answer;
}

/// What a function must return to be a tool: `Result<T, ToolError>`.
pub trait Answer {
    /// The output and the edits.
    type Outcome: Outcome;

    /// Returns the usual form.
    ///
    /// # Errors
    ///
    /// What the tool says.
    fn into_result(self) -> Result<Self::Outcome, ToolError>;
}

/// What a tool returns when it succeeds: an output, or [`Proposed`] edits with an output. The type
/// decides whether a tool only reads.
pub trait Outcome {
    /// What the tool may do.
    const EFFECT: Effect;
    /// What the model reads.
    type Output: Serialize + JsonSchema;

    /// Takes it apart.
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

/// Writes a message to the log of the call.
pub fn log(level: Level, message: impl fmt::Display) {
    context::log(level, &message.to_string());
}

/// Tells whoever watches how far the call is.
pub fn progress(message: impl fmt::Display, done: u64, total: Option<u64>) {
    context::progress(&message.to_string(), done, total);
}

/// Whether the call is no longer wanted; a long loop asks this to stop early.
pub fn is_cancelled() -> bool {
    context::cancelled()
}

/// Reads the settings that the user gave the plugin: `config` of its entry in `moss-tools.json`.
///
/// # Errors
///
/// `InvalidArguments` where they do not fit the type.
pub fn settings<T: DeserializeOwned>() -> Result<T, ToolError> {
    serde_json::from_str(&context::settings()).map_err(|error| {
        ToolError::new(ErrorCode::InvalidArguments, format!("the plugin's config: {error}"))
            .hint("correct `config` of the plugin in moss-tools.json")
    })
}

/// Makes a tool's error of one from reading a file.
pub fn io_error(path: impl fmt::Display, error: &io::Error) -> ToolError {
    let (code, what) = match error.kind() {
        io::ErrorKind::NotFound => (ErrorCode::NotFound, "no such file or directory".to_owned()),
        io::ErrorKind::NotADirectory => (ErrorCode::NotADirectory, "not a directory".to_owned()),
        io::ErrorKind::IsADirectory => (ErrorCode::NotAFile, "is a directory".to_owned()),
        _ => (ErrorCode::Io, error.to_string()),
    };
    let error = ToolError::new(code, format!("{path}: {what}"));
    match code {
        ErrorCode::NotFound => {
            error.hint("a plugin sees only the directories granted to it in moss-tools.json")
        }
        _ => error,
    }
}

/// Makes a plugin of tools. Its name and version are those of the cargo package.
///
/// ```text
/// moss::export! {
///     tools: [word_count],
///     requests: [moss::Capability::read(".", "reads the files that it counts")],
/// }
/// ```
#[macro_export]
macro_rules! export {
    (tools: [$($tool:path),+ $(,)?] $(, requests: [$($request:expr),* $(,)?])? $(,)?) => {
        const _: () = {
            struct Plugin;

            impl $crate::guest::bindings::exports::moss::plugin::tools::Guest for Plugin {
                fn describe() -> $crate::guest::bindings::exports::moss::plugin::tools::Description
                {
                    $crate::guest::bindings::exports::moss::plugin::tools::Description {
                        name: ::std::env!("CARGO_PKG_NAME").to_owned(),
                        version: ::std::env!("CARGO_PKG_VERSION").to_owned(),
                        capabilities: ::std::vec![$($($request),*)?],
                        settings: ::std::option::Option::None,
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
                    $(if name == <$tool as $crate::guest::Tool>::NAME {
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
pub fn describe<T: Tool>() -> wit::Tool {
    type OutcomeOf<T> = <<T as Tool>::Answer as Answer>::Outcome;
    wit::Tool {
        name: T::NAME.to_owned(),
        title: T::TITLE.to_owned(),
        description: T::DESCRIPTION.to_owned(),
        effect: match OutcomeOf::<T>::EFFECT {
            Effect::Read => wit::Effect::Read,
            Effect::Write | Effect::Exec => wit::Effect::Write,
        },
        parameters: schema::strict::<T::Parameters>().to_string(),
        output: schema::output::<<OutcomeOf<T> as Outcome>::Output>().to_string(),
        annotations: wit::Annotations { destructive: None, idempotent: None, open_world: None },
        examples: Vec::new(),
    }
}

/// Runs a tool. Called by `export!`.
///
/// # Errors
///
/// What the tool says, and arguments that do not fit its type.
#[doc(hidden)]
pub fn call<T: Tool>(arguments: &str) -> Result<wit::Outcome, types::Error> {
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

// === impl Outcome ===

impl<T: Outcome> Answer for Result<T, ToolError> {
    type Outcome = T;

    fn into_result(self) -> Self {
        self
    }
}

impl<T: Serialize + JsonSchema> Outcome for T {
    const EFFECT: Effect = Effect::Read;
    type Output = T;

    fn into_parts(self) -> (T, Vec<Edit>) {
        (self, Vec::new())
    }
}

impl<T: Serialize + JsonSchema> Outcome for Proposed<T> {
    const EFFECT: Effect = Effect::Write;
    type Output = T;

    fn into_parts(self) -> (T, Vec<Edit>) {
        (self.output, self.edits)
    }
}

// === impl Capability ===

impl Capability {
    /// Requests to read the files beneath a directory, relative to the workspace; `.` requests
    /// whatever the user grants. The reason is shown to the person who grants it.
    pub fn read(directory: &str, reason: &str) -> Self {
        Self { kind: "fs".to_owned(), scope: directory.to_owned(), reason: reason.to_owned() }
    }
}

// === impl Edit ===

impl Edit {
    /// Makes a new file and its missing parent directories. The path must not exist.
    pub fn create(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Create(wit::CreateFile { path: path.into(), content: content.into() })
    }

    /// Replaces the whole text of a file; with a hash, only if that is what it holds.
    pub fn write(
        path: impl Into<String>,
        expected: Option<ContentHash>,
        content: impl Into<String>,
    ) -> Self {
        let expected_hash = expected.map(|hash| hash.to_string());
        Self::Write(wit::WriteFile { path: path.into(), expected_hash, content: content.into() })
    }

    /// Replaces a text that occurs exactly once in a file.
    pub fn replace_text(
        path: impl Into<String>,
        old_text: impl Into<String>,
        new_text: impl Into<String>,
    ) -> Self {
        Self::ReplaceText(wit::ReplaceText {
            path: path.into(),
            old_text: old_text.into(),
            new_text: new_text.into(),
        })
    }

    /// Removes a file; with a hash, only if that is what it holds.
    pub fn delete(path: impl Into<String>, expected: Option<ContentHash>) -> Self {
        let expected_hash = expected.map(|hash| hash.to_string());
        Self::Delete(wit::DeleteFile { path: path.into(), expected_hash })
    }
}

// === impl Error ===

impl From<ToolError> for types::Error {
    fn from(error: ToolError) -> Self {
        let code = match error.code {
            ErrorCode::InvalidArguments => types::ErrorCode::InvalidArguments,
            ErrorCode::InvalidPath | ErrorCode::OutsideWorkspace => types::ErrorCode::InvalidPath,
            ErrorCode::NotFound => types::ErrorCode::NotFound,
            ErrorCode::AlreadyExists => types::ErrorCode::AlreadyExists,
            ErrorCode::NotAFile => types::ErrorCode::NotAFile,
            ErrorCode::NotADirectory => types::ErrorCode::NotADirectory,
            ErrorCode::Binary => types::ErrorCode::Binary,
            ErrorCode::Encoding => types::ErrorCode::Encoding,
            ErrorCode::TooLarge => types::ErrorCode::TooLarge,
            ErrorCode::OutOfRange => types::ErrorCode::OutOfRange,
            ErrorCode::NoMatch => types::ErrorCode::NoMatch,
            ErrorCode::Ambiguous => types::ErrorCode::Ambiguous,
            ErrorCode::NoChange => types::ErrorCode::NoChange,
            ErrorCode::Conflict => types::ErrorCode::Conflict,
            ErrorCode::LimitExceeded => types::ErrorCode::LimitExceeded,
            ErrorCode::Io => types::ErrorCode::Io,
            _ => types::ErrorCode::Failed,
        };
        Self { code, message: error.message, hint: error.hint }
    }
}
