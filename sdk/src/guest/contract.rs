//! The contract's records, as an author makes them: capabilities, examples, edits, errors.

use serde_json::Value;

use crate::error::{ErrorCode, ToolError};
use crate::guest::bindings::exports::moss::plugin::tools::{
    Capability, CreateFile, DeleteFile, Edit, Example, ExampleFile, ReplaceText, WriteFile,
};
use crate::guest::bindings::moss::plugin::types;
use crate::hash::ContentHash;

// === impl Capability ===

/// Each takes the reason why it is needed, for the person who grants it.
impl Capability {
    /// Requests to read a file, or all beneath a directory, relative to the workspace; `.` requests
    /// whatever the user grants.
    pub fn files(path: &str, reason: &str) -> Self {
        Self::new("fs", path, reason)
    }

    /// Requests to reach a host: `api.example.com`, `*.example.com`, with a port or a scheme where
    /// they are not those of HTTPS (`http://localhost:8080`); `*` requests whatever the user grants.
    pub fn http(host: &str, reason: &str) -> Self {
        Self::new("http", host, reason)
    }

    /// Requests to see a variable of the environment, with [`std::env::var`].
    pub fn env(name: &str, reason: &str) -> Self {
        Self::new("env", name, reason)
    }

    /// Requests a store; the most bytes of all its keys and values together, such as `1MiB`.
    pub fn store(size: &str, reason: &str) -> Self {
        Self::new("store", size, reason)
    }

    /// Requests to call a tool of moss that only reads.
    pub fn tool(name: &str, reason: &str) -> Self {
        Self::new("tool", name, reason)
    }

    /// Requests to ask the person's editor for symbols and definitions.
    pub fn editor(reason: &str) -> Self {
        Self::new("editor", "symbols", reason)
    }

    /// Requests to search the texts of the workspace.
    pub fn index(reason: &str) -> Self {
        Self::new("index", "search", reason)
    }

    /// Requests to run a command with exactly these words: `git rev-parse HEAD`; `*` stands for one word
    /// that is no option, alone for whatever the user grants.
    pub fn command(words: &str, reason: &str) -> Self {
        Self::new("command", words, reason)
    }

    fn new(kind: &str, scope: &str, reason: &str) -> Self {
        Self { kind: kind.to_owned(), scope: scope.to_owned(), reason: reason.to_owned() }
    }
}

// === impl Example ===

impl Example {
    /// Makes an example of what it shows and the arguments of the call.
    pub fn new(title: impl Into<String>, arguments: Value) -> Self {
        Self {
            title: title.into(),
            arguments: arguments.to_string(),
            files: Vec::new(),
            output: None,
            changed: Vec::new(),
        }
    }

    /// Adds a file to the workspace in which it runs.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.files.push(ExampleFile { path: path.into(), content: content.into() });
        self
    }

    /// Says what the output is. Leave it out where it is not always the same.
    #[must_use]
    pub fn output(mut self, output: Value) -> Self {
        self.output = Some(output.to_string());
        self
    }

    /// Says what a file that the tool changes or makes is afterwards.
    #[must_use]
    pub fn changes(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.changed.push(ExampleFile { path: path.into(), content: content.into() });
        self
    }
}

// === impl Edit ===

impl Edit {
    /// Makes a new file and its missing parent directories. The path must not exist.
    pub fn create(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Create(CreateFile { path: path.into(), content: content.into() })
    }

    /// Replaces the whole text of a file; with a hash, only if that is what it holds.
    pub fn write(
        path: impl Into<String>,
        expected: Option<ContentHash>,
        content: impl Into<String>,
    ) -> Self {
        let expected_hash = expected.map(|hash| hash.to_string());
        Self::Write(WriteFile { path: path.into(), expected_hash, content: content.into() })
    }

    /// Replaces a text that occurs exactly once in a file.
    pub fn replace_text(
        path: impl Into<String>,
        old_text: impl Into<String>,
        new_text: impl Into<String>,
    ) -> Self {
        Self::ReplaceText(ReplaceText {
            path: path.into(),
            old_text: old_text.into(),
            new_text: new_text.into(),
        })
    }

    /// Removes a file; with a hash, only if that is what it holds.
    pub fn delete(path: impl Into<String>, expected: Option<ContentHash>) -> Self {
        let expected_hash = expected.map(|hash| hash.to_string());
        Self::Delete(DeleteFile { path: path.into(), expected_hash })
    }
}

// === impl Error ===

impl From<ToolError> for types::Error {
    fn from(error: ToolError) -> Self {
        macro_rules! seen {
            (
                ($code:expr)
                $($(#[$doc:meta])* $failed:ident $word:literal $outcome:ident $contract:ident;)*
            ) => {
                match $code {
                    $(ErrorCode::$failed => types::ErrorCode::$contract,)*
                }
            };
        }
        let code = crate::error_codes!(seen(error.code));
        Self { code, message: error.message, hint: error.hint }
    }
}

impl From<types::Error> for ToolError {
    fn from(error: types::Error) -> Self {
        let code = match error.code {
            types::ErrorCode::InvalidArguments => ErrorCode::InvalidArguments,
            types::ErrorCode::InvalidPath => ErrorCode::InvalidPath,
            types::ErrorCode::NotFound => ErrorCode::NotFound,
            types::ErrorCode::AlreadyExists => ErrorCode::AlreadyExists,
            types::ErrorCode::NotAFile => ErrorCode::NotAFile,
            types::ErrorCode::NotADirectory => ErrorCode::NotADirectory,
            types::ErrorCode::Binary => ErrorCode::Binary,
            types::ErrorCode::Encoding => ErrorCode::Encoding,
            types::ErrorCode::TooLarge => ErrorCode::TooLarge,
            types::ErrorCode::OutOfRange => ErrorCode::OutOfRange,
            types::ErrorCode::NoMatch => ErrorCode::NoMatch,
            types::ErrorCode::Ambiguous => ErrorCode::Ambiguous,
            types::ErrorCode::NoChange => ErrorCode::NoChange,
            types::ErrorCode::Conflict => ErrorCode::Conflict,
            types::ErrorCode::LimitExceeded => ErrorCode::LimitExceeded,
            types::ErrorCode::Denied => ErrorCode::Denied,
            types::ErrorCode::Timeout => ErrorCode::Timeout,
            types::ErrorCode::Cancelled => ErrorCode::Cancelled,
            types::ErrorCode::Io => ErrorCode::Io,
            types::ErrorCode::Unavailable | types::ErrorCode::Failed => ErrorCode::PluginFailed,
        };
        Self { code, message: error.message, hint: error.hint, mark: None }
    }
}
