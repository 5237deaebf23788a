//! A client in TypeScript, checked by its compiler.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::guide;
use crate::harness::{Ended, Site};

/// The files of the client and its compiler's settings.
const FILES: [&str; 2] = ["attach.ts", "tsconfig.json"];

fn node() -> Command {
    let mut node = Command::new("node");
    node.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    node
}

/// Lays the client and the guide's editor into a directory, and compiles them.
fn compiled(site: &Site) -> PathBuf {
    let modules = std::env::var_os("MOSS_TEST_NODE_MODULES").expect(
        "MOSS_TEST_NODE_MODULES is not set: it names the packages of tests/clients/typescript; run \
         `cargo xtask test`",
    );
    let directory = site.outside("typescript");
    std::fs::create_dir(&directory).unwrap();
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/typescript");
    for file in FILES {
        std::fs::copy(client.join(file), directory.join(file)).unwrap();
    }
    std::fs::write(directory.join("example_editor.ts"), guide::code("typescript")).unwrap();
    std::os::unix::fs::symlink(&modules, directory.join("node_modules")).unwrap();
    let compiler = Path::new(&modules).join("typescript/bin/tsc");
    let compiled = Ended::of(node().arg(compiler).arg("--project").arg(&directory));
    assert_eq!(compiled.code, Some(0), "{}{}", compiled.stdout, compiled.stderr);
    directory
}

#[test]
fn editor_of_the_guide_in_typescript_is_asked_and_answers() {
    let site = Site::new();
    let directory = compiled(&site);
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto");
    guide::check(&site, |site| {
        let mut node = node();
        node.arg(directory.join("attach.js")).arg(site.socket()).arg(site.state()).arg(protos);
        node
    });
}
