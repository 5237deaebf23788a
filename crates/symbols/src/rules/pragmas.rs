//! Comments that programs read: they document nothing.

/// How such comments begin, after their signs.
const PRAGMAS: &[&str] = &[
    // Of editors.
    "vim:",
    "vi:",
    "endregion",
    "editor-fold",
    "noinspection",
    "language=",
    "@formatter:",
    "SPDX-License-Identifier",
    // Of JavaScript and TypeScript.
    "eslint-disable",
    "eslint-enable",
    "eslint-env",
    "jshint ",
    "tslint:",
    "oxlint-",
    "biome-ignore",
    "deno-lint-",
    "prettier-ignore",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "@ts-",
    "@flow",
    "@noflow",
    "@format",
    "@jsx",
    "@jest-environment",
    "@vitest-environment",
    "sourceMappingURL=",
    // Of Go, C and C++.
    "go:",
    "+build",
    "nolint",
    "lint:",
    "nosec",
    "clang-format ",
    "NOLINT",
    "IWYU pragma",
    "cppcheck-",
    "LCOV_EXCL",
    "GCOVR_EXCL",
    // Of Java, Kotlin, Scala and C#.
    "NOSONAR",
    "NOPMD",
    "CHECKSTYLE:",
    "spotless:",
    "ktlint-",
    "scalastyle:",
    "format: o",
    "ReSharper ",
    // Of Python.
    "noqa",
    "type: ignore",
    "pylint:",
    "mypy:",
    "pyright:",
    "ruff:",
    "flake8:",
    "isort:",
    "fmt: o",
    "fmt: skip",
    "yapf:",
    "pragma: no",
    "coding:",
    "coding=",
    "cython:",
    // Of Ruby and PHP.
    "frozen_string_literal:",
    "encoding:",
    "rubocop:",
    "typed: ",
    ":nodoc:",
    ":nocov:",
    "phpcs:",
    "@phpstan-ignore",
    "@psalm-suppress",
    // Of shells, Lua, Dart and data.
    "shellcheck ",
    "luacheck:",
    "stylua:",
    "selene:",
    "@diagnostic",
    "ignore:",
    "ignore_for_file:",
    "coverage:ignore",
    "credo:",
    "sqlfluff:",
    "yaml-language-server:",
    "yamllint ",
];

/// Whether a comment is for programs: a shebang, or a single line that a linter, a compiler or an editor reads.
pub(crate) fn is_pragma(comment: &str) -> bool {
    if comment.starts_with("#!") {
        return true;
    }
    let mut lines = comment.lines().filter(|line| line.contains(char::is_alphanumeric));
    let (Some(line), None) = (lines.next(), lines.next()) else { return false };
    let is_sign = |c: char| c.is_whitespace() || "/*#-;!<".contains(c);
    let said = line.trim_start_matches(is_sign);
    let signs = &line[..line.len() - said.len()];
    line.contains("-*-")
        || PRAGMAS.iter().any(|start| said.starts_with(start))
        || said.strip_prefix("region").is_some_and(|title| is_region(signs, title))
}

/// Whether `region` begins a part of a file, by what stands before and after: not a remark, as in `// region of a map`.
fn is_region(signs: &str, title: &str) -> bool {
    let is_word = title.is_empty() || title.starts_with(char::is_whitespace);
    let is_remark = signs.ends_with(' ') && title.trim_start().starts_with(char::is_lowercase);
    is_word && !is_remark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_for_programs_are_known_by_how_they_begin() {
        for comment in [
            "#!/usr/bin/env python3",
            "/* eslint-disable no-console */",
            "// eslint-disable-next-line",
            "// @ts-nocheck",
            "/** @flow */",
            "/**\n * @format\n */",
            "//nolint:all",
            "//go:generate stringer",
            "// +build linux",
            "//#region Box",
            "// #region box",
            "//region of a box",
            "// region Box",
            "# endregion",
            "# -*- coding: utf-8 -*-",
            "# type: ignore",
            "# frozen_string_literal: true",
            "# shellcheck disable=SC2034",
            "// NOLINTNEXTLINE",
            "//noinspection Unused",
            "// <editor-fold desc=\"a\">",
            "---@diagnostic disable",
        ] {
            assert!(is_pragma(comment), "{comment}");
        }
        for comment in [
            "",
            "//",
            "/// Goes on.",
            "// region of a map",
            "// regional",
            "// going: on",
            "/* @flow\n * Reads one. */",
            "# Formats: one",
            "-- Types.",
        ] {
            assert!(!is_pragma(comment), "{comment}");
        }
    }
}
