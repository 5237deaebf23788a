//! `#[moss::tool]`: keeps the function and adds a type of the same name that describes it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::{Attribute, Expr, ExprLit, FnArg, ItemFn, Lit, LitStr, Meta, ReturnType};

#[derive(Default)]
struct Options {
    name: Option<String>,
    title: Option<String>,
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
    let name = options.name.unwrap_or_else(|| ident.unraw().to_string());
    let title = options.title.unwrap_or_else(|| in_words(&name));
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
    Ok(quote! {
        #function

        #[allow(non_camel_case_types, reason = "the type stands for the function")]
        #[doc(hidden)]
        #visibility struct #ident {}

        impl ::moss::guest::Tool for #ident {
            const NAME: &'static str = #name;
            const TITLE: &'static str = #title;
            const DESCRIPTION: &'static str = #description;
            type Parameters = #parameters;
            type Answer = #answer;

            #[allow(unused_variables, reason = "a tool may have no parameters")]
            fn run(parameters: Self::Parameters) -> Self::Answer {
                #call
            }
        }
    })
}

fn parse_options(options: TokenStream) -> syn::Result<Options> {
    let mut parsed = Options::default();
    let parser = syn::meta::parser(|meta| {
        let option = if meta.path.is_ident("name") {
            &mut parsed.name
        } else if meta.path.is_ident("title") {
            &mut parsed.title
        } else {
            return Err(meta.error("unknown option: `name` and `title` are known"));
        };
        *option = Some(meta.value()?.parse::<LitStr>()?.value());
        Ok(())
    });
    parser.parse2(options)?;
    Ok(parsed)
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
    lines.join("\n").trim().to_owned()
}

/// `word_count` becomes `Word count`.
fn in_words(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_names_in_words() {
        assert_eq!(in_words("word_count"), "Word count");
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
        ];
        for (options, function, expected) in cases {
            let function = syn::parse2(function).unwrap();
            let error = expand(options, &function).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
