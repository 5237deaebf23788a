//! `#[moss::tool]`: keeps the function and adds a type of the same name that describes it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Token;
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Attribute, Expr, ExprLit, FnArg, ItemFn, Lit, LitBool, LitStr, Meta, Path, ReturnType};

const OPTIONS: &str = "`name`, `title`, `destructive`, `idempotent`, `open_world`, `examples`";

#[derive(Default)]
struct ToolAttributes {
    name: Option<String>,
    title: Option<String>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    /// A function that returns `Vec<moss::Example>`.
    examples: Option<Path>,
}

pub(crate) fn expand(options: TokenStream, function: &ItemFn) -> syn::Result<TokenStream> {
    let options = parse_options(options)?;
    let signature = &function.sig;
    if let Some(asyncness) = &signature.asyncness {
        return Err(syn::Error::new_spanned(asyncness, "a tool is not async: it runs to its end"));
    }
    if !signature.generics.params.is_empty() {
        return Err(syn::Error::new_spanned(&signature.generics, "a tool has no generics"));
    }
    let ident = &signature.ident;
    let name = options.name.clone().unwrap_or_else(|| ident.unraw().to_string());
    let title = options.title.clone().unwrap_or_else(|| in_words(&name));
    let description = documentation(&function.attrs);
    if description.is_empty() {
        return Err(syn::Error::new_spanned(
            ident,
            "a tool needs documentation: it is the description that models read",
        ));
    }
    let ReturnType::Type(_, answer) = &signature.output else {
        return Err(syn::Error::new_spanned(ident, "a tool returns `Result<T, moss::ToolError>`"));
    };
    let (parameters, call) = match signature.inputs.iter().collect::<Vec<_>>().as_slice() {
        [] => (quote!(::moss::guest::NoParameters), quote!(#ident())),
        [FnArg::Typed(parameter)] => {
            let kind = &parameter.ty;
            (quote!(#kind), quote!(#ident(parameters)))
        }
        _ => {
            return Err(syn::Error::new_spanned(
                &signature.inputs,
                "a tool takes one parameter struct, or nothing",
            ));
        }
    };
    let visibility = &function.vis;
    let (annotations, examples) = (options.annotations(), options.examples());
    Ok(quote! {
        #function

        #[allow(non_camel_case_types, reason = "the type stands for the function")]
        #[doc(hidden)]
        #visibility struct #ident {}

        impl ::moss::guest::GuestTool for #ident {
            const NAME: &'static str = #name;
            const TITLE: &'static str = #title;
            const DESCRIPTION: &'static str = #description;
            const ANNOTATIONS: ::moss::spec::Annotations = #annotations;
            type Parameters = #parameters;
            type Return = #answer;

            #[allow(unused_variables, reason = "a tool may have no parameters")]
            fn run(parameters: Self::Parameters) -> Self::Return {
                #call
            }

            fn examples() -> ::std::vec::Vec<::moss::Example> {
                #examples
            }
        }
    })
}

fn parse_options(options: TokenStream) -> syn::Result<ToolAttributes> {
    let mut parsed = ToolAttributes::default();
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("name") {
            parsed.name = Some(meta.value()?.parse::<LitStr>()?.value());
        } else if meta.path.is_ident("title") {
            parsed.title = Some(meta.value()?.parse::<LitStr>()?.value());
        } else if meta.path.is_ident("destructive") {
            parsed.destructive = Some(flag(&meta)?);
        } else if meta.path.is_ident("idempotent") {
            parsed.idempotent = Some(flag(&meta)?);
        } else if meta.path.is_ident("open_world") {
            parsed.open_world = Some(flag(&meta)?);
        } else if meta.path.is_ident("examples") {
            parsed.examples = Some(meta.value()?.parse()?);
        } else {
            return Err(meta.error(format!("unknown option: there are {OPTIONS}")));
        }
        Ok(())
    });
    parser.parse2(options)?;
    Ok(parsed)
}

/// `idempotent` says true; `idempotent = false` says false.
fn flag(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if meta.input.peek(Token![=]) { Ok(meta.value()?.parse::<LitBool>()?.value) } else { Ok(true) }
}

/// Joins doc comments, without the space that each line starts with.
fn documentation(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(meta) = &attribute.meta
            && meta.path.is_ident("doc")
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value
        {
            let line = text.value();
            lines.push(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
        }
    }
    unwrapped(&lines)
}

/// Joins the lines of a paragraph that the author wrapped. Blank lines, items of lists, headings,
/// tables and code stay as they are.
fn unwrapped(lines: &[String]) -> String {
    let mut text = String::new();
    let mut is_code = false;
    let mut continues = false;
    for line in lines {
        let is_fence = line.trim_start().starts_with("```");
        let is_apart = is_code || is_fence || line.is_empty() || starts_anew(line);
        match continues && !is_apart {
            true => text = text + " " + line.trim_start(),
            false => text = text + "\n" + line,
        }
        is_code ^= is_fence;
        continues = !(is_code || is_fence || line.is_empty() || stands_alone(line));
    }
    text.trim().to_owned()
}

/// Whether a line is never joined to the one before it.
fn starts_anew(line: &str) -> bool {
    let digits = line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
    let is_numbered = digits.len() < line.trim_start().len() && digits.starts_with(". ");
    let is_item = ["- ", "* ", "+ "].iter().any(|mark| line.trim_start().starts_with(mark));
    is_numbered || is_item || stands_alone(line)
}

/// Whether no line is joined to it: headings, tables, quotations, and code that is indented.
fn stands_alone(line: &str) -> bool {
    line.starts_with(['#', '|', '>']) || line.starts_with("    ")
}

/// `word_count` becomes `Word count`.
fn in_words(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

// === impl ToolAttributes ===

impl ToolAttributes {
    fn annotations(&self) -> TokenStream {
        let said = |flag: Option<bool>| match flag {
            Some(flag) => quote!(::std::option::Option::Some(#flag)),
            None => quote!(::std::option::Option::None),
        };
        let (destructive, idempotent) = (said(self.destructive), said(self.idempotent));
        let open_world = said(self.open_world);
        quote! {
            ::moss::spec::Annotations {
                destructive: #destructive,
                idempotent: #idempotent,
                open_world: #open_world,
            }
        }
    }

    fn examples(&self) -> TokenStream {
        match &self.examples {
            Some(function) => quote!(#function()),
            None => quote!(::std::vec::Vec::new()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let options = quote!(
            name = "n",
            title = "T",
            destructive = false,
            idempotent,
            open_world = true,
            examples = shown::all
        );
        let options = parse_options(options).unwrap();
        assert_eq!((options.name.as_deref(), options.title.as_deref()), (Some("n"), Some("T")));
        assert_eq!(
            (options.destructive, options.idempotent, options.open_world),
            (Some(false), Some(true), Some(true))
        );
        assert_eq!(options.examples().to_string(), "shown :: all ()");
    }

    #[test]
    fn titles_are_names_in_words() {
        assert_eq!(in_words("word_count"), "Word count");
    }

    #[test]
    fn wrapped_lines_are_joined_and_nothing_else() {
        for (lines, text) in [
            (&["One", "two.", "", "Three", "four."][..], "One two.\n\nThree four."),
            (
                &["Has:", "- one", "  more", "- two", "1. three"],
                "Has:\n- one more\n- two\n1. three",
            ),
            (&["# Head", "text", "| a |", "| b |"], "# Head\ntext\n| a |\n| b |"),
            (&["So:", "```", "a", "b", "```", "Or", "so."], "So:\n```\na\nb\n```\nOr so."),
            (&["", "One", ""], "One"),
        ] {
            let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
            assert_eq!(unwrapped(&lines), text);
        }
    }

    #[test]
    fn mistakes_of_authors_are_explained() {
        let cases = [
            (
                quote!(),
                quote!(
                    fn f() -> Result<(), E> {}
                ),
                "needs documentation",
            ),
            (
                quote!(),
                quote!(
                    #[doc = "D"]
                    fn f() {}
                ),
                "returns `Result",
            ),
            (
                quote!(),
                quote!(
                    #[doc = "D"]
                    async fn f() -> R {}
                ),
                "not async",
            ),
            (
                quote!(),
                quote!(
                    #[doc = "D"]
                    fn f<T>() -> R {}
                ),
                "no generics",
            ),
            (
                quote!(),
                quote!(
                    #[doc = "D"]
                    fn f(a: A, b: B) -> R {}
                ),
                "one parameter struct",
            ),
            (
                quote!(titel = "T"),
                quote!(
                    #[doc = "D"]
                    fn f() -> R {}
                ),
                "unknown option",
            ),
            (
                quote!(idempotent = "yes"),
                quote!(
                    #[doc = "D"]
                    fn f() -> R {}
                ),
                "expected boolean",
            ),
        ];
        for (options, function, expected) in cases {
            let function = syn::parse2(function).unwrap();
            let error = expand(options, &function).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
