//! What the script `test` of a package says of how its tests are run.

use serde_json::Value;

use super::{TestSelection, Words};

/// The words of a script that runs one program, as they stand there: quoted for a shell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptWords {
    /// Assignments in front of the program, as `NAME=value`.
    assignments: Vec<String>,
    /// What starts the program, where it is not the program alone: `node --flag node_modules/jest/bin/jest.js`.
    start: Vec<String>,
    /// What stands behind the program.
    rest: Vec<String>,
}

/// A program as a script runs it, quoted for a shell.
#[derive(Debug)]
pub(super) struct ScriptedProgram {
    /// Assignments and the program.
    pub(super) start: String,
    /// Options that count for every run.
    pub(super) options: String,
    /// What names files, where nobody chose others.
    pub(super) files: String,
}

/// Options whose value is the next word, of all of these programs.
const WITH_VALUE: &[&str] = &[
    "--require",
    "-r",
    "--import",
    "--loader",
    "--experimental-loader",
    "--config",
    "-c",
    "--package",
    "--extension",
    "--file",
    "--ignore",
    "--exclude",
    "--ui",
    "-u",
    "--timeout",
    "-t",
    "--slow",
    "-s",
    "--retries",
    "--jobs",
    "-j",
    "--env-file",
    "--conditions",
    "-C",
    "--test-concurrency",
    "--test-timeout",
    "--project",
    "--dir",
    "--root",
    "--rootDir",
    "--environment",
    "--env",
    "--pool",
    "--mode",
    "--maxWorkers",
    "--testTimeout",
    "--test-shard",
    "--spec",
];
/// Options that say how results are shown, or that would have the program wait for changes; with and without a
/// value.
const DROPPED_WITH_VALUE: &[&str] = &[
    "--reporter",
    "-R",
    "--reporters",
    "--reporter-option",
    "--reporter-options",
    "-O",
    "--outputFile",
    "--test-reporter",
    "--test-reporter-destination",
    "--coverageReporters",
    "--coverageDirectory",
];
const DROPPED: &[&str] = &[
    "--watch",
    "-w",
    "--watchAll",
    "--json",
    "--verbose",
    "--silent",
    "--ci",
    "--coverage",
    "--color",
    "--colors",
    "--no-color",
    "--no-colors",
    "--bail",
    "-b",
    "--passWithNoTests",
    "--run",
    "--test",
    "--experimental-test-coverage",
];
/// Options that choose tests by their names.
const CHOOSING: &[&str] = &[
    "--grep",
    "-g",
    "--fgrep",
    "-f",
    "--testNamePattern",
    "--test-name-pattern",
    "--invert",
    "-i",
];

/// Those of them that turn the choice round, and have no value.
const INVERTING: &[&str] = &["--invert", "-i"];

// === impl ScriptWords ===

impl ScriptWords {
    /// The words of a script, if it is one simple command that runs a program.
    fn of(script: &str, program: &str) -> Option<Self> {
        let mut words = simple_words(script)?.into_iter().peekable();
        let mut found = Self::default();
        while let Some(word) = words
            .next_if(|word| is_assignment(word) || ["cross-env", "npx"].contains(&word.as_str()))
        {
            if is_assignment(&word) {
                found.assignments.push(word);
            }
        }
        let rest: Vec<String> = words.collect();
        let is_program = |word: &String| {
            let name = word.rsplit('/').next().unwrap_or(word);
            name == program || (word.contains('/') && name.strip_suffix(".js") == Some(program))
        };
        let at = match rest.first()?.as_str() {
            // Only options of Node itself stand before the program that it runs.
            "node" if program != "node" => rest.iter().position(is_program)?,
            _ => rest.iter().take(1).position(is_program)?,
        };
        if at > 0 {
            found.start = rest[..=at].to_vec();
        }
        found.rest = rest[at + 1..].to_vec();
        Some(found)
    }

    /// What is kept of the words behind the program: options that count for every run, and what names files.
    fn kept(&self, chooses: bool) -> (Vec<String>, Vec<String>) {
        let (mut options, mut files) = (Vec::new(), Vec::new());
        let mut words = self.rest.iter().peekable();
        while let Some(word) = words.next() {
            let (name, has_value) = match word.split_once('=') {
                Some((name, _)) => (name, true),
                None => (word.as_str(), false),
            };
            let is_one_of = |names: &[&str]| names.contains(&name);
            let is_choosing = is_one_of(CHOOSING) && !is_one_of(INVERTING);
            let may_have_value =
                is_one_of(WITH_VALUE) || is_choosing || is_one_of(DROPPED_WITH_VALUE);
            let is_dropped = is_one_of(DROPPED)
                || is_one_of(DROPPED_WITH_VALUE)
                || (is_one_of(CHOOSING) && chooses);
            // Mocha waits for changes by `-w`, Jest takes a number of processes.
            let is_number =
                |next: &&String| name == "-w" && next.starts_with(|c: char| c.is_ascii_digit());
            let value = words.next_if(|next| {
                is_number(next) || (may_have_value && !has_value && !next.starts_with('-'))
            });
            match word.starts_with('-') {
                _ if is_dropped => {}
                true if name == "--spec" => {
                    let value = value.map(String::as_str).or(word.strip_prefix("--spec="));
                    files.extend(value.map(str::to_owned));
                }
                true => options.extend([word].into_iter().chain(value).cloned()),
                false => files.push(word.clone()),
            }
        }
        (options, files)
    }
}

