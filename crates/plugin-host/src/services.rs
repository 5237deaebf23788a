//! What the daemon does for one run of a guest, behind the capabilities. This crate checks that a
//! capability was granted; whoever implements these holds every use to the policy of the call.

mod no_services;

use std::fmt;
use std::time::SystemTime;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use moss_sdk::code_search::CodeHit;
use moss_sdk::command::{GrantedCommand, GrantedCommandReport};
use moss_sdk::context::BoxFuture;
use moss_sdk::editor::{DefinitionKind, Definitions, Position, Symbol};
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{RelPath, ToolError};

pub use self::no_services::NoServices;

/// The body of a request or a response of HTTP, in parts as they come.
pub type HttpBody = UnsyncBoxBody<Bytes, HttpError>;

/// What the daemon does for one run of a guest.
pub trait Services: Send + Sync {
    /// The workspace's files, filtered by the policy and not yet by what was granted.
    fn files(&self) -> &dyn GuestFiles;

    /// The plugin's store in the workspace.
    fn store(&self) -> &dyn GuestStore;

    /// Returns the variables of the environment that were granted, names with values. What is
    /// moss's own is never among them.
    fn variables(&self, is_granted: &dyn Fn(&str) -> bool) -> Vec<(String, String)>;

    /// Sends a request to a host that was granted. The URI is absolute. No redirect is followed, no
    /// proxy is asked. An address that the host's name leads to is refused where it is private,
    /// unless `may_be_private` shows that the grant allows it.
    fn send(
        &self,
        request: http::Request<HttpBody>,
        options: HttpOptions,
    ) -> BoxFuture<'_, Result<http::Response<HttpBody>, HttpError>>;

    /// Runs a tool that only reads with the text of a JSON object, and returns its output as the
    /// text of a JSON value.
    ///
    /// # Errors
    ///
    /// What the tool says; `Denied` where the tool does more than read, or the policy would ask.
    fn call_tool<'a>(
        &'a self,
        name: &'a str,
        arguments: String,
    ) -> BoxFuture<'a, Result<String, ToolError>>;

    /// Says why no plugin may call a tool, whatever is granted.
    ///
    /// # Errors
    ///
    /// `NotFound`; `Denied` where the tool does more than read.
    fn check_tool(&self, _name: &str) -> Result<(), ToolError> {
        Ok(())
    }

    /// Asks an editor for the symbols of a file; none where no editor knows.
    ///
    /// # Errors
    ///
    /// `InvalidPath`, `Denied`.
    fn symbols<'a>(
        &'a self,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<Symbol>>, ToolError>>;

    /// Asks an editor where the symbol at a position is defined; none where no editor knows.
    ///
    /// # Errors
    ///
    /// As [`Services::symbols`].
    fn definitions<'a>(
        &'a self,
        path: &'a str,
        position: Position,
        kind: DefinitionKind,
    ) -> BoxFuture<'a, Result<Option<Definitions>, ToolError>>;

    /// Searches the texts of the workspace. Files that may not be read without asking are left out.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for what cannot be searched for; `LimitExceeded` after too many searches.
    fn search(&self, query: TextQuery) -> BoxFuture<'_, Result<TextQueryResult, ToolError>>;

    /// Finds what declares some names, exactly.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for too many names; `LimitExceeded` after too many searches.
    fn declarations(&self, names: Vec<String>) -> BoxFuture<'_, Result<Vec<CodeHit>, ToolError>>;

    /// Runs a command whose words were granted, and waits for its end. Who drops the future ends it.
    ///
    /// # Errors
    ///
    /// `Denied` where the policy denies it, or would ask for another reason than that no rule speaks of
    /// it; `NotFound` and `NotADirectory` for its directory; `LimitExceeded` where the machine cannot
    /// isolate it.
    fn run_command(
        &self,
        command: GrantedCommand,
    ) -> BoxFuture<'_, Result<GrantedCommandReport, ToolError>>;
}

/// The workspace's files as a guest may see them: only read, filtered by the policy of the moment,
/// nobody is asked. Unsaved texts of editors stand in place of what the disk holds.
///
/// Symbolic links are followed where they stay in the workspace. Every reply names the real path,
/// after all links: whether that was granted is for this crate to check.
pub trait GuestFiles: Send + Sync {
    /// Says what a path leads to.
    fn stat<'a>(
        &'a self,
        path: &'a RelPath,
        last: LastLink,
    ) -> BoxFuture<'a, Result<ResolvedFile, FileError>>;

    /// Returns the names in a directory, in bytewise order, without those that may not be seen.
    fn list<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<FoundNames, FileError>>;

    /// Opens a regular file.
    fn open<'a>(
        &'a self,
        path: &'a RelPath,
    ) -> BoxFuture<'a, Result<Box<dyn GuestFile>, FileError>>;

    /// Returns the text of a symbolic link.
    fn read_link<'a>(&'a self, path: &'a RelPath) -> BoxFuture<'a, Result<String, FileError>>;
}

