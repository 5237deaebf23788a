//! The text files of the repository, read once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use crate::rust;

/// A file of the repository that is text.
pub(crate) struct File {
    /// Its path, relative to the root, with `/`.
    pub(crate) path: String,
    /// All of it, read once.
    pub(crate) text: String,
    code: OnceLock<String>,
}

/// Every text file, in the order of paths; what is built or downloaded is left out.
pub(crate) static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let mut files = Vec::new();
    walk(&root(), &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
});

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate has a parent").to_owned()
}

pub(crate) fn rust_files() -> impl Iterator<Item = &'static File> {
    FILES.iter().filter(|file| file.path.ends_with(".rs"))
}

/// The file at a path.
pub(crate) fn file(path: &str) -> &'static File {
    FILES.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("there is no {path}"))
}

fn walk(directory: &Path, files: &mut Vec<File>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !is_left_out(&name) {
            walk(&entry.path(), files);
        } else if kind.is_file() && !name.ends_with(".tmp") {
            let bytes = fs::read(entry.path()).unwrap();
            if let (false, Ok(text)) = (bytes.contains(&0), String::from_utf8(bytes)) {
                let path = entry.path().strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
                files.push(File { path, text, code: OnceLock::new() });
            }
        }
    }
}

fn start_of_tests(code: &str) -> usize {
    code.find("\nmod tests {").unwrap_or(code.len())
}

fn is_left_out(directory: &str) -> bool {
    directory.starts_with("target") || matches!(directory, ".git" | "__pycache__" | ".venv")
}

// === impl File ===

impl File {
    /// A file that is not in the repository.
    pub(crate) fn of(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: OnceLock::new() }
    }

    /// Whether all of it is test code, or data for tests.
    pub(crate) fn is_test(&self) -> bool {
        let stem = self.path.strip_suffix(".rs").unwrap_or(&self.path);
        let mut parts = stem.split('/');
        parts.any(|part| part == "tests")
    }

    /// Its Rust code, without comments and literals.
    pub(crate) fn code(&self) -> &str {
        self.code.get_or_init(|| rust::code(&self.text))
    }

    /// Its Rust code, without an inline test module at the end either.
    pub(crate) fn code_without_tests(&self) -> &str {
        &self.code()[..start_of_tests(self.code())]
    }

    /// The code of its inline test module; all of a file of tests.
    pub(crate) fn code_of_tests(&self) -> &str {
        if self.is_test() { self.code() } else { &self.code()[start_of_tests(self.code())..] }
    }
}
