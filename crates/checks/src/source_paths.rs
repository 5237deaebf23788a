//! Paths as tools write them, relative to the workspace root.

/// Directories of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePaths {
    /// The workspace root, absolute.
    root: String,
    /// Where it ran, relative to the root; empty for the root itself.
    directory: String,
    /// What stands before the paths of the project's own packages, such as the module path of Go.
    prefix: Option<String>,
}

// === impl SourcePaths ===

impl SourcePaths {
    /// Paths of a run in a directory of a workspace.
    pub fn new(root: &str, directory: &str) -> Self {
        let root = root.trim_end_matches('/').to_owned();
        Self { root, directory: directory.to_owned(), prefix: None }
    }

    /// As these, with what the project calls its own directory in the names of its packages.
    pub fn with_prefix(self, prefix: Option<String>) -> Self {
        Self { prefix, ..self }
    }

    /// A path relative to the workspace root; none where it lies outside.
    pub fn of_workspace(&self, path: &str) -> Option<String> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if let Some(inside) = path.strip_prefix(&self.root).and_then(|rest| rest.strip_prefix('/'))
        {
            return normal(inside);
        }
        if path.starts_with('/') {
            return None;
        }
        let path = match &self.prefix {
            Some(prefix) => {
                path.strip_prefix(prefix.as_str()).map_or(path, |rest| rest.trim_start_matches('/'))
            }
            None => path,
        };
        match self.directory.is_empty() {
            true => normal(path),
            false => normal(&format!("{}/{path}", self.directory)),
        }
    }

    /// A line of a stack in a file of the workspace, with the path relative to its root.
    pub(crate) fn frame(&self, line: &str) -> Option<String> {
        let line = line.trim();
        let begins = ["at ", "File \"", "from ", "#"].iter().any(|start| line.starts_with(start));
        let in_root = line.contains(&format!("{}/", self.root));
        let is_foreign = ["/node_modules/", "/site-packages/", "/.venv/", "/vendor/"]
            .iter()
            .any(|part| line.contains(part));
        (begins && in_root && !is_foreign).then(|| line.replace(&format!("{}/", self.root), ""))
    }
}

/// A path without `.` and `..`; none where it leads out.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_workspace() {
        let paths = SourcePaths::new("/w/", "a/b").with_prefix(Some("example.com/m".to_owned()));
        for (path, expected) in [
            ("/w/x.rs", Some("x.rs")),
            ("x.rs", Some("a/b/x.rs")),
            ("./x.rs", Some("a/b/x.rs")),
            ("../x.rs", Some("a/x.rs")),
            ("../../../x.rs", None),
            ("/other/x.rs", None),
            ("file:///w/a.js", Some("a.js")),
            ("example.com/m/p/x_test.go", Some("a/b/p/x_test.go")),
        ] {
            assert_eq!(paths.of_workspace(path).as_deref(), expected, "{path}");
        }
    }
}
