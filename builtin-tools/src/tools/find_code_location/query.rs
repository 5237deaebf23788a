//! What is looked for: a name, a location or a piece of code, and in which turns.

use moss_ranking::{
    DeclaredPlace, NameFit, NameTier, QualifiedName, WrittenLocation, expression_within, find_words,
};
use moss_sdk::file::{TextPattern, VisitedText};
use moss_sdk::{ErrorCode, ToolError};
use moss_symbols::DeclarationKind;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::found::FoundCode;
use super::location::{CodeLocation, LocationKind};

/// Longest `search`, in bytes.
const SEARCH_BYTES_MAX: usize = 1_000;
/// Most memory of a compiled expression.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// How `search` is compared with names, or of what kind they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SearchType {
    /// Names that are `search`.
    Exact,
    /// Names that contain `search`, in upper or lower case: those that are `search` first.
    #[default]
    Contains,
    /// Names with a match of the regular expression.
    Regex,
    /// Classes, structures, enumerations, interfaces, traits and other types.
    Class,
    /// Functions, methods, macros and tests.
    Function,
    /// Variables, constants, fields and variants.
    Variable,
}

/// What is looked for.
#[derive(Debug)]
pub(super) struct CodeQuery {
    pub(super) target: QueryTarget,
    written: String,
    search_type: SearchType,
    is_exact: bool,
}

/// What is looked for, by how it is written.
#[derive(Debug)]
pub(super) enum QueryTarget {
    Name(QualifiedName),
    Expression(String),
    Line(WrittenLocation),
    Code(String),
}

/// One look at the files.
#[derive(Debug, Clone)]
pub(super) struct QueryPass {
    pub(super) goal: PassGoal,
    /// Only these kinds of declarations.
    pub(super) kinds: Option<&'static [DeclarationKind]>,
    /// What a text must match to hold it; none where each may.
    pub(super) pattern: Option<TextPattern>,
    /// `pattern` compiled, for a text that is at hand.
    filter: Option<Regex>,
    /// What the text or the path of a file must match that has what belongs to what is said; none where nothing is.
    pub(super) owner: Option<Regex>,
}

/// What one look is for.
#[derive(Debug, Clone)]
pub(super) enum PassGoal {
    /// What is named so.
    Named(QualifiedName),
    /// What has the name in its own, is not named so and belongs to what is said at least so well.
    Containing(QualifiedName, NameTier),
    /// What has a name that the expression matches.
    Matching(Regex),
    /// What is declared around a line.
    Around(u32),
    /// Lines of code that the expression matches.
    Code(Regex),
}

// === impl SearchType ===

impl SearchType {
    fn kinds(self) -> Option<&'static [DeclarationKind]> {
        use DeclarationKind as K;
        match self {
            Self::Exact | Self::Contains | Self::Regex => None,
            Self::Class => Some(&[K::Class, K::Struct, K::Enum, K::Interface, K::Trait, K::Type]),
            Self::Function => Some(&[K::Function, K::Method, K::Macro, K::Test]),
            Self::Variable => Some(&[K::Constant, K::Variable, K::Field, K::Variant]),
        }
    }
}

// === impl CodeQuery ===

