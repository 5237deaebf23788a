//! Constructs that a few words in a row show.

use crate::language::Language;

const TS: &[Language] = &[Language::TypeScript, Language::Tsx];
const JS: &[Language] = &[Language::JavaScript];
const BOTH: &[Language] = &[Language::TypeScript, Language::Tsx, Language::JavaScript];
const RUST: &[Language] = &[Language::Rust];
const JAVA: &[Language] = &[Language::Java];
const C: &[Language] = &[Language::C, Language::Cpp];
const CPP: &[Language] = &[Language::Cpp];
const PHP: &[Language] = &[Language::Php];
const RUBY: &[Language] = &[Language::Ruby];

/// Words and signs in a row. `~` before one blanks it, `^` makes a name of it; `ID` is any word, `!x` anything but `x`.
pub(super) const PATTERNS: &[(&[Language], &str)] = &[
    (TS, "export ~type *"),
    (TS, "< ~in ID ,"),
    (TS, "< ~in ID >"),
    (TS, "< ~in ID extends"),
    (TS, "< ~in ID ="),
    (TS, "< ~in ~out ID"),
    (TS, "< ~out ID"),
    (TS, ", ~in ~out ID"),
    (TS, ", ~in ID"),
    (TS, ", ~out ID"),
    (TS, "abstract ~accessor"),
    (TS, "static ~accessor"),
    (TS, "override ~accessor"),
    (TS, "readonly ~accessor"),
    (JS, "~accessor ID ="),
    (JS, "~accessor ID ;"),
    (JS, "~accessor # ID"),
    (BOTH, "( ~using ID of"),
    (BOTH, "( ~await ~using ID of"),
    (BOTH, "import ~defer *"),
    (BOTH, "import ~source ID from"),
    (BOTH, "import ~. ~defer ("),
    (BOTH, "import ~. ~source ("),
    (TS, "~export import type ID ="),
    (TS, "~export import ID ="),
    (TS, "~export ~= function ID ("),
    (TS, "!declare ~global {"),
    (TS, "] ~? :"),
    (TS, "^abstract ? :"),
    (TS, "^abstract :"),
    (RUST, "~safe fn"),
    (RUST, "~safe static"),
    (RUST, "where ^( ^) :"),
    (RUST, ", ^( ^) :"),
    (RUST, ", ~. ~. }"),
    (RUST, "^$"),
    (RUST, "^raw @"),
    (RUST, "^str !"),
    (RUST, "^try !"),
    (RUST, "< ~- ID"),
    (JAVA, "import ~module ID"),
    (JAVA, "^super ("),
    (JAVA, "case ID ~ID :"),
    (JAVA, "ID ~_ ,"),
    (JAVA, "ID ~_ - >"),
    (C, "^auto ID ="),
    (CPP, "( ~this ID"),
    (CPP, "operator ( ) ~. ~. ~."),
    (C, "case ID ~. ~. ~. ~ID :"),
    (PHP, "~( ~void ~)"),
    (PHP, "~final public"),
    (PHP, "~final protected"),
    (PHP, "~final private"),
    (RUBY, "def ^self ("),
];
