//! Names as people write them, with what they say that a name belongs to, and how well a declaration fits that.
//!
//! What a name is said to belong to is a preference: a module, a package or a base class says less than a container
//! does, but what has the name is still found.

use moss_sdk::RelPath;
use moss_symbols::{Declaration, DeclarationKind, Outline, TextRange};

/// Up to this line a text says of which package it is.
const PACKAGE_LINE_MAX: usize = 200;
/// What stands between a name and what it belongs to.
const SEPARATORS: [&str; 6] = ["::", "->", "#", ".", "/", "\\"];
/// Words before a name that say nothing of what it belongs to.
const EMPTY_WORDS: [&str; 7] = ["crate", "self", "Self", "super", "this", "prototype", "exports"];
/// Words before the one that says what is declared.
const MODIFIERS: [&str; 24] = [
    "abstract",
    "async",
    "data",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "inline",
    "internal",
    "local",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "pub(crate)",
    "pub(super)",
    "public",
    "sealed",
    "static",
    "unsafe",
    "virtual",
];
const FUNCTIONS: &[DeclarationKind] = {
    use DeclarationKind as K;
    &[K::Function, K::Method, K::Macro, K::Test]
};
const TYPES: &[DeclarationKind] = {
    use DeclarationKind as K;
    &[K::Class, K::Struct, K::Enum, K::Interface, K::Trait, K::Type]
};
const MODULES: &[DeclarationKind] = &[DeclarationKind::Module];
/// Words that say what is declared; of values also functions are.
const KEYWORDS: [(&str, &[DeclarationKind]); 24] = [
    ("class", TYPES),
    ("const", &[]),
    ("def", FUNCTIONS),
    ("enum", TYPES),
    ("fn", FUNCTIONS),
    ("fun", FUNCTIONS),
    ("func", FUNCTIONS),
    ("function", FUNCTIONS),
    ("interface", TYPES),
    ("let", &[]),
    ("macro_rules!", FUNCTIONS),
    ("mod", MODULES),
    ("module", MODULES),
    ("namespace", MODULES),
    ("package", MODULES),
    ("protocol", TYPES),
    ("record", TYPES),
    ("struct", TYPES),
    ("sub", FUNCTIONS),
    ("trait", TYPES),
    ("type", TYPES),
    ("union", TYPES),
    ("val", &[]),
    ("var", &[]),
];
/// Words behind the name of a type in its first line.
const BEHIND_TYPES: [&str; 5] = ["extends", "implements", "interface", "struct", "where"];

/// A name, with what it is said to belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QualifiedName {
    /// What it belongs to, the outermost first.
    pub around: Vec<String>,
    /// The name, without what stands before it.
    pub name: String,
    /// What a keyword before it says that it is; empty where none does.
    kinds: &'static [DeclarationKind],
}

/// Where something is declared.
#[derive(Debug, Clone)]
pub struct DeclaredPlace<'a> {
    /// The file that declares it.
    pub path: &'a RelPath,
    /// The names of what it belongs to and lies in, the innermost first.
    pub containers: Vec<&'a str>,
    /// Whether the innermost of them is more than a module.
    pub is_member: bool,
    /// The text of the file, where it is at hand: it may say of which package it is.
    pub text: &'a str,
}

/// How what is declared belongs to what is said before its name; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameTier {
    /// To the container that is said, or nothing is said.
    Container,
    /// To a module, a file, a directory or a package of that name, to something within such a container, or to one that
    /// has the name in other letters, as variables do.
    Module,
    /// To something else that lies in such a module.
    Beside,
    /// To nothing that is said: it only has the name.
    Name,
}

/// How well a declaration fits a qualified name; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameFit {
    /// How it belongs to what is said last before the name.
    pub tier: NameTier,
    /// How much else that is said of it is not so.
    misses: usize,
}

// === impl NameFit ===

impl NameFit {
    /// What nothing speaks against.
    pub const WHOLE: Self = Self { tier: NameTier::Container, misses: 0 };
    /// What only has the name.
    pub const STRANGE: Self = Self { tier: NameTier::Name, misses: 0 };
}

// === impl QualifiedName ===

impl QualifiedName {
    /// Reads a name with what it belongs to, as `Store::open`, `(*Engine).ServeHTTP`, `Vec<T>.push` or `fn scan(`; none
    /// for what is no name.
    pub fn parse(search: &str) -> Option<Self> {
        let said = Said::of(search.trim());
        if let Some((before, name)) = operator(&said.text) {
            return Self::new(before, name, said.kinds);
        }
        let text = said.text.strip_suffix("()").unwrap_or(&said.text);
        let text = without_calls(&without_generics(&without_signs(text))?)?;
        let cut = SEPARATORS
            .iter()
            .filter_map(|separator| text.rfind(separator).map(|at| (at, separator.len())))
            .max();
        let (before, name) = match cut {
            Some((at, length)) => (&text[..at], &text[at + length..]),
            None => ("", &*text),
        };
        if !name.chars().all(is_part) || before.contains(char::is_whitespace) {
            return None;
        }
        Self::new(before, name, said.kinds)
    }

