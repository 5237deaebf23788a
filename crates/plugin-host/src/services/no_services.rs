//! A guest without services: it has code and nothing else.

use moss_sdk::code_search::CodeHit;
use moss_sdk::command::{GrantedCommand, GrantedCommandReport};
use moss_sdk::context::BoxFuture;
use moss_sdk::editor::{DefinitionKind, Definitions, Position, Symbol};
use moss_sdk::search::{TextQuery, TextQueryResult};
use moss_sdk::{ErrorCode, RelPath, ToolError};

use super::{
    FileError, FoundNames, GuestFile, GuestFiles, GuestStore, HttpBody, HttpError, HttpOptions,
    LastLink, ResolvedFile, Services,
};

/// No service at all: for a plugin that describes itself.
#[derive(Debug, Clone, Copy)]
pub struct NoServices;

// === impl NoServices ===

impl NoServices {
    fn refused<T>() -> BoxFuture<'static, Result<T, ToolError>>
    where
        T: Send + 'static,
    {
        let error = ToolError::new(ErrorCode::Denied, "nothing is served here");
        Box::pin(std::future::ready(Err(error)))
    }
}

impl Services for NoServices {
    fn files(&self) -> &dyn GuestFiles {
        self
    }

    fn store(&self) -> &dyn GuestStore {
        self
    }

    fn variables(&self, _: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
        Vec::new()
    }

    fn send(
        &self,
        _: http::Request<HttpBody>,
        _: HttpOptions,
    ) -> BoxFuture<'_, Result<http::Response<HttpBody>, HttpError>> {
        let error = HttpError::Denied("nothing is served here".to_owned());
        Box::pin(std::future::ready(Err(error)))
    }

    fn call_tool<'a>(&'a self, _: &'a str, _: String) -> BoxFuture<'a, Result<String, ToolError>> {
        Self::refused()
    }

    fn symbols<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<Symbol>>, ToolError>> {
        Self::refused()
    }

    fn definitions<'a>(
        &'a self,
        _: &'a str,
        _: Position,
        _: DefinitionKind,
    ) -> BoxFuture<'a, Result<Option<Definitions>, ToolError>> {
        Self::refused()
    }

    fn search(&self, _: TextQuery) -> BoxFuture<'_, Result<TextQueryResult, ToolError>> {
        Self::refused()
    }

    fn declarations(&self, _: Vec<String>) -> BoxFuture<'_, Result<Vec<CodeHit>, ToolError>> {
        Self::refused()
    }

    fn run_command(
        &self,
        _: GrantedCommand,
    ) -> BoxFuture<'_, Result<GrantedCommandReport, ToolError>> {
        Self::refused()
    }
}

impl GuestFiles for NoServices {
    fn stat<'a>(
        &'a self,
        _: &'a RelPath,
        _: LastLink,
    ) -> BoxFuture<'a, Result<ResolvedFile, FileError>> {
        Box::pin(std::future::ready(Err(FileError::NotFound)))
    }

    fn list<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<FoundNames, FileError>> {
        Box::pin(std::future::ready(Err(FileError::NotFound)))
    }

    fn open<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<Box<dyn GuestFile>, FileError>> {
        Box::pin(std::future::ready(Err(FileError::NotFound)))
    }

    fn read_link<'a>(&'a self, _: &'a RelPath) -> BoxFuture<'a, Result<String, FileError>> {
        Box::pin(std::future::ready(Err(FileError::NotFound)))
    }
}

impl GuestStore for NoServices {
    fn get(&self, _: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, ToolError>> {
        Self::refused()
    }

    fn set(&self, _: String, _: Vec<u8>, _: u64) -> BoxFuture<'_, Result<(), ToolError>> {
        Self::refused()
    }

    fn delete(&self, _: String) -> BoxFuture<'_, Result<bool, ToolError>> {
        Self::refused()
    }

    fn keys(&self, _: String) -> BoxFuture<'_, Result<Vec<String>, ToolError>> {
        Self::refused()
    }
}
