//! Types of files, as a parameter names them: `rust`, `.rs`, `ts,tsx`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use ignore::types::{Types, TypesBuilder};
use moss_sdk::{ErrorCode, RelPath, ToolError};

/// Names that people use for a type that the table calls something else.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("bash", "sh"),
    ("c#", "csharp"),
    ("c++", "cpp"),
    ("dockerfile", "docker"),
    ("golang", "go"),
    ("javascript", "js"),
    ("makefile", "make"),
    ("objective-c", "objc"),
    ("shell", "sh"),
    ("text", "txt"),
];
/// Most items of a list, and most bytes of one: no type or extension has so many.
const ITEMS_MAX: usize = 64;
const ITEM_BYTES_MAX: usize = 64;
/// Most names that are suggested in place of an unknown one.
const SUGGESTIONS_MAX: usize = 3;
/// How alike a suggestion must be, from 0 to 1.
const LIKENESS_MIN: f64 = 0.75;
/// Most characters of a name that a message repeats.
const SHOWN_CHARS_MAX: usize = 40;

/// A choice of file types. A file is admitted where one of them has it.
#[derive(Debug)]
pub struct FileTypes {
    /// What it was read from.
    list: String,
    types: Types,
    /// Endings of names, in lower case, each with its dot.
    endings: Vec<String>,
}

// === impl FileTypes ===

impl FileTypes {
    /// Reads a list of type names and extensions, separated by commas.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for an empty list, one that is too long, and for a name that is neither.
    pub fn parse(list: &str) -> Result<Self, ToolError> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let mut endings = Vec::new();
        let items = list.split(',').map(|item| item.trim().trim_start_matches('*'));
        let items: BTreeSet<&str> =
            items.filter(|item| !item.is_empty()).take(ITEMS_MAX + 1).collect();
        if items.len() > ITEMS_MAX || list.len() > ITEMS_MAX * (ITEM_BYTES_MAX + 2) {
            let message = format!("`fileType` has more than {ITEMS_MAX} items");
            return Err(ToolError::new(ErrorCode::InvalidArguments, message)
                .hint("name fewer types, or leave it out"));
        }
        for item in &items {
            match FileTypeItem::of(item)? {
                FileTypeItem::Named(name) => drop(builder.select(&name)),
                FileTypeItem::Ending(ending) => endings.push(ending),
            }
        }
        if items.is_empty() {
            return Err(ToolError::new(ErrorCode::InvalidArguments, "`fileType` names no type")
                .hint("write it as rust, .rs or ts,tsx, or leave it out"));
        }
        let types = builder.build().map_err(|error| {
            ToolError::new(ErrorCode::Internal, format!("the table of file types: {error}"))
        })?;
        Ok(Self { list: list.to_owned(), types, endings })
    }

    /// Returns the list that it was read from.
    pub fn list(&self) -> &str {
        &self.list
    }

    /// Whether a file is of one of the types, by its name.
    pub fn admits(&self, path: &RelPath) -> bool {
        path.file_name().is_some_and(|name| self.admit_name(name))
    }

    /// As [`FileTypes::admits`], of the name alone.
    pub fn admit_name(&self, name: &str) -> bool {
        let ends_so = |name: &str| self.endings.iter().any(|ending| name.ends_with(ending));
        !self.endings.is_empty() && ends_so(&name.to_lowercase())
            || self.types.matched(name, false).is_whitelist()
    }
}

/// All types that there are; it takes longer to build than most calls.
static TABLE: LazyLock<TypeTable> = LazyLock::new(TypeTable::new);

struct TypeTable {
    names: BTreeSet<String>,
    /// The files of every type; none where the library cannot read its own table.
    all: Option<Types>,
}

/// What an item of a list means.
enum FileTypeItem {
    /// A type of the table.
    Named(String),
    /// The end of a name.
    Ending(String),
}

impl FileTypeItem {
    fn of(item: &str) -> Result<Self, ToolError> {
        if item.len() > ITEM_BYTES_MAX {
            return Err(unknown(item));
        }
        let name = item.to_lowercase();
        let is_plain = |text: &str| {
            !text.is_empty() && !text.contains(['/', '*', '?', '[', ']', '{', '}', '\\'])
        };
        if let Some(extension) = name.strip_prefix('.') {
            return if is_plain(extension) { Ok(Self::Ending(name)) } else { Err(unknown(item)) };
        }
        if !is_plain(&name) {
            return Err(unknown(item));
        }
        let other = OTHER_NAMES.iter().find(|(other, _)| *other == name);
        let name = other.map_or(name, |(_, name)| (*name).to_owned());
        if TABLE.names.contains(&name) {
            return Ok(Self::Named(name));
        }
        if name.contains('.') || TABLE.has_extension(&name) {
            return Ok(Self::Ending(format!(".{name}")));
        }
        Err(unlike(item, &name, TABLE.names.iter().map(String::as_str)))
    }
}