    fn new(before: &str, name: &str, kinds: &'static [DeclarationKind]) -> Option<Self> {
        let words = before.split(|c| !is_part(c)).filter(|word| !word.is_empty());
        let words = words.filter(|word| !EMPTY_WORDS.contains(word));
        let around = words.map(str::to_owned).collect();
        (!name.is_empty()).then(|| Self { around, name: name.to_owned(), kinds })
    }

    /// What it is said to belong to.
    pub fn owner(&self) -> Option<&str> {
        self.around.last().map(String::as_str)
    }

    /// What stands in a text wherever something has this name: `!` is how macros are called, and no part of theirs.
    pub fn written(&self) -> &str {
        self.name.strip_suffix('!').filter(|name| !name.is_empty()).unwrap_or(&self.name)
    }

    /// Whether a keyword before it says that all of a name stands there, as in the first line of a declaration.
    pub fn is_declared(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Whether something has this name; PHP writes `$` before the names of variables.
    pub fn is(&self, name: &str) -> bool {
        name == self.name || name == self.written() || self.name.strip_prefix('$') == Some(name)
    }

    /// How well a declaration of this name, or of one that contains it, fits.
    pub fn fit(
        &self,
        name: &str,
        kind: Option<DeclarationKind>,
        place: &DeclaredPlace<'_>,
    ) -> NameFit {
        let is_kind = self.kinds.is_empty() || kind.is_some_and(|kind| self.kinds.contains(&kind));
        let is_whole = self.written() == self.name || name != self.written();
        let misses = usize::from(!is_kind) + usize::from(!is_whole);
        let Some((owner, others)) = self.around.split_last() else {
            return NameFit { tier: NameTier::Container, misses };
        };
        let (first, outer) = match place.containers.split_first() {
            Some((first, outer)) => (Some(*first), outer),
            None => (None, [].as_slice()),
        };
        let is_first = first.is_some_and(|own| is_same(own, owner));
        let tier = if is_first && first.is_some_and(|own| own.contains(owner.as_str())) {
            NameTier::Container
        } else if is_first || outer.iter().any(|own| is_same(own, owner)) {
            NameTier::Module
        } else if place.is_in_module(owner) {
            if place.is_member { NameTier::Beside } else { NameTier::Module }
        } else {
            NameTier::Name
        };
        let is_near = |word: &&String| {
            place.containers.iter().any(|own| is_same(own, word)) || place.is_in_module(word)
        };
        let strangers = others.iter().filter(|word| !is_near(word)).count();
        NameFit { tier, misses: misses + strangers }
    }
}

// === impl DeclaredPlace ===

impl<'a> DeclaredPlace<'a> {
    /// The place of a declaration of a text.
    pub fn of(
        path: &'a RelPath,
        text: &'a str,
        outline: &Outline,
        declaration: &Declaration,
    ) -> Self {
        let name = |range: &TextRange| {
            text.get(range.start as usize..range.end as usize).unwrap_or_default()
        };
        let around = |place: Option<u32>| outline.declarations.get(place? as usize);
        let mut containers: Vec<&str> = declaration.owner.iter().map(name).collect();
        let mut next = around(declaration.container);
        let is_in_type = next.is_some_and(|one| one.kind != DeclarationKind::Module);
        while let Some(one) = next {
            containers.push(name(&one.name));
            next = around(one.container);
        }
        let is_member = declaration.owner.is_some() || is_in_type;
        Self { path, containers, is_member, text }
    }

    /// Whether the package, the file or a directory of it has a name.
    fn is_in_module(&self, name: &str) -> bool {
        let stem = |part: &str| is_same(part.split('.').next().unwrap_or(part), name);
        self.path.components().any(stem) || self.package().is_some_and(|own| is_same(own, name))
    }

    /// The package that the text says it is of.
    fn package(&self) -> Option<&'a str> {
        let says = |line: &&str| line.starts_with("package ") || line.starts_with("namespace ");
        let line = self.text.lines().take(PACKAGE_LINE_MAX).find(says)?;
        Some(line.split_whitespace().nth(1)?.trim_end_matches([';', '{']))
    }
}

