//! What the binary is made of, as CycloneDX: each crate with its version, licence and checksum, and which
//! needs which. It comes from cargo and the lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

const PACKAGE: &str = "moss";
/// A crate by its name and version.
type Crate = (String, String);

/// Lists the crates that the binary is made of, as CycloneDX has it.
pub(crate) fn made(root: &Path, version: &str) -> Result<Vec<u8>> {
    let target = printed(root, "rustc", &["--print", "host-tuple"])?;
    let target = target.trim();
    let tree = printed(
        root,
        "cargo",
        &[
            "tree",
            "--locked",
            "--offline",
            "--package",
            PACKAGE,
            "--target",
            target,
            "--edges",
            "normal,no-proc-macro",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
    )?;
    let linked = linked(&tree);
    let metadata = printed(
        root,
        "cargo",
        &[
            "metadata",
            "--locked",
            "--offline",
            "--format-version",
            "1",
            "--filter-platform",
            target,
        ],
    )?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo prints no metadata")?;
    let sums = checksums(&fs::read_to_string(root.join("Cargo.lock"))?);
    let list = list(&metadata, &linked, &sums, version)?;
    let mut text = serde_json::to_vec_pretty(&list)?;
    text.push(b'\n');
    Ok(text)
}

fn printed(root: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let program = std::env::var_os(program.to_uppercase()).unwrap_or_else(|| program.into());
    let output = Command::new(&program).current_dir(root).args(arguments).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} failed: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).context("it prints what is no text")
}

/// The crates in lines of `cargo tree`: `NAME vVERSION …`.
fn linked(tree: &str) -> BTreeSet<Crate> {
    let lines = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        Some((name.to_owned(), version.to_owned()))
    });
    lines.collect()
}

/// The checksums in a lock file.
fn checksums(lock: &str) -> BTreeMap<Crate, String> {
    let packages = lock.split("[[package]]").filter_map(|package| {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key))?;
            Some(line.strip_prefix(" = ")?.trim_matches('"').to_owned())
        };
        Some(((value("name")?, value("version")?), value("checksum")?))
    });
    packages.collect()
}

fn list(
    metadata: &Value,
    linked: &BTreeSet<Crate>,
    sums: &BTreeMap<Crate, String>,
    version: &str,
) -> Result<Value> {
    let packages = metadata["packages"].as_array().context("metadata without packages")?;
    let named = |package: &Value| -> Option<Crate> {
        Some((package["name"].as_str()?.to_owned(), package["version"].as_str()?.to_owned()))
    };
    let mut references = BTreeMap::new();
    let mut components = BTreeMap::new();
    for package in packages {
        let Some(name) = named(package).filter(|name| linked.contains(name)) else { continue };
        let reference = format!("pkg:cargo/{}@{}", name.0, name.1);
        let mut component = json!({
            "type": "library",
            "bom-ref": reference,
            "name": name.0,
            "version": name.1,
            "purl": reference,
        });
        if let Some(license) = package["license"].as_str() {
            // An older way to say OR.
            let license = license.replace('/', " OR ");
            component["licenses"] = json!([{ "expression": license }]);
        }
        if let Some(sum) = sums.get(&name) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        if name.0 != PACKAGE {
            components.insert(name, component);
        }
        references.insert(package["id"].as_str().unwrap_or_default(), reference);
    }
    if references.len() != linked.len() {
        bail!("cargo knows {} of {} crates", references.len(), linked.len());
    }
    let nodes = metadata["resolve"]["nodes"].as_array().context("metadata without dependencies")?;
    let depends = nodes.iter().filter_map(|node| {
        let reference = references.get(node["id"].as_str()?)?;
        let on = node["deps"].as_array()?.iter().filter(|dependency| is_linked(dependency));
        let on = on.filter_map(|dependency| references.get(dependency["pkg"].as_str()?));
        let on: BTreeSet<&String> = on.collect();
        Some((reference, json!({ "ref": reference, "dependsOn": on })))
    });
    let depends: BTreeMap<&String, Value> = depends.collect();
    let reference = format!("pkg:cargo/{PACKAGE}@{version}");
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": reference,
            "name": PACKAGE,
            "version": version,
            "purl": reference,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        }},
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": depends.into_values().collect::<Vec<_>>(),
    }))
}

/// Whether something is needed when the program runs, not only to build or to test it.
fn is_linked(dependency: &Value) -> bool {
    let kinds = dependency["dep_kinds"].as_array();
    kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_what_is_linked_and_nothing_else() {
        let linked = linked("moss v1.0.0 (/w/cli)\na v0.2.0\na v0.2.0 (*)\n");
        let lock = "[[package]]\nname = \"a\"\nversion = \"0.2.0\"\nchecksum = \"ab\"\n\n\
                    [[package]]\nname = \"moss\"\nversion = \"1.0.0\"\n";
        let metadata = json!({
            "packages": [
                { "id": "m", "name": "moss", "version": "1.0.0", "license": "MIT" },
                { "id": "a", "name": "a", "version": "0.2.0", "license": "MIT/Apache-2.0" },
                { "id": "t", "name": "testing", "version": "1.0.0", "license": "MIT" },
            ],
            "resolve": { "nodes": [
                { "id": "m", "deps": [
                    { "pkg": "a", "dep_kinds": [{ "kind": null }] },
                    { "pkg": "t", "dep_kinds": [{ "kind": "dev" }] },
                ]},
                { "id": "a", "deps": [] },
            ]},
        });
        let list = list(&metadata, &linked, &checksums(lock), "1.0.0").expect("all is there");
        assert_eq!(list["components"].as_array().map(Vec::len), Some(1));
        let component = &list["components"][0];
        assert_eq!(component["purl"], "pkg:cargo/a@0.2.0");
        assert_eq!(component["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(component["hashes"][0]["content"], "ab");
        assert_eq!(list["dependencies"][1]["dependsOn"], json!(["pkg:cargo/a@0.2.0"]));
        assert_eq!(list["dependencies"][0]["dependsOn"], json!([]));
    }
}
