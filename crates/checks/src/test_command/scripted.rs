//! RSpec, PHPUnit and Bats.

use super::Words;
use crate::bash_word::quoted;

// === impl Words ===

impl Words<'_> {
    pub(super) fn rspec(&self) -> Vec<String> {
        let program = match self.directory().files.contains("Gemfile.lock") {
            true => "bundle exec rspec".to_owned(),
            false => self.program("rspec"),
        };
        vec![
            program,
            "--no-color --format progress --format json".to_owned(),
            format!("--out {}", self.report("rspec.json")),
            self.each("-e "),
            self.paths(),
        ]
    }

    pub(super) fn phpunit(&self) -> Vec<String> {
        vec![
            self.program("phpunit"),
            format!("--colors=never --log-junit {}", self.report("phpunit.xml")),
            self.expression("--filter "),
            // It takes one.
            self.choice.files.first().map_or_else(String::new, |file| super::path(file)),
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