/// An open file. It stays the one that was opened, whatever becomes of its name.
pub trait GuestFile: Send + Sync {
    /// What it was when it was opened.
    fn found(&self) -> &ResolvedFile;

    /// Reads at most so many bytes from an offset; fewer only at the end.
    fn read_at(&self, offset: u64, bytes_max: usize) -> BoxFuture<'_, Result<Bytes, FileError>>;
}

/// What to do with a symbolic link at the end of a path; those on the way are always followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLink {
    /// Look at what it leads to.
    Follow,
    /// Look at the link.
    Keep,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedFile {
    /// Its real path, after all links.
    pub real: RelPath,
    /// A file, a directory or a link.
    pub kind: FileKind,
    /// The size of a regular file in bytes, the length of a link's text; 0 of a directory.
    pub size_bytes: u64,
    /// When the content changed last.
    pub modified: SystemTime,
    /// A number that two different files do not share.
    pub identity: u128,
}

/// The names in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundNames {
    /// The directory's real path, after all links.
    pub real: RelPath,
    /// The names, each with what it is.
    pub names: Vec<(String, FileKind)>,
}

/// What a name in a workspace is. Guests see no other kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file, of which a guest may read bytes.
    File,
    /// A directory, whose names a guest may list.
    Directory,
    /// A symbolic link, which was not followed.
    Link,
}

/// Why a guest cannot have a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// There is no such name.
    #[error("no such file or directory")]
    NotFound,
    /// The policy does not let it read this, it leads out of the workspace, or it is neither a
    /// regular file nor a directory.
    #[error("not permitted")]
    NotPermitted,
    /// A directory was expected.
    #[error("not a directory")]
    NotADirectory,
    /// A file was expected.
    #[error("is a directory")]
    IsADirectory,
    /// Too many links on the way.
    #[error("too many symbolic links")]
    Loop,
    /// Larger than a limit.
    #[error("too large")]
    TooLarge,
    /// Too many files are open, or too many names are in a directory.
    #[error("too many files")]
    TooMany,
    /// The system failed to read it.
    #[error("reading failed")]
    Io,
}

/// A few values of the plugin that outlive the call.
pub trait GuestStore: Send + Sync {
    /// Returns the value of a key.
    fn get(&self, key: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, ToolError>>;

    /// Keeps a value, if all keys and values together then have at most so many bytes.
    ///
    /// # Errors
    ///
    /// `TooLarge`; where it cannot be kept.
    fn set(
        &self,
        key: String,
        value: Vec<u8>,
        bytes_max: u64,
    ) -> BoxFuture<'_, Result<(), ToolError>>;

    /// Forgets a key. Returns whether there was one.
    fn delete(&self, key: String) -> BoxFuture<'_, Result<bool, ToolError>>;

    /// Returns the keys that start with a text, in bytewise order.
    fn keys(&self, prefix: String) -> BoxFuture<'_, Result<Vec<String>, ToolError>>;
}

/// How a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpOptions {
    /// The grant names this very host, so that it may have a private address.
    pub may_be_private: bool,
    /// Longest wait for a connection.
    pub connect_timeout: std::time::Duration,
    /// Longest wait for the head of the response.
    pub first_byte_timeout: std::time::Duration,
    /// Longest wait between two parts of the body.
    pub between_bytes_timeout: std::time::Duration,
}

/// Why a request got no response, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The host was not granted, or what its name leads to is not public.
    #[error("{0}")]
    Denied(String),
    /// The name does not resolve.
    #[error("the name cannot be resolved: {0}")]
    Name(String),
    /// No connection could be made.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The certificate of the host is not trusted, or TLS failed otherwise.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// It took too long.
    #[error("timed out while {0}")]
    Timeout(Wait),
    /// The body of the request has more bytes than this.
    #[error("the request has more than {0} bytes (network.request_bytes_max)")]
    RequestTooLarge(u64),
    /// The body of the response has more bytes than this.
    #[error("the response has more than {0} bytes (network.response_bytes_max)")]
    ResponseTooLarge(u64),
    /// Another failure, in words.
    #[error("{0}")]
    Failed(String),
}

/// What a caller waited for without a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// The addresses of a name.
    Name,
    /// A connection to one of them, encryption included.
    Connection,
    /// The head of the response.
    Response,
    /// More of the response's body.
    Body,
}

// === impl Wait ===

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "resolving the name",
            Self::Connection => "connecting",
            Self::Response => "waiting for the response",
            Self::Body => "waiting for more of the response",
        })
    }
}

impl fmt::Debug for dyn Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Services")
    }
}
