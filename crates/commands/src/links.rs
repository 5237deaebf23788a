//! Links that a text makes before it writes a file: what the shell opens by their names lies elsewhere.
//!
//! The directory of a link is not looked at. A path may lead through a link where one of its components has
//! the name of the link, or of the directory in which it is made.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use crate::options::OptionForms;
use crate::{ShellWord, SimpleCommand};

/// Letters of `cp` without one by which it makes links or copies them.
const PLAIN_COPY: &str = "bfinpuv";
/// Options of `ln` and `cp`, as far as what stands behind them is understood.
const FLAGS: &str = "abdfilnprsuvxHLPRT";

/// The names of the links that the commands of a text make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MadeLinks {
    names: BTreeSet<String>,
    /// Whether there may be one of any name.
    has_unknown: bool,
}

// === impl MadeLinks ===

impl MadeLinks {
    /// Finds the links that some commands make.
    pub fn of<'a>(commands: impl IntoIterator<Item = &'a SimpleCommand>) -> Self {
        let mut links = Self::default();
        for command in commands {
            let words = command.words.get(1..).unwrap_or_default();
            // In which folder it lies makes no difference.
            let name = command.program().and_then(|name| name.rsplit('/').next());
            let makes = match name {
                Some("ln" | "link") => true,
                Some("cp") => !is_plain_copy(words),
                _ => false,
            };
            if makes {
                links.note(words);
            }
        }
        links
    }

    /// Whether a path may lead through one of them.
    pub fn may_lead(&self, path: &Path) -> bool {
        let is_one = |part: Component<'_>| {
            part.as_os_str().to_str().is_none_or(|name| self.names.contains(name))
        };
        self.has_unknown || (!self.names.is_empty() && path.components().any(is_one))
    }

    /// Notes what a command makes: of several operands the last one, or in it; of a single one its own name.
    fn note(&mut self, words: &[ShellWord]) {
        let forms = OptionForms { flags: FLAGS.to_owned(), ..OptionForms::default() };
        let sorted = forms.sort(words, false);
        let last = sorted.as_ref().ok().and_then(|sorted| sorted.operands.last()?.fixed());
        match last.and_then(|last| Path::new(last).file_name()?.to_str()) {
            Some(name) => {
                self.names.insert(name.to_owned());
            }
            None => self.has_unknown = true,
        }
    }
}

/// Whether a copy is one of files, which follows links and makes none.
fn is_plain_copy(words: &[ShellWord]) -> bool {
    let forms = OptionForms { flags: PLAIN_COPY.to_owned(), ..OptionForms::default() };
    forms.sort(words, false).is_ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::MadeLinks;
    use crate::read;

    fn may_lead(line: &str, path: &str) -> bool {
        MadeLinks::of(&read(line).unwrap().commands).may_lead(Path::new(path))
    }

    #[test]
    fn a_path_leads_through_a_link_that_was_made() {
        for (line, path) in [
            ("ln -s data /tmp/l", "/tmp/l"),
            ("ln -s \"$PWD/data\" /tmp/l", "/tmp/l"),
            ("ln -sfn /w/data /tmp/l/", "/tmp/l"),
            ("ln -s a b; ln data /tmp/l", "/tmp/l"),
            ("sh -c 'ln -s /w /tmp/l'", "/tmp/l/data"),
            ("/usr/local/sbin/ln -s /w /tmp/l", "/tmp/l/data"),
            ("busybox ln -s /w /tmp/l", "/tmp/l/data"),
            ("ln -s /w/data", "data"),
            ("ln -s /w/data /tmp", "/tmp/data"),
            ("ln -s /w/a /w/b /tmp/d", "/tmp/d/a"),
            ("ln -s /w/data .", "data"),
            ("ln -s /w/data $x", "/tmp/l"),
            ("ln $x", "/tmp/l"),
            ("ln -s $x /tmp/l", "/tmp/l"),
            ("ln -s -t /tmp /w/data", "/tmp/data"),
            ("ln --symbolic /w/data /tmp/l", "/tmp/l"),
            ("link data /tmp/l", "/tmp/l"),
            ("cp -ns /w/data /tmp/l", "/tmp/l"),
            ("cp -n -R dir /tmp/d", "/tmp/d/l"),
            ("xargs ln -s", "/tmp/l"),
        ] {
            assert!(may_lead(line, path), "{line}: {path}");
        }
        for (line, path) in [
            ("ln -s data l", "log.txt"),
            ("ln -s ../a b && ls", "/w/.gitignore"),
            ("cp -n a b", "b"),
            ("cargo test", "/tmp/log"),
            ("echo ln -s data l", "l"),
        ] {
            assert!(!may_lead(line, path), "{line}: {path}");
        }
    }
}