impl CodeQuery {
    /// Reads the arguments.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for nothing, too much and several lines.
    pub(super) fn parse(
        search: &str,
        search_type: SearchType,
        is_exact: bool,
    ) -> Result<Self, ToolError> {
        let search = search.trim();
        let refused = |message: String| {
            Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("give a name such as `parse` or `Parser::parse`, or use grep_search"))
        };
        if search.is_empty() {
            return refused("`search` is empty".to_owned());
        }
        if search.len() > SEARCH_BYTES_MAX || search.contains(['\n', '\r', '\0']) {
            let bytes = search.len();
            return refused(format!(
                "`search` has {bytes} bytes: it is one line of at most {SEARCH_BYTES_MAX}"
            ));
        }
        let target = if search_type == SearchType::Regex {
            QueryTarget::Expression(search.to_owned())
        } else if let Some(location) = WrittenLocation::parse(search).filter(|one| one.line > 0) {
            QueryTarget::Line(location)
        } else {
            QueryTarget::of_words(search)
        };
        Ok(Self { target, written: search.to_owned(), search_type, is_exact })
    }

    /// Takes what looked like a location for words.
    pub(super) fn read_as_words(&mut self) {
        self.target = QueryTarget::of_words(&self.written);
    }

    /// Whether what was found is what is meant, and not only named like it.
    pub(super) fn means(&self, location: &CodeLocation) -> bool {
        let Some(name) = &location.name else { return false };
        match &self.target {
            QueryTarget::Name(wanted) => wanted.is(name) && !location.kind.is_entry(),
            QueryTarget::Line(_) => true,
            QueryTarget::Expression(_) => !location.kind.is_entry(),
            QueryTarget::Code(_) => false,
        }
    }

    /// Whether it is of names: their uses are known from the files.
    pub(super) fn is_name(&self) -> bool {
        matches!(self.target, QueryTarget::Name(_) | QueryTarget::Expression(_))
    }

    /// The kind of declarations that alone is looked for, in a word.
    pub(super) fn kind(&self) -> Option<&'static str> {
        match (&self.target, self.search_type) {
            (QueryTarget::Name(_), SearchType::Class) => Some("class or other type"),
            (QueryTarget::Name(_), SearchType::Function) => Some("function"),
            (QueryTarget::Name(_), SearchType::Variable) => Some("variable, constant or field"),
            _ => None,
        }
    }

    /// How the files are looked at, until something is found.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for what is no regular expression.
    pub(super) fn passes(&self) -> Result<Vec<QueryPass>, ToolError> {
        let kinds = self.search_type.kinds();
        let pass = |goal, kinds, pattern: Option<TextPattern>| {
            let filter = pattern
                .as_ref()
                .map(|pattern| compiled(&pattern.expression, pattern.case_sensitive))
                .transpose()?;
            Ok::<_, ToolError>(QueryPass { goal, kinds, pattern, filter, owner: None })
        };
        let code = |expression: String, case_sensitive| {
            let goal = PassGoal::Code(compiled(&expression, case_sensitive)?);
            let pattern = TextPattern { expression, case_sensitive, spans_lines: true };
            pass(goal, None, Some(pattern))
        };
        let of_name = |expression, case_sensitive| {
            Some(TextPattern { expression, case_sensitive, spans_lines: false })
        };
        match &self.target {
            QueryTarget::Name(wanted) => {
                let escaped = regex::escape(wanted.written());
                let named = PassGoal::Named(wanted.clone());
                let mut passes = vec![pass(named, kinds, of_name(escaped.clone(), true))?];
                let owner = wanted.owner().map(owner_pattern);
                let owner = owner.map(|owner| compiled(&owner, false)).transpose()?;
                if !self.is_exact && self.search_type != SearchType::Exact {
                    let tiers = [NameTier::Container, NameTier::Module];
                    for tier in tiers.into_iter().take(1 + wanted.around.len()) {
                        let containing = PassGoal::Containing(wanted.clone(), tier);
                        passes.push(pass(containing, kinds, of_name(escaped.clone(), false))?);
                    }
                }
                passes.iter_mut().for_each(|pass| pass.owner.clone_from(&owner));
                if kinds.is_none() {
                    let mut texts = [regex::escape(&self.written), as_word(wanted.written())];
                    if wanted.owner().is_none() {
                        texts.reverse();
                    }
                    for text in texts {
                        passes.push(code(text, true)?);
                    }
                }
                Ok(passes)
            }
            QueryTarget::Expression(expression) => {
                let matching = PassGoal::Matching(compiled(expression, true)?);
                let within = expression_within(expression).and_then(|inner| of_name(inner, true));
                Ok(vec![pass(matching, None, within)?, code(expression.clone(), true)?])
            }
            QueryTarget::Line(location) => {
                Ok(vec![pass(PassGoal::Around(location.line), None, None)?])
            }
            QueryTarget::Code(text) => {
                let is_exact = self.is_exact || self.search_type == SearchType::Exact;
                Ok(vec![code(regex::escape(text), is_exact)?])
            }
        }
    }
}

