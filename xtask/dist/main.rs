//! Packs a release: an archive, a Debian package, the list of what the binary is made of, checksums.
//!
//! The same binary and commit make the same bytes. It starts no program but cargo, git and the binary,
//! and needs no network.
#![allow(
    clippy::print_stdout,
    reason = "the output of this program is for the person at the terminal"
)]

mod archive;
mod debian;
mod sbom;

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use moss_xtask::shipped::{self, DEBIAN, LOCAL, ShippedFile};
use sha2::{Digest as _, Sha256};

const USAGE: &str = "usage: make-dist ROOT BINARY OUTPUT; see `cargo xtask dist`";
const SUMS: &str = "SHA256SUMS";
/// What lies beside the programs in the archive, and in the documentation of the package.
const TEXTS: [&str; 5] =
    ["README.md", "README.zh.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// A version of moss, with all that its packages are made of.
struct Release<'a> {
    root: &'a Path,
    binary: &'a Path,
    version: String,
    /// The time of its commit, in seconds since 1970: that of every file.
    time: u64,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, binary, output] = arguments.as_slice() else { bail!(USAGE) };
    let release = Release::new(root.as_ref(), binary.as_ref())?;
    release.pack(output.as_ref())
}

// === impl Release ===

impl<'a> Release<'a> {
    fn new(root: &'a Path, binary: &'a Path) -> Result<Self> {
        let printed = Command::new(binary).arg("--version").output();
        let printed = printed.with_context(|| format!("cannot start {}", binary.display()))?.stdout;
        let printed = String::from_utf8_lossy(&printed).trim().to_owned();
        let version = printed.strip_prefix("moss ").context("this binary is not moss")?.to_owned();
        let epoch = std::env::var("SOURCE_DATE_EPOCH").ok();
        let epoch = epoch.or_else(|| {
            let mut git = Command::new("git");
            let output = git.current_dir(root).args(["log", "-1", "--format=%ct"]).output().ok()?;
            String::from_utf8(output.stdout).ok()
        });
        let time = epoch.and_then(|epoch| epoch.trim().parse().ok()).unwrap_or(0);
        Ok(Self { root, binary, version, time })
    }

    fn pack(&self, output: &Path) -> Result<()> {
        fs::create_dir_all(output)?;
        let name =
            format!("moss-{}-{}-{}", self.version, std::env::consts::ARCH, std::env::consts::OS);
        let mut files = shipped::files(self.binary, LOCAL, None)?;
        files.extend(self.texts("")?);
        let mut packed =
            vec![(format!("{name}.tar.gz"), archive::compressed(&name, &files, self.time)?)];
        if let Some(architecture) = debian::architecture() {
            let mut files = shipped::files(self.binary, DEBIAN, None)?;
            files.extend(self.texts("share/doc/moss/")?);
            let package = debian::package(&files, &self.version, architecture, self.time)?;
            packed.push((format!("moss_{}_{architecture}.deb", self.version), package));
        }
        packed.push((format!("{name}.cdx.json"), sbom::made(self.root, &self.version)?));
        let mut sums = String::new();
        for (name, bytes) in &packed {
            let file = output.join(name);
            fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
            let sum: String =
                Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            sums.push_str(&format!("{sum}  {name}\n"));
            println!("{:>10} KiB  {}", bytes.len() / 1024, file.display());
        }
        fs::write(output.join(SUMS), sums)?;
        println!("checksums: {}", output.join(SUMS).display());
        Ok(())
    }

    fn texts(&self, directory: &str) -> Result<Vec<ShippedFile>> {
        let text = |name: &&str| {
            let content = fs::read(self.root.join(name)).with_context(|| format!("no {name}"))?;
            Ok(ShippedFile { path: format!("{directory}{name}"), is_executable: false, content })
        };
        TEXTS.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use flate2::read::GzDecoder;

    use super::*;

    /// A program that prints what a release takes from the binary: it has one command.
    const PROGRAM: &str = "#!/bin/sh
case \"$*\" in
    --version) echo 'moss 9.8.7' ;;
    man) echo '.TH moss 1'; echo 'moss\\-status(1)' ;;
    *) echo \"$*\" ;;
