//! What secrets look like, and what is left of them.
//!
//! Patterns are made of ASCII classes: the regex engine carries no Unicode tables.

use std::sync::LazyLock;

use regex::Regex;

use super::MASK;

/// Words in the names of what is secret.
const SECRET_WORD: &str = "(?:passw(?:or)?d|passphrase|pwd|secret|token|credential\
    |(?:api|access|account|encryption|master|private|shared|signing)[_-]?key)";
/// Between a name and its value.
const ASSIGNED: &str = r#"(?:\\?["'])?[ \t]*(?:=>|:=|=|:)[ \t]*"#;
/// A value, in quotes or without.
const ASSIGNED_VALUE: &str = r#"(?:\\?"[^"\n]*"?|\\?'[^'\n]*'?|[^\x00-\x20]+)"#;
/// A word of a shell, of which parts may be in quotes.
const SHELL_WORD: &str = r#"(?:"[^"\n]*"?|'[^'\n]*'?|[^\x00-\x20"'])+"#;
/// Between the words of a command, over lines that continue.
const BLANK: &str = r"(?:[ \t=]|\\\r?\n)";
/// Keys whose prefix names their issuer.
const TOKENS: &[&str] = &[
    r"(?-u:\b)(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA)[A-Z0-9]{16}",
    r"gh[a-z]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}",
    r"(?-u:\b)gl[a-z]{1,6}-[A-Za-z0-9_-]{16,}",
    r"xox[a-z]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}",
    r"(?-u:\b)sk-[A-Za-z0-9_-]{16,}|(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}|(?-u:\b)ya29\.[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)(?:npm|hf)_[A-Za-z0-9]{30,}|(?-u:\b)pypi-[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)rubygems_[0-9a-f]{32,}|(?-u:\b)dckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}",
    r"(?-u:\b)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|(?-u:\b)key-[0-9a-f]{32}",
    r"AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9]+)-1[0-9A-Za-z]+",
    r"(?-u:\b)hv[sbr]\.[A-Za-z0-9_-]{24,}|(?-u:\b)do[por]_v1_[0-9a-f]{32,}",
    r"(?-u:\b)shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|(?-u:\b)glsa_[A-Za-z0-9_]{30,}",
    r"hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
];

/// Each pattern with what replaces what it matches.
pub(super) static ALL: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let tokens = TOKENS.iter().map(|token| ((*token).to_owned(), MASK));
    let all = blocks().into_iter().chain(tokens).chain(headers()).chain(named());
    all.map(|(pattern, left)| (Regex::new(&pattern).expect("the patterns are tested"), left))
        .collect()
});

fn blocks() -> Vec<(String, &'static str)> {
    let end = "PRIVATE KEY(?: BLOCK)?-----";
    vec![(format!("-----BEGIN [A-Z0-9 ]*{end}(?s:.*?)(?:-----END [A-Z0-9 ]*{end}|$)"), MASK)]
}

/// What follows a word of a protocol.
fn headers() -> Vec<(String, &'static str)> {
    let left = "${1}[redacted]";
    [
        (r"(?i-u:(\bbearer[ \t]+))[A-Za-z0-9._~+/=-]{8,}", left),
        (r#"(?i-u:(\bauthorization["']?[ \t]*[:=][ \t]*["']?[a-z]*[ \t]+))[^\x00-\x20"']+"#, left),
        (
            r#"([A-Za-z][A-Za-z0-9+.-]*://[^\x00-\x20/:@"'<>]*:)[^\x00-\x20/@"'<>]+@"#,
            "${1}[redacted]@",
        ),
        (r"([?&]sig=)[A-Za-z0-9%+/=_-]{16,}", left),
    ]
    .map(|(pattern, left)| (pattern.to_owned(), left))
    .to_vec()
}

/// What follows a name or an option that is the secret's.
fn named() -> Vec<(String, &'static str)> {
    let word = format!("[A-Z0-9_.-]*{SECRET_WORD}[A-Z0-9_.-]*");
    // A word of its own in a name, such as `DB_PASS`: many other words end in it.
    let pass = "(?:[A-Z0-9_.-]*[_.-])?pass(?:[_.-][A-Z0-9_.-]*)?";
    let patterns = [
        format!("(?i-u:({word}{ASSIGNED})){ASSIGNED_VALUE}"),
        format!(r#"(?i-u:(\b{pass}(?:\\?["'])?[ \t]*(?:=>|:=|=)[ \t]*)){ASSIGNED_VALUE}"#),
        format!(r#"(?i-u:(\b[A-Z0-9_.-]+[_.-]pass(?:\\?["'])?[ \t]*:[ \t]*)){ASSIGNED_VALUE}"#),
        // As environments have it.
        format!("((?-u:\\b)[A-Z][A-Z0-9_]*_KEY=){ASSIGNED_VALUE}"),
        format!(r"(?i-u:(--?[A-Z0-9-]*{SECRET_WORD}[A-Z0-9-]*[ \t]+)){SHELL_WORD}"),
        format!("(--oauth2-bearer{BLANK}+){SHELL_WORD}"),
        r"((?-u:\b)sshpass[ \t]+-p[ \t]*)[^\x00-\x20]+".to_owned(),
        r"((?-u:\b)(?:mysql|mysqldump|mysqladmin|mariadb)(?-u:\b)[^\n]*?[ \t]-p)[^\x00-\x20]+"
            .to_owned(),
    ];
    let all = patterns.into_iter().chain(user_options());
    all.map(|pattern| (pattern, "${1}[redacted]")).collect()
}

/// The password behind the user of an option of curl: the colon between them may be in quotes with either, with both
/// or with none.
fn user_options() -> [String; 3] {
    let curl = r"(?-u:\b)curl(?-u:\b)(?:\\\r?\n|[^\n])*?(?:[ \t]|\\\r?\n)";
    let option =
        format!("(?:{curl}(?:-[a-zA-Z]*[uU]{BLANK}*|--user{BLANK}+)|--proxy-user{BLANK}+)");
    let user = r#"(?:[^\x00-\x20:"']|"[^"\n:]*"|'[^'\n:]*')*"#;
    [
        format!(r#"({option}{user}(?::|"[^"\n:]*:"|'[^'\n:]*:')){SHELL_WORD}"#),
        format!(r#"({option}{user}"[^"\n:]*:)(?:\\.|[^"\\\n])+"#),
        format!(r#"({option}{user}'[^'\n:]*:)[^'\n]+"#),
    ]
}
