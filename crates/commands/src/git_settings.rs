//! Settings of git: which a file has, and which may make git run a program although it only reads.
//!
//! A file is read as git reads it. One that git would refuse has no settings at all.

use std::iter::Peekable;
use std::slice::Iter;
use std::sync::LazyLock;

use serde::Deserialize;

static NAMES: LazyLock<SettingNames> = LazyLock::new(|| {
    toml::from_str(include_str!("git_settings.toml")).expect("a test reads the table")
});

/// Names of settings; the table describes them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingNames {
    harmless: Vec<String>,
    while_reading: Vec<String>,
    exact: Vec<(String, String)>,
}

/// A setting in a file of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetting {
    /// Its section and its key in lower case, with what stands between as it is: `diff.Word.textconv`.
    pub name: String,
    /// What it is set to; none for a key alone, which is true.
    pub value: Option<String>,
}

/// Reads all settings of a file; none where git would refuse it.
pub fn git_settings(text: &[u8]) -> Option<Vec<GitSetting>> {
    // To git a name ends before a zero.
    if text.contains(&0) {
        return None;
    }
    // As git does, which takes a carriage return before a line break for none.
    let plain: Vec<u8> = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).to_vec();
    let mut kept = Vec::with_capacity(plain.len());
    for (at, &byte) in plain.iter().enumerate() {
        if byte != b'\r' || plain.get(at + 1) != Some(&b'\n') {
            kept.push(byte);
        }
    }
    let mut reader = SettingsReader { rest: kept.iter().peekable() };
    let (mut settings, mut section) = (Vec::new(), String::new());
    while let Some(byte) = reader.next() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {}
            b'#' | b';' => reader.skip_line(),
            b'[' => section = reader.section()?,
            first if first.is_ascii_alphabetic() && !section.is_empty() => {
                let (key, value) = reader.setting(first)?;
                settings.push(GitSetting { name: format!("{section}.{key}"), value });
            }
            _ => return None,
        }
    }
    Some(settings)
}

/// A place in a file of settings.
struct SettingsReader<'a> {
    rest: Peekable<Iter<'a, u8>>,
}

// === impl SettingsReader ===

