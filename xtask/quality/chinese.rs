//! The same questions in Chinese and in English: how much of an answer a language costs.

use anyhow::{Context, Result};

use crate::suites::FileQuestion;

const QUESTIONS: &str = include_str!("chinese.txt");

/// The questions of one repository in both languages, in the same order.
#[derive(Default)]
pub(crate) struct BothLanguages {
    pub(crate) chinese: Vec<FileQuestion>,
    pub(crate) english: Vec<FileQuestion>,
}

/// The questions in English, whatever they are about.
pub(crate) fn english() -> Result<Vec<String>> {
    let lines = QUESTIONS.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Ok(fields(line)?[3].to_owned())).collect()
}

/// The repository, the files, the question in Chinese and in English.
fn fields(line: &str) -> Result<[&str; 4]> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let fields = <[&str; 4]>::try_from(fields);
    fields.ok().with_context(|| format!("chinese.txt: `{line}` has not four fields"))
}

// === impl BothLanguages ===

impl BothLanguages {
    /// The questions over a repository, by its name.
    pub(crate) fn of(repository: &str) -> Result<Self> {
        let mut both = Self::default();
        for line in QUESTIONS.lines().filter(|line| !line.starts_with('#')) {
            let [name, files, chinese, english] = fields(line)?;
            if name != repository {
                continue;
            }
            let question = |text: &str| FileQuestion {
                text: text.to_owned(),
                files: files.split(',').map(|file| file.trim().to_owned()).collect(),
            };
            both.chinese.push(question(chinese));
            both.english.push(question(english));
        }
        Ok(both)
    }
}
