//! Where a licence header goes in a source file, and whether it is there. Pure.

/// How a language writes comments: before and after each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    before: &'static str,
    after: &'static str,
}

/// What a file starts with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// This header.
    Same,
    /// Another licence or copyright.
    Other,
    /// The file is empty.
    Empty,
    /// No header.
    Missing(Insertion),
}

/// An edit that adds the header: a text that occurs exactly once, and its replacement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// How many lines at the start of a file can hold a header.
const HEAD_LINES: usize = 50;

const SLASHES: Style = Style { before: "// ", after: "" };
const HASH: Style = Style { before: "# ", after: "" };
const DASHES: Style = Style { before: "-- ", after: "" };
const STARS: Style = Style { before: "/* ", after: " */" };
const MARKUP: Style = Style { before: "<!-- ", after: " -->" };

const STYLES: &[(Style, &[&str])] = &[
    (
        SLASHES,
        &[
            "c", "cc", "cpp", "cs", "cts", "dart", "go", "h", "hpp", "java", "js", "jsx", "kt",
            "mjs", "mts", "proto", "rs", "scala", "swift", "ts", "tsx", "wit", "zig",
        ],
    ),
    (
        HASH,
        &["bash", "ex", "exs", "nix", "pl", "py", "pyi", "r", "rb", "sh", "toml", "yaml", "yml"],
    ),
    (DASHES, &["elm", "hs", "lua", "sql"]),
    (STARS, &["css", "scss"]),
    (MARKUP, &["html", "svg", "vue", "xml"]),
];

/// Looks for a header at the start of a text.
pub(crate) fn find(text: &str, style: Style, header: &[String]) -> Found {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    if body.trim().is_empty() {
        return Found::Empty;
    }
    let comment: Vec<String> = header.iter().map(|line| style.comment(line)).collect();
    let head: Vec<&str> = body.lines().take(HEAD_LINES).collect();
    if head.windows(comment.len()).any(|lines| lines == comment) {
        return Found::Same;
    }
    let leading = head.iter().skip_while(|line| is_first_line(line));
    let is_comment = |line: &&&str| {
        let line = line.trim_start();
        line.is_empty() || [style.before.trim_end(), "/*", "*"].iter().any(|s| line.starts_with(s))
    };
    let speaks_of_rights = |line: &&str| {
        let line = line.to_lowercase();
        ["spdx-license-identifier", "copyright", "licensed under"].iter().any(|w| line.contains(w))
    };
    if leading.take_while(is_comment).any(speaks_of_rights) {
        return Found::Other;
    }
    Found::Missing(insert(body, &comment))
}

