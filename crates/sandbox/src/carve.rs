//! A directory less what is masked in it, as paths that Landlock can grant: it has no rule that revokes what
//! another one grants.

use std::fs;
use std::path::{Path, PathBuf};

/// What is granted of directories, with all beneath it.
#[derive(Debug, Default)]
pub(crate) struct Carving(pub(crate) Vec<PathBuf>);

// === impl Carving ===

impl Carving {
    /// Grants a directory less what is masked in it.
    pub(crate) fn add(&mut self, path: &Path, masked: &[PathBuf]) {
        if !masked.iter().any(|mask| path.starts_with(mask)) {
            let within = masked.iter().filter_map(|mask| mask.strip_prefix(path).ok());
            self.grant(path.to_owned(), &within.collect::<Vec<_>>());
        }
    }

    /// Grants a directory less what is masked in it, which is given by its path from there: where there is
    /// something, each of its entries. A link is none of them: a rule would be about what it leads to, which may be
    /// a secret elsewhere. What it leads to in a directory that is granted is read by the rule for that.
    fn grant(&mut self, path: PathBuf, masked: &[&Path]) {
        if masked.is_empty() {
            self.0.push(path);
            return;
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let below: Vec<_> =
                masked.iter().filter_map(|mask| mask.strip_prefix(&name).ok()).collect();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !is_link && !below.iter().any(|mask| mask.as_os_str().is_empty()) {
                self.grant(entry.path(), &below);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_granted_beside_a_secret_leads_to_no_other_secret() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("etc/ssl/private")).unwrap();
        for name in ["etc/hosts", "etc/shadow", "etc/ssl/openssl.cnf", "keys"] {
            fs::write(root.join(name), "x").unwrap();
        }
        symlink(root.join("keys"), root.join("etc/letsencrypt")).unwrap();
        symlink("shadow", root.join("etc/passwords")).unwrap();
        symlink("hosts", root.join("etc/names")).unwrap();
        let path = |name: &str| root.join(name);
        let masked = [path("etc/shadow"), path("etc/ssl/private"), path("keys")];
        let mut carving = Carving::default();
        carving.add(&path("etc"), &masked);
        carving.0.sort();
        assert_eq!(carving.0, [path("etc/hosts"), path("etc/ssl/openssl.cnf")]);
        let mut carving = Carving::default();
        carving.add(&path("etc"), &masked[2..]);
        assert_eq!(carving.0, [path("etc")]);
    }
}