esac
";

    /// The files of an archive with their modes, without directories.
    fn files(archive: &[u8]) -> BTreeMap<String, (u32, Vec<u8>)> {
        let mut archive = tar::Archive::new(GzDecoder::new(archive));
        let entries = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let path = path.trim_start_matches("./").to_owned();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (path, (entry.header().mode().unwrap(), content))
        });
        entries.filter(|(path, _)| !path.ends_with('/')).collect()
    }

    /// The members of a package by their names, in order.
    fn members(package: &[u8]) -> Vec<(String, &[u8])> {
        let mut rest = package.strip_prefix(b"!<arch>\n").unwrap();
        let mut members = Vec::new();
        while !rest.is_empty() {
            let (header, after) = rest.split_at(60);
            let header = std::str::from_utf8(header).unwrap();
            let length: usize = header[48..58].trim_end().parse().unwrap();
            members.push((header[..16].trim_end().to_owned(), &after[..length]));
            rest = &after[length.next_multiple_of(2)..];
        }
        members
    }

    fn holds(files: &BTreeMap<String, (u32, Vec<u8>)>, below: &str, paths: &[(&str, u32)]) {
        for (path, mode) in paths {
            let path = format!("{below}{path}");
            let found = files.get(&path).unwrap_or_else(|| panic!("no {path}: {:?}", files.keys()));
            assert_eq!(found.0, *mode, "{path}");
        }
    }

    #[test]
    fn a_release_has_an_archive_a_package_a_list_of_crates_and_their_sums() {
        let directory = std::env::temp_dir().join(format!("moss-dist-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        let (program, output) = (directory.join("moss"), directory.join("out"));
        fs::write(&program, PROGRAM).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        Release::new(&root, &program).unwrap().pack(&output).unwrap();
        let read = |name: &str| fs::read(output.join(name)).unwrap();

        let top = format!("moss-9.8.7-{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        let archive = files(&read(&format!("{top}.tar.gz")));
        let everywhere = [
            ("bin/moss", 0o755),
            ("share/man/man1/moss.1", 0o644),
            ("share/man/man1/moss-status.1", 0o644),
            ("share/bash-completion/completions/moss", 0o644),
            ("share/fish/vendor_completions.d/moss.fish", 0o644),
        ];
        holds(&archive, &format!("{top}/"), &everywhere);
        let more = [("share/zsh/site-functions/_moss", 0o644), ("README.md", 0o644)];
        holds(&archive, &format!("{top}/"), &more);
        holds(&archive, &format!("{top}/"), &[("share/systemd/user/moss@.service", 0o644)]);
        assert_eq!(archive[&format!("{top}/bin/moss")].1, PROGRAM.as_bytes());

        let mut named = vec![format!("{top}.tar.gz"), format!("{top}.cdx.json")];
        if let Some(architecture) = debian::architecture() {
            let name = format!("moss_9.8.7_{architecture}.deb");
            let package = read(&name);
            let members = members(&package);
            let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
            let control = files(members[1].1);
            let control = String::from_utf8_lossy(&control["control"].1).into_owned();
            assert!(control.starts_with("Package: moss\nVersion: 9.8.7\n"), "{control}");
            let data = files(members[2].1);
            holds(&data, "usr/", &everywhere);
            let more = [("lib/systemd/user/moss@.service", 0o644)];
            holds(&data, "usr/", &more);
            holds(&data, "usr/share/doc/moss/", &[("copyright", 0o644), ("README.md", 0o644)]);
            named.push(name);
        }
        let crates: serde_json::Value =
            serde_json::from_slice(&read(&format!("{top}.cdx.json"))).unwrap();
        assert_eq!(crates["bomFormat"], "CycloneDX");
        assert!(crates["components"].as_array().unwrap().len() > 100);

        let sums = String::from_utf8(read(SUMS)).unwrap();
        let mut summed: Vec<&str> = Vec::new();
        for line in sums.lines() {
            let (sum, name) = line.split_once("  ").unwrap();
            let digest = Sha256::digest(read(name));
            let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digest, sum, "{name}");
            summed.push(name);
        }
        summed.sort_unstable();
        named.sort_unstable();
        assert_eq!(summed, named);
        assert_eq!(fs::read_dir(&output).unwrap().count(), named.len() + 1);
        fs::remove_dir_all(directory).unwrap();
    }
}
