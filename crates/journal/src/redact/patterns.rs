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
/// Within a command, over lines that continue.
const WITHIN: &str = r"(?:\\\r?\n|[^\n;|&])*?";
/// Programs, and what else stands before an option of theirs that is followed by a password, with that option.
const PASSWORD_OPTIONS: &[(&str, &str)] = &[
    ("(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc|cf)WITHIN[ \t]login", "-p"),
    ("twineWITHIN[ \t]upload", "-p"),
    ("mongo(?:sh|dump|restore|export|import)?", "-p"),
    ("(?:redis|valkey|keydb)-cli", "-a"),
    ("ldap(?:add|compare|delete|modify|passwd|search|whoami)", "-w"),
    ("(?:un)?zip", "-P"),
    ("mosquitto_(?:pub|sub)", "-P"),
    ("ssh-keygen", "-[NP]"),
    ("openssl[ \t]+enc", "-k"),
];
/// What reads a password from its standard input.
const READERS: &str = "(?:--[a-z-]*(?:password|passphrase|token|secret)[a-z-]*-stdin|--passphrase-fd[ \t=]*0\
    |--with-token|(?-u:\\b)sudo[ \t]+(?:-[^\\x00-\\x20]+[ \t]+)*(?:-[A-Za-z]*S|--stdin)(?-u:\\b)\
    |(?-u:\\b)chpasswd(?-u:\\b)|-pass(?:in|out)?[ \t]+stdin)";
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
    let all = blocks().into_iter().chain(tokens).chain(headers()).chain(named()).chain(piped());
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
        (r#"(?i-u:(\bcookie["']?[ \t]*:[ \t]*))[^\x00-\x1f"']+"#, left),
        // A token that stands as the user, alone or before what is no password.
        (
            r#"(?i-u:(\bhttps?://))[^\x00-\x20/:@"'<>?#]{8,}((?::(?:x-oauth-basic)?)?@)"#,
            "${1}[redacted]${2}",
        ),
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
    let all = patterns.into_iter().chain(options()).chain(separated_options());
    all.map(|pattern| (pattern, "${1}[redacted]")).collect()
}

/// What follows an option that is the secret's in some programs only, or a key that a program is to keep.
fn options() -> Vec<String> {
    let of_programs = PASSWORD_OPTIONS.iter().map(|(program, option)| {
        let program = program.replace("WITHIN", WITHIN);
        format!(r"((?-u:\b){program}(?-u:\b){WITHIN}[ \t]{option}{BLANK}*){SHELL_WORD}")
    });
    // No option.
    let value = r#"(?:"[^"\n]*"?|'[^'\n]*'?|[^\x00-\x20"'-][^\x00-\x20]*)"#;
    let key = format!(
        r"[^\x00-\x20=]*(?i-u:{SECRET_WORD}|_auth|pypi-token\.[a-z0-9-]+)(?:[ \t]+-[^\x00-\x20]+)*"
    );
    let set = r"(?-u:\b)(?:(?:config|configure|npm|pnpm)[ \t]+set|config)(?:[ \t]+-[^\x00-\x20]+)*";
    let others = [
        r"((?-u:\b)7z[arz]?[ \t][^\n;|&]*?[ \t]-p)[^\x00-\x20]+".to_owned(),
        format!(r#"(-pass(?:in|out|word)?{BLANK}+["']?pass:)[^\x00-\x20"']+"#),
        format!(r"(-(?:src|dest|new)?(?:store|key)pass[ \t=]+){SHELL_WORD}"),
        format!(r"((?-u:\b)vault[ \t]+login[ \t]+(?:-[^\x00-\x20]+[ \t]+)*){value}"),
        format!(r"({set}[ \t]+{key}[ \t]+){value}"),
    ];
    of_programs.chain(others).collect()
}

/// What is written into the standard input of a program that reads a password there.
fn piped() -> Vec<(String, &'static str)> {
    let printed = r"((?-u:\b)(?:echo|printf)[ \t]+)[^\n|]+";
    vec![
        (format!(r"{printed}(\|[^\n|]*{READERS})"), "${1}[redacted] ${2}"),
        (format!(r"({READERS}[^\n]*?[ \t]<<<[ \t]*){SHELL_WORD}"), "${1}[redacted]"),
    ]
}

/// What stands behind a name in one option: the password of a user, the value of a cookie.
fn separated_options() -> impl Iterator<Item = String> {
    let curl = r"(?-u:\b)curl(?-u:\b)(?:\\\r?\n|[^\n])*?(?:[ \t]|\\\r?\n)";
    let user = format!("(?:{curl}(?:-[a-zA-Z]*[uU]{BLANK}*|--user{BLANK}+)|--proxy-user{BLANK}+)");
    let pair = format!("(?:{curl}-[a-zA-Z]*b{BLANK}*|--cookie{BLANK}+|--from-literal{BLANK}+)");
    let smb = format!(
        r"(?-u:\b)(?:smbclient|smbget|rpcclient|net)(?-u:\b){WITHIN}[ \t](?:-U{BLANK}*|--user{BLANK}+)"
    );
    [(user, ':'), (pair, '='), (smb, '%')]
        .into_iter()
        .flat_map(|(option, separator)| behind_separator(&option, separator))
}

/// The separator may be in quotes with what is around it, with either or with none.
fn behind_separator(option: &str, separator: char) -> [String; 3] {
    let name =
        format!(r#"(?:[^\x00-\x20{separator}"']|"[^"\n{separator}]*"|'[^'\n{separator}]*')*"#);
    [
        format!(
            r#"({option}{name}(?:{separator}|"[^"\n{separator}]*{separator}"|'[^'\n{separator}]*{separator}')){SHELL_WORD}"#
        ),
        format!(r#"({option}{name}"[^"\n{separator}]*{separator})(?:\\.|[^"\\\n])+"#),
        format!(r#"({option}{name}'[^'\n{separator}]*{separator})[^'\n]+"#),
    ]
}
