//! Build tools in *workspace-write*, without network: what a project needs is there already.

use std::io::Write as _;
use std::process::Command;

use moss_sandbox::FileView;

use crate::harness::{FULL, Place, run};

/// Whether a program works here; says so past the test runner where it does not.
fn has(program: &str, argument: &str) -> bool {
    let output = Command::new(program).arg(argument).output();
    let works = output.is_ok_and(|output| output.status.success());
    if !works {
        let note = format!("\nNOT TESTED: builds by {program} in the sandbox: it is not there\n");
        std::io::stderr().write_all(note.as_bytes()).unwrap();
    }
    works
}

/// Runs a script with the person's own environment and caches, and expects its output.
async fn builds(place: &Place, script: &str, expected: &str) {
    let mut command = place.shell(script);
    let home = std::env::home_dir().unwrap();
    command.files.writable = FileView::caches(Some(&home), &command.environment.from);
    for way in FULL {
        let ran = run(way, command.clone()).await;
        assert_eq!(ran.stdout, expected, "{way}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn go_builds_a_module() {
    if !has("go", "version") {
        return;
    }
    let place = Place::new();
    place.write("go.mod", "module example.com/tiny\n\ngo 1.18\n");
    place.write("part/part.go", "package part\n\nfunc Word() string { return \"built\" }\n");
    place.write(
        "main.go",
        "package main\n\nimport \"example.com/tiny/part\"\n\nfunc main() { println(part.Word()) }\n",
    );
    builds(&place, "go build -o tiny . && ./tiny 2>&1", "built\n").await;
}

#[tokio::test]
async fn npm_installs_what_a_lock_file_says() {
    if !has("npm", "--version") {
        return;
    }
    let place = Place::new();
    place
        .write("part/package.json", r#"{ "name": "part", "version": "1.0.0", "main": "part.js" }"#);
    place.write("part/part.js", "module.exports = \"built\";\n");
    place.write(
        "package.json",
        r#"{ "name": "tiny", "version": "1.0.0", "dependencies": { "part": "file:part" } }"#,
    );
    place.write(
        "package-lock.json",
        r#"{ "name": "tiny", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
            "": { "name": "tiny", "version": "1.0.0", "dependencies": { "part": "file:part" } },
            "node_modules/part": { "resolved": "part", "link": true },
            "part": { "version": "1.0.0" } } }"#,
    );
    let script = "npm ci --offline --no-audit --no-fund >&2 && node -p 'require(\"part\")'";
    builds(&place, script, "built\n").await;
}

/// What builds a package that is installed as it lies there; nothing has to be fetched for it.
const BACKEND: &str = r#"
import base64, hashlib, zipfile

NAME = "tiny-1.0.dist-info"

def get_requires_for_build_editable(config_settings=None):
    return []

def build_editable(directory, config_settings=None, metadata_directory=None):
    import os
    files = {
        "tiny.pth": os.getcwd() + "/src\n",
        f"{NAME}/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        f"{NAME}/WHEEL": "Wheel-Version: 1.0\nGenerator: own\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{NAME}/RECORD"])
    wheel = "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(f"{directory}/{wheel}", "w") as archive:
        for name, text in [*files.items(), (f"{NAME}/RECORD", record)]:
            archive.writestr(name, text)
    return wheel
"#;

#[tokio::test]
async fn pip_installs_a_project_as_it_lies_there() {
    if !has("python3", "--version") {
        return;
    }
    let place = Place::new();
    place.write("backend.py", BACKEND);
    place.write(
        "pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n\
         [project]\nname = \"tiny\"\nversion = \"1.0\"\n",
    );
    place.write("src/tiny.py", "WORD = \"built\"\n");
    let script = "python3 -m venv .venv >&2 && .venv/bin/pip install --no-index -q -e . >&2 && \
                  .venv/bin/python -c 'import tiny; print(tiny.WORD)'";
    builds(&place, script, "built\n").await;
}
