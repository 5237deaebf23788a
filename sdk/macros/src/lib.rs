//! The attribute macros of the moss SDK: `tool` makes a tool of a function, `data` makes a struct
//! usable as parameters or output.
//!
//! Both are for plugins and expect the SDK under the name `moss`.

mod data;
mod tool;

use proc_macro::TokenStream;
use syn::{ItemFn, parse_macro_input};

/// Makes a tool of a function.
///
/// The function takes one parameter struct (or nothing) and returns `Result<T, moss::ToolError>`:
/// `T` is the output, or `moss::Proposed<T>` for a tool that proposes edits. Its name is the tool's
/// name, its documentation the description that models read. List it in `moss::export!`.
///
/// Options:
///
/// * `name = "…"`: the tool's name, where it is not the function's;
/// * `title = "…"`: a short name for lists; without it the name in words;
/// * `destructive`, `idempotent`, `open_world`, or one of them with `= false`: what clients may
///   show people before they call it: that it may destroy something, that a second call with the same
///   arguments changes nothing more, that it deals with a world outside the workspace. Nothing is
///   decided by it; leave out what you do not know;
/// * `examples = path`: a function that returns `Vec<moss::Example>`, calls that show what it does.
///
/// ```text
/// /// Greets somebody.
/// #[moss::tool(title = "Greet", idempotent, examples = examples)]
/// fn greet(parameters: Greet) -> Result<Greeting, moss::ToolError> { … }
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    tool::expand(options.into(), &function).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct or an enumeration usable as parameters or output of a tool: it can be read from
/// and written as JSON, and has a JSON schema in which the documentation of the fields describes
/// them. `#[serde(…)]` and `#[schemars(…)]` work on the fields as usual.
#[proc_macro_attribute]
pub fn data(options: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(options.into(), item.into())
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}