/// Whether two names of containers or modules are the same; `-` and `_` are, and letters of either case.
fn is_same(own: &str, said: &str) -> bool {
    let own = own.split('<').next().unwrap_or(own);
    let own = own.rsplit([':', '.', '\\']).next().unwrap_or(own);
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
    own.bytes().map(plain).eq(said.bytes().map(plain))
}

/// Whether a name may hold a character: also those of CSS, Ruby, Lisp and shells.
fn is_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '?' | '!' | '@' | '~')
}

/// What is searched for without a keyword before it and what stands behind the name then.
struct Said {
    text: String,
    kinds: &'static [DeclarationKind],
}

// === impl Said ===

impl Said {
    fn of(search: &str) -> Self {
        Self::with_keyword(search).unwrap_or_else(|| Self { text: search.to_owned(), kinds: &[] })
    }

    fn with_keyword(search: &str) -> Option<Self> {
        let (mut rest, mut found) = (search, None);
        while let Some((word, after)) = rest.split_once(char::is_whitespace) {
            match KEYWORDS.iter().find(|(keyword, _)| *keyword == word) {
                // Of `const fn` and its like the last counts.
                Some(known) => found = Some(*known),
                None if MODIFIERS.contains(&word) => {}
                None => break,
            }
            rest = after.trim_start();
        }
        let (keyword, kinds) = found?;
        let (receiver, rest) = match (keyword, rest.strip_prefix('(')) {
            ("func", Some(inner)) => {
                let (receiver, after) = inner.split_once(')')?;
                let of_type = receiver.rsplit([' ', '*']).next().unwrap_or(receiver);
                (format!("{}.", of_type.split('[').next().unwrap_or(of_type)), after.trim_start())
            }
            _ => (String::new(), rest),
        };
        let is_within = |c: char| is_part(c) || matches!(c, '.' | ':' | '\\' | '`' | '#');
        let end = rest.find(|c| !is_within(c)).unwrap_or(rest.len());
        let (name, behind) = (rest[..end].trim_end_matches(':'), rest[end..].trim_start());
        let word = behind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_end = behind.is_empty()
            || behind.starts_with(['(', '<', '{', ';', '['])
            || BEHIND_TYPES.contains(&word)
            || rest[..end].ends_with(':');
        (is_end && !name.is_empty()).then(|| Self { text: format!("{receiver}{name}"), kinds })
    }
}

/// A name as it is kept: without what Rust has before keywords, and other languages around them.
fn without_signs(search: &str) -> String {
    let bare = search.strip_prefix("r#").unwrap_or(search);
    bare.replace("::r#", "::").replace(".r#", ".").replace('`', "")
}

/// The name of an operator of C++, and what stands before it.
fn operator(text: &str) -> Option<(&str, &str)> {
    let at = text.rfind("operator")?;
    let (before, name) = text.split_at(at);
    let signs = &name["operator".len()..];
    let is_signs = !signs.is_empty() && signs.chars().all(|c| "+-*/%^&|~!=<>,()[]".contains(c));
    (is_signs && !before.ends_with(is_part)).then_some((before, name))
}

/// Leaves out arguments of types, as in `Vec<T>::push`; none where a bracket is open.
fn without_generics(text: &str) -> Option<String> {
    let (mut bare, mut depth, mut before) = (String::new(), 0_u32, ':');
    for c in text.chars() {
        match c {
            '<' if depth > 0 || is_part(before) || before == ':' => depth += 1,
            '>' if depth > 0 && !matches!(before, '-' | '=') => depth -= 1,
            _ if depth == 0 => bare.push(c),
            _ => {}
        }
        before = c;
    }
    let is_cut = bare.len() < text.len();
    let bare = if is_cut { bare.trim_end_matches("::").to_owned() } else { bare };
    (depth == 0).then_some(bare)
}