// === impl Words ===

impl Words<'_> {
    /// How the script `test` of the package runs a program; the program alone where it is no such script.
    pub(super) fn scripted(&self, name: &str) -> ScriptedProgram {
        let program = match name {
            "node" => "node".to_owned(),
            _ => self.program(name),
        };
        let manifest = self.directory().manifest("package.json");
        let package: Option<Value> = manifest.and_then(|text| serde_json::from_str(text).ok());
        let script = package.as_ref().and_then(|package| package["scripts"]["test"].as_str());
        let words = script.and_then(|script| ScriptWords::of(script, name)).unwrap_or_default();
        let (options, mut files) = words.kept(self.choice.selection != TestSelection::All);
        // Vitest calls what it does by a word, too.
        files.retain(|file| name != "vitest" || !["run", "watch", "dev"].contains(&file.as_str()));
        if !self.choice.files.is_empty() || !self.choice.related.is_empty() {
            files.clear();
        }
        let mut start = words.assignments;
        match words.start.is_empty() {
            true => start.push(program),
            false => start.extend(words.start),
        }
        let (start, options, files) = (start.join(" "), options.join(" "), files.join(" "));
        ScriptedProgram { start, options, files }
    }
}

/// `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The words of a text for a shell, each with its quotes; none where the text is more than one simple command, or
/// depends on variables.
fn simple_words(script: &str) -> Option<Vec<String>> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in script.chars() {
        let is_special = match quote {
            Some('\'') => false,
            Some(_) => "$`\\".contains(c),
            None => "$`\\;&|<>()#~\n".contains(c),
        };
        if is_special {
            return None;
        }
        match quote {
            Some(open) => {
                quote = quote.filter(|_| c != open);
                word.push(c);
            }
            None if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            None => {
                quote = Some(c).filter(|c| ['\'', '"'].contains(c));
                word.push(c);
            }
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(script: &str, program: &str, chooses: bool) -> Option<String> {
        let words = ScriptWords::of(script, program)?;
        let (options, files) = words.kept(chooses);
        let parts = [[words.assignments, words.start].concat(), options, files];
        Some(parts.map(|part| part.join(" ")).join("|"))
    }

    #[test]
    fn words_of_one_simple_command_are_kept_but_for_reports_and_files() {
        for (script, program, expected) in [
            ("mocha", "mocha", Some("||")),
            (
                "mocha --require ./setup.js 'spec/**/*.js' --reporter dot",
                "mocha",
                Some("|--require ./setup.js|'spec/**/*.js'"),
            ),
            ("mocha --spec spec --timeout=5 -w --exit", "mocha", Some("|--timeout=5 --exit|spec")),
            (
                "cross-env NODE_ENV=test npx mocha --watch -R=dot a",
                "mocha",
                Some("NODE_ENV=test||a"),
            ),
            ("node --import tsx --test test/*.ts", "node", Some("|--import tsx|test/*.ts")),
            (
                "node --experimental-vm-modules node_modules/jest/bin/jest.js -w 4 --config a.json --ci",
                "jest",
                Some(
                    "node --experimental-vm-modules node_modules/jest/bin/jest.js|--config a.json|",
                ),
            ),
            (
                "NODE_OPTIONS='--a --b' jest -u --verbose",
                "jest",
                Some("NODE_OPTIONS='--a --b'|-u|"),
            ),
            ("mocha && eslint .", "mocha", None),
            ("tsc; mocha", "mocha", None),
            ("mocha $(cat list)", "mocha", None),
            ("mocha \"$A\"", "mocha", None),
            ("mocha 'a", "mocha", None),
            ("nyc mocha", "mocha", None),
            ("", "mocha", None),
        ] {
            let found = kept(script, program, false);
            assert_eq!(found.as_deref(), expected, "{script}");
        }
        // A script that chooses tests by their names gives way to who chooses others.
        assert_eq!(kept("mocha -g slow -i a", "mocha", true).as_deref(), Some("||a"));
        assert_eq!(kept("mocha -g slow -i a", "mocha", false).as_deref(), Some("|-g slow -i|a"));
    }
}