/// Makes the smallest edit that puts the comment behind the lines that must stay first.
fn insert(body: &str, comment: &[String]) -> Insertion {
    let line_end = match body.find('\n') {
        Some(end) if body[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let kept = body.split_inclusive('\n').take_while(|line| is_first_line(line));
    let at: usize = kept.map(str::len).sum();
    let mut block = comment.join(line_end);
    block.push_str(line_end);
    let (before, after) = body.split_at(at);
    if !before.is_empty() && !before.ends_with('\n') {
        block.insert_str(0, line_end);
    }
    if after.lines().next().is_some_and(|line| !line.trim().is_empty()) {
        block.push_str(line_end);
    }
    let mut end = at;
    for line in after.split_inclusive('\n').take(HEAD_LINES) {
        end += line.len();
        let old = &body[at..end];
        if !old.trim().is_empty() && occurs_once(body, old) {
            return Insertion { old: old.to_owned(), new: format!("{block}{old}") };
        }
    }
    Insertion { old: body.to_owned(), new: format!("{before}{block}{after}") }
}

/// Whether a line must stay before any header: `#!`, an encoding, an XML or document declaration.
fn is_first_line(line: &str) -> bool {
    let line = line.trim_start();
    (line.starts_with("#!") && !line.starts_with("#!["))
        || (line.starts_with('#') && line.contains("coding:"))
        || (line.starts_with('#') && line.contains("coding="))
        || line.starts_with("<?xml")
        || line.to_lowercase().starts_with("<!doctype")
}

/// Whether a text occurs exactly once, counting occurrences that overlap.
fn occurs_once(text: &str, part: &str) -> bool {
    let Some(first) = text.find(part) else { return false };
    let Some(width) = text[first..].chars().next().map(char::len_utf8) else { return false };
    !text[first + width..].contains(part)
}

// === impl Style ===

impl Style {
    /// Returns how the language of a file writes comments, by the file's extension.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        let known = |(_, extensions): &&(Self, &[&str])| extensions.contains(&extension);
        STYLES.iter().find(known).map(|(style, _)| *style)
    }

    fn comment(self, line: &str) -> String {
        format!("{}{line}{}", self.before, self.after).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(path: &str, text: &str) -> String {
        let header = ["Line one".to_owned(), String::new(), "Copyright us".to_owned()];
        let style = Style::of(path).unwrap();
        let Found::Missing(insertion) = find(text, style, &header) else {
            panic!("{text:?} is not without header");
        };
        assert_eq!(text.matches(&insertion.old).count(), 1, "{text:?}");
        let changed = text.replacen(&insertion.old, &insertion.new, 1);
        assert_eq!(find(&changed, style, &header), Found::Same, "{changed:?}");
        changed
    }

    #[test]
    fn a_header_goes_behind_the_lines_that_stay_first() {
        let cases = [
            ("a.rs", "fn a() {}\n", "// Line one\n//\n// Copyright us\n\nfn a() {}\n"),
            ("a.rs", "#![no_std]\n", "// Line one\n//\n// Copyright us\n\n#![no_std]\n"),
            ("a.rs", "\nfn a() {}", "// Line one\n//\n// Copyright us\n\nfn a() {}"),
            ("a.rs", "a\r\nb\r\n", "// Line one\r\n//\r\n// Copyright us\r\n\r\na\r\nb\r\n"),
            ("a.rs", "x\nx\nx\n", "// Line one\n//\n// Copyright us\n\nx\nx\nx\n"),
            ("a.sh", "#!/bin/sh\necho\n", "#!/bin/sh\n# Line one\n#\n# Copyright us\n\necho\n"),
            ("a.sh", "#!/bin/sh", "#!/bin/sh\n# Line one\n#\n# Copyright us\n"),
            (
                "a.py",
                "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx\n",
                "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n# Line one\n#\n# Copyright us\n\nx\n",
            ),
            ("a.css", "p {}\n", "/* Line one */\n/*  */\n/* Copyright us */\n\np {}\n"),
            ("a.rs", "\u{feff}a\n", "\u{feff}// Line one\n//\n// Copyright us\n\na\n"),
        ];
        for (path, text, expected) in cases {
            assert_eq!(apply(path, text), expected, "{path}: {text:?}");
        }
    }

    #[test]
    fn other_licences_and_empty_files_are_left_alone() {
        let header = ["SPDX-License-Identifier: MIT".to_owned()];
        for (text, found) in [
            ("// Copyright 2020 them\nfn a() {}\n", Found::Other),
            ("/*\n * Licensed under X\n */\nfn a() {}\n", Found::Other),
            ("// SPDX-License-Identifier: GPL-3.0-only\n", Found::Other),
            ("// SPDX-License-Identifier: MIT\nfn a() {}\n", Found::Same),
            ("", Found::Empty),
            ("\n \n", Found::Empty),
        ] {
            assert_eq!(find(text, SLASHES, &header), found, "{text:?}");
        }
        let later = "fn a() {}\n// Copyright 2020 them\n";
        assert!(matches!(find(later, SLASHES, &header), Found::Missing(_)));
    }

    #[test]
    fn only_known_languages_have_a_style() {
        assert_eq!(Style::of("a/b.rs"), Some(SLASHES));
        assert_eq!(Style::of("b.sql"), Some(DASHES));
        for path in ["README.md", "Makefile", "a.rs/b", "a.png"] {
            assert_eq!(Style::of(path), None, "{path}");
        }
    }
}
