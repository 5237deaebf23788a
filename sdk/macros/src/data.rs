//! `#[moss::data]`: the derives that parameters and outputs need, by the SDK's own paths, so that a
//! plugin depends on nothing but the SDK.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !options.is_empty() {
        return Err(syn::Error::new_spanned(options, "`data` takes no options"));
    }
    let item: DeriveInput = syn::parse2(item)?;
    Ok(quote! {
        #[derive(
            Debug,
            Clone,
            PartialEq,
            ::moss::guest::serde::Serialize,
            ::moss::guest::serde::Deserialize,
            ::moss::guest::schemars::JsonSchema,
        )]
        #[serde(crate = "::moss::guest::serde")]
        #[schemars(crate = "::moss::guest::schemars")]
        #item
    })
}