impl SettingsReader<'_> {
    fn next(&mut self) -> Option<u8> {
        self.rest.next().copied()
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// Reads what stands behind `[`, up to `]`.
    fn section(&mut self) -> Option<String> {
        let mut name = Vec::new();
        loop {
            match self.next()? {
                b']' => return text(name),
                b' ' | b'\t' => break,
                byte if is_key(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                _ => return None,
            }
        }
        while self.rest.next_if(|byte| matches!(byte, b' ' | b'\t')).is_some() {}
        if self.next()? != b'"' {
            return None;
        }
        name.push(b'.');
        loop {
            match self.next()? {
                b'\n' => return None,
                b'"' => break,
                b'\\' => name.push(self.next().filter(|byte| *byte != b'\n')?),
                byte => name.push(byte),
            }
        }
        (self.next()? == b']').then_some(name).and_then(text)
    }

    /// Reads a key, of which the first character was read, and its value.
    fn setting(&mut self, first: u8) -> Option<(String, Option<String>)> {
        let mut key = vec![first.to_ascii_lowercase()];
        while let Some(byte) = self.rest.next_if(|byte| is_key(**byte)) {
            key.push(byte.to_ascii_lowercase());
        }
        while self.rest.next_if(|byte| matches!(byte, b' ' | b'\t')).is_some() {}
        let value = match self.next() {
            None | Some(b'\n') => None,
            Some(b'=') => Some(self.value()?),
            Some(_) => return None,
        };
        Some((text(key)?, value))
    }

    fn value(&mut self) -> Option<String> {
        let (mut value, mut end, mut is_quoted) = (Vec::new(), 0, false);
        loop {
            match self.next() {
                None | Some(b'\n') if is_quoted => return None,
                None | Some(b'\n') => break,
                Some(b'#' | b';') if !is_quoted => {
                    self.skip_line();
                    break;
                }
                Some(byte @ (b' ' | b'\t' | b'\r')) if !is_quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                Some(b'"') => is_quoted = !is_quoted,
                Some(b'\\') => match self.next()? {
                    b'\n' => continue,
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return None,
                },
                Some(byte) => value.push(byte),
            }
            end = value.len();
        }
        value.truncate(end);
        Some(String::from_utf8_lossy(&value).into_owned())
    }
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn text(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.is_empty()).then_some(text)
}

// === impl GitSetting ===

impl GitSetting {
    /// Whether it may make git run a program that only reads; `only_reads` says whether it is all that git does
    /// in the command.
    pub fn may_run(&self, only_reads: bool) -> bool {
        let is_exact = |(name, value): &(String, String)| {
            *name == self.name && self.value.as_deref() == Some(value)
        };
        let is_named = |known: &String| self.is(known);
        !(NAMES.harmless.iter().any(is_named)
            || (only_reads && NAMES.while_reading.iter().any(is_named))
            || NAMES.exact.iter().any(is_exact))
    }

    fn is(&self, known: &str) -> bool {
        if let Some(section) = known.strip_suffix(".*") {
            return self.name.split('.').next() == Some(section);
        }
        let Some((section, key)) = known.split_once(".*.") else { return self.name == known };
        let inner = self.name.strip_prefix(section).and_then(|rest| rest.strip_prefix('.'));
        // A name may have dots: the key is behind the last one.
        inner.and_then(|rest| rest.rsplit_once('.')).is_some_and(|(_, found)| found == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let settings = git_settings(text.as_bytes())?.into_iter();
        Some(
            settings
                .map(|GitSetting { name, value }| match value {
                    Some(value) => format!("{name}={value}"),
                    None => name,
                })
                .collect(),
        )
    }

    fn may_run(text: &str, only_reads: bool) -> bool {
        git_settings(text.as_bytes()).unwrap().iter().any(|setting| setting.may_run(only_reads))
    }

    #[test]
    fn settings_are_read_as_git_reads_them() {
        for (text, expected) in [
            ("[core]\n\tbare = false\n", vec!["core.bare=false"]),
            ("[Core] FsMonitor", vec!["core.fsmonitor"]),
            ("[diff \"X.y\"]\r\ntextconv = a \"b ; c\" # d\r\n", vec!["diff.X.y.textconv=a b ; c"]),
            ("[diff.X]command=x", vec!["diff.x.command=x"]),
            ("[a]b = c\\\nd = e\n f=g", vec!["a.b=cd = e", "a.f=g"]),
            ("\u{feff}; x\n[a \"\\\"]\\\\\"]\nb=\n", vec!["a.\"]\\.b="]),
            ("[a]\n[include] path = x ;y", vec!["include.path=x"]),
        ] {
            assert_eq!(names(text).unwrap(), expected, "{text:?}");
        }
        for text in [
            "[a",
            "a=b",
            "[a]\n=b",
            "[a]b \"c\"",
            "[a]b=\"c\n",
            "[a]b=\\x",
            "[a \"b\n\"]",
            "[]\na=b",
        ] {
            assert_eq!(names(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_may_run_a_program_is_whatever_is_not_known_to_run_none() {
        for text in [
            "[core]\nbare=false\nworktree=../../../sub",
            "[remote \"a.b\"]\nurl=x\nfetch=y",
            "[branch \"main\"]\nremote=origin",
            "[filter \"lfs\"]\nclean = git-lfs clean -- %f\nrequired = true",
            "[diff \"word\"]\nxfuncname=x",
            "[merge]\nff=only",
        ] {
            assert!(!may_run(text, true) && !may_run(text, false), "{text}");
        }
        for text in [
            "[diff]external=x",
            "[diff \"a\"]textconv=x",
            "[diff \"a\"]command=x",
            "[filter \"a\"]clean=x",
            "[filter \"lfs\"]clean=x",
            "[filter \"LFS\"]clean=git-lfs clean -- %f",
            "[include]path=x",
            "[includeIf \"a\"]path=x",
            "[merge \"a\"]driver=x",
            "[gpg \"ssh\"]defaultkeycommand=x",
            "[alias]status=!x",
            "[hook \"a\"]command=x",
            "[lfs \"extension.a\"]clean=x",
            "[core]alternaterefscommand=x",
            "[log]diffmerges=remerge",
            "[remote \"a.fetch\"]vcs=x",
            "[unknown]x=y",
        ] {
            assert!(may_run(text, true) && may_run(text, false), "{text}");
        }
        for text in ["[core]fsmonitor=x", "[core]hookspath=x", "[remote \"a\"]promisor=true"] {
            assert!(!may_run(text, true) && may_run(text, false), "{text}");
        }
    }
}