// === impl TypeTable ===

impl TypeTable {
    fn new() -> Self {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let names = builder.definitions().iter().map(|known| known.name().to_owned()).collect();
        Self { names, all: builder.select("all").build().ok() }
    }

    /// Whether some type has files that end so.
    fn has_extension(&self, extension: &str) -> bool {
        let name = format!("x.{extension}");
        self.all.as_ref().is_some_and(|all| all.matched(name, false).is_whitelist())
    }
}

fn unknown(item: &str) -> ToolError {
    let shown: String = item.chars().take(SHOWN_CHARS_MAX).collect();
    let message = format!("`fileType` names no known file type or extension: `{shown}`");
    ToolError::new(ErrorCode::InvalidArguments, message)
        .hint("write type names or extensions, such as rust, .rs or ts,tsx")
}

fn unlike<'a>(item: &str, name: &str, names: impl Iterator<Item = &'a str>) -> ToolError {
    let mut alike: Vec<(f64, &str)> = names
        .map(|other| (strsim::jaro_winkler(name, other), other))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    alike.truncate(SUGGESTIONS_MAX);
    let error = unknown(item);
    if alike.is_empty() {
        return error;
    }
    let alike: Vec<String> = alike.iter().map(|(_, name)| format!("`{name}`")).collect();
    let ending: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    error.hint(format!(
        "the nearest types are {}; for every file whose name ends so, write `.{ending}`",
        alike.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(list: &str, path: &str) -> bool {
        FileTypes::parse(list).unwrap().admits(&RelPath::parse(path).unwrap())
    }

    #[test]
    fn types_and_extensions_admit_what_they_name() {
        let cases: [(&str, &[&str], &[&str]); 14] = [
            ("rust", &["a.rs", "b/c.rs"], &["a.rsx", "rs", "a.py"]),
            ("rs", &["a.rs", "A.RS"], &["a.r"]),
            (".rs", &["a.rs"], &["rs"]),
            ("*.rs", &["a.rs"], &["a.ts"]),
            ("py", &["a.py", "a.pyi"], &["a.pyc"]),
            (".py", &["a.py"], &["a.pyi"]),
            ("Python", &["a.py"], &["a.rs"]),
            ("ts, .md ,", &["a.ts", "a.tsx", "b.MD"], &["a.js"]),
            ("tsx", &["a.tsx"], &["a.ts"]),
            ("javascript", &["a.js", "a.mjs"], &["a.ts"]),
            ("c++", &["a.cpp", "a.hpp", "a.cc"], &["a.rs"]),
            ("hpp", &["a.hpp"], &["a.cpp"]),
            ("d.ts", &["a.d.ts"], &["a.ts", "ad.ts"]),
            (".moss-own", &["a.moss-own"], &["moss-own"]),
        ];
        for (list, inside, outside) in cases {
            inside.iter().for_each(|path| assert!(admits(list, path), "{list}: {path}"));
            outside.iter().for_each(|path| assert!(!admits(list, path), "{list}: {path}"));
        }
        assert!(admits("docker", "Dockerfile") && admits("makefile", "src/Makefile"));
    }

    #[test]
    fn what_is_named_twice_counts_once() {
        let list = vec!["rs"; 1_000].join(",");
        assert!(FileTypes::parse(&list).is_ok_and(|types| types.endings == [".rs"]));
    }

    #[test]
    fn unknown_types_are_refused_with_the_nearest_names() {
        let refused = |list: &str| {
            let error = FileTypes::parse(list).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArguments, "{list}");
            error.to_string()
        };
        assert!(refused("rsut").contains("`rust`"), "{}", refused("rsut"));
        assert!(refused("rs,pyton").contains("`python`"));
        assert!(refused("pyton").contains("`.pyton`"));
        assert!(refused("qqqqq").contains("such as rust"));
        for list in ["", " , ", "*", ".", "src/", "a?", "[x]", "a/b"] {
            refused(list);
        }
        assert!(refused(&"x".repeat(5_000)).len() < 400);
        let many: Vec<String> = (0..=ITEMS_MAX).map(|number| format!(".x{number}")).collect();
        assert!(refused(&many.join(",")).contains("more than 64 items"));
        assert!(refused(&"x".repeat(8 << 20)).len() < 400);
        assert!(refused(&",".repeat(8 << 20)).contains("more than 64 items"));
    }
}