/// An expression for a name that stands alone.
fn as_word(name: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let bound = |is_needed| if is_needed { r"\b" } else { "" };
    let (before, after) = (bound(name.starts_with(is_word)), bound(name.ends_with(is_word)));
    format!("{before}{}{after}", regex::escape(name))
}

/// An expression for a container or a module wherever it is written: `-` and `_` are the same in their names.
fn owner_pattern(owner: &str) -> String {
    owner.split(['-', '_']).map(regex::escape).collect::<Vec<_>>().join("[-_]")
}

fn compiled(expression: &str, case_sensitive: bool) -> Result<Regex, ToolError> {
    let mut builder = RegexBuilder::new(expression);
    // As the index reads it: `^` and `$` are the ends of each line.
    builder.multi_line(true).crlf(true);
    builder.case_insensitive(!case_sensitive).size_limit(COMPILED_BYTES_MAX);
    builder.build().map_err(|error| {
        ToolError::new(
            ErrorCode::InvalidArguments,
            format!("`search` is no regular expression: {error}"),
        )
        .hint("the syntax is that of Rust's regex crate; for a plain name leave out `searchType`")
    })
}

// === impl QueryTarget ===

impl QueryTarget {
    /// A name where it is one, else code.
    fn of_words(search: &str) -> Self {
        QualifiedName::parse(search).map_or_else(|| Self::Code(search.to_owned()), Self::Name)
    }
}

// === impl QueryPass ===

impl QueryPass {
    /// Whether more has to be found.
    pub(super) fn is_needed(&self, found: &FoundCode) -> bool {
        match &self.goal {
            PassGoal::Named(_) | PassGoal::Matching(_) | PassGoal::Around(_) => true,
            PassGoal::Containing(wanted, NameTier::Container) if !wanted.is_declared() => {
                !found.is_full()
            }
            PassGoal::Containing(..) | PassGoal::Code(_) => found.is_empty(),
        }
    }

    /// Whether a file may hold what is looked for.
    pub(super) fn may_be_in(&self, file: VisitedText<'_>) -> bool {
        let has_owner =
            |owner: &Regex| owner.is_match(file.path.as_str()) || owner.is_match(file.text);
        let has_name = match &self.goal {
            // As a part of other names it is not declared there.
            PassGoal::Named(wanted) => find_words(file.text, wanted.written()).next().is_some(),
            _ => self.filter.as_ref().is_none_or(|filter| filter.is_match(file.text)),
        };
        has_name && self.owner.as_ref().is_none_or(has_owner)
    }

    /// Whether a declaration of some kind has a name that is looked for.
    pub(super) fn wants(&self, kind: DeclarationKind, name: &str) -> bool {
        self.kinds.is_none_or(|kinds| kinds.contains(&kind))
            && match &self.goal {
                PassGoal::Named(wanted) => wanted.is(name),
                PassGoal::Containing(wanted, _) => {
                    let written = wanted.written().to_lowercase();
                    !wanted.is(name) && name.to_lowercase().contains(&written)
                }
                PassGoal::Matching(expression) => expression.is_match(name),
                PassGoal::Around(_) | PassGoal::Code(_) => false,
            }
    }

    /// How well a declaration with such a name fits; none where it belongs to something else.
    pub(super) fn fit(
        &self,
        kind: DeclarationKind,
        name: &str,
        place: &DeclaredPlace<'_>,
    ) -> Option<NameFit> {
        let fits = |wanted: &QualifiedName| match wanted.fit(name, Some(kind), place) {
            // Of modules and packages only code is.
            fit if LocationKind::from(kind).is_entry() && fit.tier > NameTier::Container => {
                NameFit::STRANGE
            }
            fit => fit,
        };
        match &self.goal {
            PassGoal::Named(wanted) => Some(fits(wanted)),
            PassGoal::Containing(wanted, tier) => {
                (fits(wanted).tier <= *tier).then_some(NameFit::WHOLE)
            }
            _ => Some(NameFit::WHOLE),
        }
    }

    /// Whether a use of a name is one of what is looked for.
    pub(super) fn is_use(&self, name: &str) -> bool {
        match &self.goal {
            PassGoal::Named(wanted) => wanted.is(name),
            PassGoal::Matching(expression) => expression.is_match(name),
            _ => false,
        }
    }
}
