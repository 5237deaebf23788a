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
