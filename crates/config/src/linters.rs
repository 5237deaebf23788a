//! Linters that the user names, beside those that `lint_check` knows.

use moss_sdk::command::{ConfiguredFormat, ConfiguredLinter};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::named;

/// The section that has them; its keys are the names.
pub(super) const SECTION: &str = "linters";
/// Longest command, in bytes.
const COMMAND_BYTES_MAX: usize = 4_096;
/// Most names of files, and the longest one, in bytes.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: usize = 128;

/// Exit statuses beside 0 with which most linters say that they found something.
const CODES: [i32; 2] = [1, 2];
/// Most exit statuses, and the largest one that a program can have.
const CODES_MAX: usize = 64;
const CODE_MAX: i32 = 255;

/// A linter that the configuration adds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinterConfig {
    /// A text for bash; `{path}` stands for what is checked.
    pub command: String,
    /// How it writes what it finds.
    pub format: ConfiguredFormat,
    /// Names of the files that it reads, `*` only at their beginning.
    #[serde(default)]
    pub files: Vec<String>,
    /// Names of files whose directory uses it.
    #[serde(default)]
    pub when: Vec<String>,
    /// Exit statuses beside 0 with which it has checked everything.
    #[serde(default = "default_codes")]
    pub codes: Vec<i32>,
}

fn default_codes() -> Vec<i32> {
    CODES.to_vec()
}

/// Puts a linter in its place: that of the administrator replaces one of the user.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn put(linters: &mut Table, name: &str, linter: Value) -> Result<(), String> {
    named::put(linters, (name, linter), "linter", LinterConfig::check)
}

// === impl LinterConfig ===

impl LinterConfig {
    /// The linter, as its tool takes it.
    pub fn configured(&self, name: &str) -> ConfiguredLinter {
        let Self { command, format, files, when, codes } = self.clone();
        ConfiguredLinter { name: name.to_owned(), command, format, files, when, codes }
    }

    fn check(&self) -> Result<(), String> {
        let command = self.command.trim();
        let is_command =
            !command.is_empty() && command.len() <= COMMAND_BYTES_MAX && !command.contains('\0');
        if !is_command {
            return Err(format!(
                "`command` has 1 to {COMMAND_BYTES_MAX} bytes, and no NUL: what bash runs"
            ));
        }
        if self.files.len() > FILES_MAX || self.when.len() > FILES_MAX {
            return Err(format!("`files` and `when` have at most {FILES_MAX} names each"));
        }
        let is_code = |code: &i32| (1..=CODE_MAX).contains(code);
        if self.codes.len() > CODES_MAX || !self.codes.iter().all(is_code) {
            return Err(format!(
                "`codes` has at most {CODES_MAX} exit statuses from 1 to {CODE_MAX}: those beside 0 with which it has \
                 checked everything"
            ));
        }
        let is_name = |name: &str| {
            !name.is_empty() && name.len() <= FILE_BYTES_MAX && !name.contains(['/', '*', '\0'])
        };
        if let Some(name) = self.when.iter().find(|name| !is_name(name)) {
            return Err(format!(
                "`{name}` in `when` is not the name of a file, such as `detekt.yml`"
            ));
        }
        let is_pattern = |name: &&String| is_name(name.strip_prefix('*').unwrap_or(name));
        match self.files.iter().find(|name| !is_pattern(name)) {
            Some(name) => {
                Err(format!("`{name}` in `files` is neither a name nor an ending, such as `*.kt`"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Config, ConfigSource};

    fn resolve(user: &str, admin: &str) -> Result<Config, String> {
        let source = |text| Some(ConfigSource { file: Path::new("config.toml"), text });
        Config::resolve(source(user), source(admin)).map_err(|error| error.to_string())
    }

    const KTLINT: &str = "[linters]\nktlint = { command = \"ktlint {path}\", format = \"gnu\" }";

    #[test]
    fn linters_are_the_users_and_those_of_the_administrator_go_before_them() {
        let user = "[linters]\na = { command = \"a\", format = \"sarif\" }\n\
                    [linters.b]\ncommand = \"b\"\nformat = \"gnu\"\nfiles = [\"*.kt\"]\nwhen = [\"b.yml\"]\ncodes = [4, 20]";
        let admin = "[linters]\na = { command = \"other\", format = \"checkstyle\" }";
        let linters = resolve(user, admin).unwrap().linters;
        let commands: Vec<_> =
            linters.iter().map(|(name, linter)| (name.as_str(), linter.command.as_str())).collect();
        assert_eq!(commands, [("a", "other"), ("b", "b")]);
        let configured = linters["b"].configured("b");
        assert_eq!(
            (configured.files, configured.when),
            (vec!["*.kt".into()], vec!["b.yml".into()])
        );
        assert_eq!(configured.codes, [4, 20]);
        assert_eq!(linters["a"].configured("a").codes, [1, 2], "where none are named");
    }

    #[test]
    fn linters_change_while_a_daemon_runs() {
        let (before, read) = (Config::default(), resolve(KTLINT, "").unwrap());
        let (after, waiting) = before.renewed(&read);
        assert_eq!((after.linters, waiting), (read.linters, Vec::new()));
    }

    #[test]
    fn what_is_no_linter_is_refused_by_name() {
        for (text, why) in [
            ("a = \"ktlint\"", "2:5: `a` in [linters]: "),
            ("a = { format = \"gnu\" }", "missing field `command`"),
            ("a = { command = \"a\", format = \"xml\" }", "unknown variant `xml`"),
            ("a = { command = \"a\", format = \"gnu\", fix = true }", "unknown field `fix`"),
            ("a = { command = \" \", format = \"gnu\" }", "`command` has 1 to 4096 bytes"),
            (
                "a = { command = \"a\", format = \"gnu\", files = [\"src/*.kt\"] }",
                "`src/*.kt` in `files`",
            ),
            ("a = { command = \"a\", format = \"gnu\", when = [\"*.yml\"] }", "`*.yml` in `when`"),
            (
                "a = { command = \"a\", format = \"gnu\", codes = [0] }",
                "exit statuses from 1 to 255",
            ),
            (
                "a = { command = \"a\", format = \"gnu\", codes = [256] }",
                "exit statuses from 1 to 255",
            ),
            (
                "\"a b\" = { command = \"a\", format = \"gnu\" }",
                "the name of a linter has at most 32",
            ),
        ] {
            let error = resolve(&format!("[linters]\n{text}"), "").unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
