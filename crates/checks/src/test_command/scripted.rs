//! RSpec, PHPUnit and Bats.

use super::Words;
use crate::bash_word::{joined, quoted};
use crate::report::escaped;

// === impl Words ===

impl Words<'_> {
    pub(super) fn rspec(&self) -> Vec<String> {
        let program = match self.own_program("rspec") {
            Some(own) => own,
            None if self.directory().files.contains("Gemfile.lock") => {
                "bundle exec rspec".to_owned()
            }
            None => "rspec".to_owned(),
        };
        vec![
            program,
            "--no-color --format progress --format json".to_owned(),
            format!("--out {}", self.report("rspec.json")),
            self.examples(),
        ]
    }

    /// Which examples of which files. By names and by places they cannot be chosen together: where some have names and
    /// some do not, whole files are run.
    fn examples(&self) -> String {
        let is_place = |id: &str| id.starts_with("./") && id.ends_with(']');
        let chosen: Vec<&str> = match (self.ids(), self.pattern()) {
            (Some(ids), _) => ids.iter().map(String::as_str).collect(),
            (None, pattern) => pattern.into_iter().collect(),
        };
        let places = chosen.iter().filter(|id| is_place(id)).count();
        match places {
            0 => joined([self.each("-e "), self.paths()]),
            places if places == chosen.len() => joined(chosen.into_iter().map(quoted)),
            _ => self.paths(),
        }
    }

    pub(super) fn phpunit(&self) -> Vec<String> {
        let files = &self.choice.files;
        let is_id = |pattern: &str| pattern.starts_with("/^") && pattern.ends_with("$/");
        let has_ids = self.ids().is_some() || self.pattern().is_some_and(is_id);
        // It takes one path: classes choose where there are several files, and ids name theirs.
        let is_by_class = files.len() > 1 && !has_ids;
        let filter = match (is_by_class, self.pattern()) {
            (true, None) => format!("--filter {}", quoted(&classes_of(files))),
            (true, Some(pattern)) => {
                let both = format!("^(?=.*{}).*(?:{pattern})", classes_of(files));
                format!("--filter {}", quoted(&both))
            }
            (false, _) => match self.ids() {
                Some(ids) => format!("--filter {}", quoted(&one_of(ids))),
                None => self.expression("--filter "),
            },
        };
        let is_configured =
            self.directory().has_file(&["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]);
        let place = match files.as_slice() {
            [file] if !has_ids => super::path(file),
            // Without a configuration it does not look anywhere by itself.
            [_, ..] if !is_configured => super::path(&common_directory(files)),
            _ => String::new(),
        };
        vec![
            self.program("phpunit"),
            format!("--colors=never --log-junit {}", self.report("phpunit.xml")),
            match self.choice.coverage {
                true => format!("--coverage-clover {}", self.report("clover.xml")),
                false => String::new(),
            },
            filter,
            place,
        ]
    }

    pub(super) fn bats(&self) -> Vec<String> {
        let files = match self.choice.files.is_empty() {
            true => ".".to_owned(),
            false => self.paths(),
        };
        vec![
            self.program("bats"),
            format!("--report-formatter junit --output {}", quoted(self.reports)),
            self.expression("--filter "),
            files,
        ]
    }
}

/// One expression for several ids, each of which has delimiters.
fn one_of(ids: &[String]) -> String {
    let bare = |id: &String| {
        let bare = id.strip_prefix("/^").and_then(|id| id.strip_suffix("$/"));
        bare.unwrap_or(id).to_owned()
    };
    format!("/^(?:{})$/", ids.iter().map(bare).collect::<Vec<_>>().join("|"))
}

/// What chooses the tests of the classes that files are named for: `(?:ATest|BTest)::`.
fn classes_of(files: &[String]) -> String {
    let name = |file: &String| {
        let name = file.rsplit('/').next().unwrap_or(file);
        escaped(name.strip_suffix(".php").unwrap_or(name))
    };
    // A name that only ends as one of them is another class.
    format!("\\b(?:{})::", files.iter().map(name).collect::<Vec<_>>().join("|"))
}

/// The directory that all files lie in, empty for that of the project.
fn common_directory(files: &[String]) -> String {
    let parts = |file: &str| -> Vec<String> {
        let (directory, _) = file.rsplit_once('/').unwrap_or_default();
        directory.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let mut common = files.first().map(|file| parts(file)).unwrap_or_default();
    for file in files {
        let shared = common.iter().zip(parts(file)).take_while(|(one, other)| *one == other);
        let shared = shared.count();
        common.truncate(shared);
    }
    common.join("/")
}