/// Takes receivers for what they name, `(*Engine).ServeHTTP`, and calls for what is called, `Parser().parse`; none
/// where a name does not go on behind them.
fn without_calls(text: &str) -> Option<String> {
    let mut bare = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        bare.push_str(before);
        let mut depth = 1_u32;
        let end = after.char_indices().find_map(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at)
        })?;
        let behind = &after[end + 1..];
        if !SEPARATORS.iter().any(|separator| behind.starts_with(separator)) {
            return None;
        }
        if !before.ends_with(is_part) {
            bare.push_str(after[..end].trim_start_matches(['*', '&']));
        }
        rest = behind;
    }
    bare.push_str(rest);
    Some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(search: &str) -> Option<String> {
        let name = QualifiedName::parse(search)?;
        let around: String = name.around.iter().map(|one| format!("{one} ")).collect();
        Some(around + &name.name)
    }

    #[test]
    fn names_are_read_with_what_they_belong_to() {
        for (search, expected) in [
            ("parse", "parse"),
            ("Parser::parse", "Parser parse"),
            ("a::Parser.parse()", "a Parser parse"),
            ("Parser#parse", "Parser parse"),
            ("Parser/parse", "Parser parse"),
            ("r#type", "type"),
            ("a::r#mod::r#type", "a mod type"),
            ("value.r#type()", "value type"),
            ("Store.`in`", "Store in"),
            ("empty?", "empty?"),
            ("say_hello!", "say_hello!"),
            ("crate::walk::scan", "walk scan"),
            ("self.parse", "parse"),
            ("Axios.prototype.request", "Axios request"),
            ("App\\Models\\User", "App Models User"),
            ("\\App\\User", "App User"),
            ("operator==", "operator=="),
            ("A::operator()", "A operator()"),
            ("File<T>::open", "File open"),
            ("Map<K, Vec<V>>::get", "Map get"),
            ("run::<u8>", "run"),
            ("<T as Shape>::area", "area"),
            ("(*Engine).ServeHTTP", "Engine ServeHTTP"),
            ("example.com/gin.(*Engine).ServeHTTP", "example com gin Engine ServeHTTP"),
            ("Parser(a, b()).parse", "Parser parse"),
            ("fn scan", "scan"),
            ("pub(crate) async fn walk::scan(paths: &[PathBuf]) -> u8 {", "walk scan"),
            ("class Outer", "Outer"),
            ("class Outer(Base):", "Outer"),
            ("export default class Outer extends Base {", "Outer"),
            ("def deep", "deep"),
            ("pub const fn deep()", "deep"),
            ("func New(", "New"),
            ("func (e *Engine) ServeHTTP(w Writer)", "Engine ServeHTTP"),
            ("type Engine struct {", "Engine"),
            ("macro_rules! twice", "twice"),
        ] {
            assert_eq!(read(search).as_deref(), Some(expected), "{search}");
        }
    }

    #[test]
    fn code_is_no_name() {
        for code in [
            "r#",
            "let x = 1",
            "a + b",
            "foo(",
            "foo(a)",
            "x::",
            "if (a)",
            "x = a.b",
            "a < b",
            "Vec<",
            "class names are read",
            "",
        ] {
            assert_eq!(read(code), None, "{code}");
        }
    }

    #[test]
    fn what_is_said_before_a_name_is_a_preference() {
        let fit = |search: &str, path: &str, containers: &[&str], is_member: bool| {
            let name = QualifiedName::parse(search).unwrap();
            let path = RelPath::parse(path).unwrap();
            let (containers, text) = (containers.to_vec(), "// A.\npackage gin;\n");
            let place = DeclaredPlace { path: &path, containers, is_member, text };
            let own = name.name.clone();
            name.fit(&own, Some(DeclarationKind::Function), &place)
        };
        for (search, path, containers, is_member, tier) in [
            ("get", "a.py", &["A"][..], true, NameTier::Container),
            ("A.get", "a.py", &["A", "B"], true, NameTier::Container),
            ("B.get", "a.py", &["A", "B"], true, NameTier::Module),
            ("a.get", "b.py", &["A"], true, NameTier::Module),
            ("requests.get", "src/requests/api.py", &[], false, NameTier::Module),
            ("requests.get", "src/requests/api.py", &["tests"], false, NameTier::Module),
            ("requests.get", "src/requests/api.py", &["Session"], true, NameTier::Beside),
            ("api.get", "src/requests/api.py", &[], false, NameTier::Module),
            ("gin.New", "context.go", &[], false, NameTier::Module),
            ("my_crate::run", "crates/my-crate/src/lib.rs", &[], false, NameTier::Module),
            ("Flask.route", "src/scaffold.py", &["Scaffold"], true, NameTier::Name),
        ] {
            assert_eq!(fit(search, path, containers, is_member).tier, tier, "{search} in {path}");
        }
        let of = |search: &str| fit(search, "src/walk.rs", &["Walk"], true);
        assert!(of("walk::Walk::run") < of("other::Walk::run"));
        assert!(of("fn run") < of("class run"));
        assert_eq!(of("fn run"), NameFit::WHOLE);
    }

    #[test]
    fn a_name_with_the_sign_of_macros_is_also_one_without() {
        let name = QualifiedName::parse("save!").unwrap();
        assert!(name.is("save!") && name.is("save") && !name.is("saved"));
        let path = RelPath::parse("a.rb").unwrap();
        let (containers, text) = (Vec::new(), "");
        let place = DeclaredPlace { path: &path, containers, is_member: false, text };
        assert!(name.fit("save!", None, &place) < name.fit("save", None, &place));
    }
}
