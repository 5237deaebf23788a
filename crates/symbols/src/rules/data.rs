//! Files of data, and documents: their keys and headings.

use super::{DeclarationRule, LanguageRules, NOTHING, NameLocation, placed};
use crate::outline::DeclarationKind as Kind;

const JSON_KEYS: &[DeclarationRule] = &[placed("pair", Kind::Key, NameLocation::Field("key"))];
const YAML_KEYS: &[DeclarationRule] =
    &[placed("block_mapping_pair", Kind::Key, NameLocation::Field("key"))];
const TOML_KEYS: &[DeclarationRule] = &[
    placed("table", Kind::Key, NameLocation::Child("bare_key")),
    placed("table", Kind::Key, NameLocation::Child("dotted_key")),
    placed("table_array_element", Kind::Key, NameLocation::Child("bare_key")),
    placed("table_array_element", Kind::Key, NameLocation::Child("dotted_key")),
    placed("pair", Kind::Key, NameLocation::Child("bare_key")),
    placed("pair", Kind::Key, NameLocation::Child("quoted_key")),
];
const HEADINGS: &[DeclarationRule] = &[
    placed("atx_heading", Kind::Heading, NameLocation::Field("heading_content")),
    placed("setext_heading", Kind::Heading, NameLocation::Field("heading_content")),
];

pub(super) const JSON: LanguageRules =
    LanguageRules { declarations: JSON_KEYS, names: &[], ..NOTHING };

pub(super) const YAML: LanguageRules =
    LanguageRules { declarations: YAML_KEYS, names: &[], ..NOTHING };

pub(super) const TOML: LanguageRules =
    LanguageRules { declarations: TOML_KEYS, names: &[], ..NOTHING };

pub(super) const MARKDOWN: LanguageRules =
    LanguageRules { declarations: HEADINGS, names: &[], ..NOTHING };
