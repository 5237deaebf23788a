//! Rules about crates: who depends on whom, what every manifest says, what lints hold.

use std::collections::BTreeSet;
use std::path::Path;

use toml::Table;

use crate::tree::{FILES, file, rust_files};
use crate::{hold, hold_but, house};

/// The crates, from the lowest layer to the highest, and which of ours each may depend on: only those
/// before it.
pub(crate) const CRATES: &[(&str, &[&str])] = &[
    ("proto", &[]),
    ("sdk/macros", &[]),
    ("sdk", &["moss-sdk-macros"]),
    ("crates/removal", &[]),
    ("crates/sandbox", &["moss-removal"]),
    ("crates/symbols", &[]),
    ("crates/checks", &["moss-symbols"]),
    ("crates/ranking", &["moss-sdk", "moss-symbols"]),
    ("crates/language-servers", &["moss-sdk"]),
    ("crates/schema", &[]),
    ("crates/matching", &["moss-sdk"]),
    ("crates/merge", &[]),
    ("crates/client-settings", &["moss-symbols"]),
    ("crates/workspace", &["moss-merge", "moss-removal", "moss-sdk"]),
    ("crates/index", &["moss-sdk", "moss-workspace"]),
    ("crates/plugin-list", &["moss-schema", "moss-sdk"]),
    ("crates/commands", &["moss-sdk"]),
    ("crates/policy", &["moss-commands", "moss-sdk", "moss-workspace"]),
    (
        "crates/dispatch",
        &["moss-plugin-list", "moss-policy", "moss-schema", "moss-sdk", "moss-workspace"],
    ),
    ("crates/journal", &["moss-policy", "moss-sdk"]),
    ("crates/plugin-host", &["moss-plugin-list", "moss-schema", "moss-sdk"]),
    ("crates/model-bridge", &["moss-schema"]),
    ("crates/model-data", &["moss-model-bridge", "moss-schema"]),
    ("crates/network", &["moss-plugin-host"]),
    (
        "crates/embeddings",
        &["moss-network", "moss-plugin-host", "moss-ranking", "moss-sdk", "moss-workspace"],
    ),
    (
        "crates/catalog",
        &["moss-dispatch", "moss-model-bridge", "moss-plugin-host", "moss-schema", "moss-sdk"],
    ),
    (
        "crates/plugins",
        &[
            "moss-catalog",
            "moss-dispatch",
            "moss-network",
            "moss-plugin-host",
            "moss-plugin-list",
            "moss-sandbox",
            "moss-sdk",
            "moss-workspace",
        ],
    ),
    (
        "crates/config",
        &[
            "moss-embeddings",
            "moss-language-servers",
            "moss-network",
            "moss-plugin-list",
            "moss-plugins",
            "moss-policy",
            "moss-schema",
            "moss-sdk",
        ],
    ),
    ("crates/editors", &["moss-config", "moss-sdk", "moss-workspace"]),
    (
        "crates/live-index",
        &[
            "moss-config",
            "moss-embeddings",
            "moss-index",
            "moss-network",
            "moss-policy",
            "moss-ranking",
            "moss-sdk",
            "moss-workspace",
        ],
    ),
    (
        "builtin-tools",
        &["moss-checks", "moss-matching", "moss-merge", "moss-ranking", "moss-sdk", "moss-symbols"],
    ),
    (
        "daemon",
        &[
            "moss-builtin-tools",
            "moss-catalog",
            "moss-checks",
            "moss-commands",
            "moss-config",
            "moss-dispatch",
            "moss-editors",
            "moss-embeddings",
            "moss-index",
            "moss-journal",
            "moss-language-servers",
            "moss-live-index",
            "moss-merge",
            "moss-network",
            "moss-plugin-host",
            "moss-plugin-list",
            "moss-plugins",
            "moss-policy",
            "moss-ranking",
            "moss-sandbox",
            "moss-schema",
            "moss-sdk",
            "moss-symbols",
            "moss-workspace",
        ],
    ),
    (
        "grpc",
        &[
            "moss-builtin-tools",
            "moss-catalog",
            "moss-config",
            "moss-daemon",
            "moss-dispatch",
            "moss-editors",
            "moss-index",
            "moss-journal",
            "moss-live-index",
            "moss-model-bridge",
            "moss-plugin-host",
            "moss-plugin-list",
            "moss-plugins",
            "moss-policy",
            "moss-proto",
            "moss-schema",
            "moss-sdk",
            "moss-workspace",
        ],
    ),
    ("mcp", &["moss-catalog", "moss-dispatch", "moss-schema", "moss-sdk"]),
    (
        "cli",
        &[
            "moss-builtin-tools",
            "moss-daemon",
            "moss-catalog",
            "moss-client-settings",
            "moss-dispatch",
            "moss-grpc",
            "moss-journal",
            "moss-live-index",
            "moss-mcp",
            "moss-model-bridge",
            "moss-model-data",
            "moss-network",
            "moss-plugin-host",
            "moss-plugin-list",
            "moss-plugins",
            "moss-policy",
            "moss-proto",
            "moss-sandbox",
            "moss-schema",
            "moss-sdk",
            "moss-symbols",
            "moss-workspace",
        ],
    ),
    (
        "xtask",
        &[
            "moss-builtin-tools",
            "moss-matching",
            "moss-model-bridge",
            "moss-plugin-host",
            "moss-plugin-list",
            "moss-proto",
            "moss-sandbox",
            "moss-ranking",
            "moss-sdk",
            "moss-symbols",
            "moss-workspace",
        ],
    ),
    ("tests", &["moss-mcp", "moss-model-bridge", "moss-proto", "moss-sdk", "moss-xtask"]),
];
/// Most lines of one crate, without its tests: who adds to it has to know all of it.
const CRATE_LINES_MAX: usize = 20_000;
const LICENSE: &str = "MIT OR Apache-2.0";
/// What no crate calls, because it is about the whole process.
const DOORS: [&str; 2] = ["std::env::set_var", "std::env::current_dir"];
/// Crates whose lints do not keep them from these, each with the reason.
const UNBOUND: &[(&str, &str)] = &[
    ("proto", "generated, by a script that only the compiler runs"),
    ("sdk", "half of it runs in components, where `std` reaches what a plugin was granted"),
    ("sdk/macros", "runs in the compiler"),
    ("tests", "prepares whole machines"),
    ("xtask", "builds, measures and installs, where a developer stands"),
];

/// A crate as its manifest has it.
pub(crate) struct CrateFacts {
    /// A directory of the table.
    pub(crate) directory: &'static str,
    pub(crate) package: String,
    /// The packages of ours that a build of it or of its tests needs, whatever it calls them.
    pub(crate) needs: Vec<String>,
}

#[test]
fn crates_depend_as_designed() {
    hold("dependencies between crates", not_designed(&crates()));
}

#[test]
fn arrows_between_crates_go_down() {
    hold("layers", not_below(&crates()));
}

#[test]
fn an_arrow_up_is_found_whatever_it_is_called() {
    let named = "[dependencies]\nmoss-daemon.workspace = true";
    let renamed = "[dev-dependencies]\nengine = { package = \"moss-daemon\", path = \"daemon\" }";
    let inherited = "[target.'cfg(unix)'.dependencies]\nengine = { workspace = true }";
    for added in [named, renamed, inherited] {
        let mut root = root();
        let engine = "package = \"moss-daemon\"\npath = \"daemon\"".parse::<Table>().unwrap();
        let shared = root["workspace"]["dependencies"].as_table_mut().unwrap();
        shared.insert("engine".to_owned(), engine.into());
        let planted = |directory: &'static str| match directory {
            "crates/dispatch" => {
                let text = format!("[package]\nname = \"moss-dispatch\"\n{added}\n");
                (directory, text.parse().unwrap())
            }
            _ => (directory, manifest(directory)),
        };
        let manifests = CRATES.iter().map(|(directory, _)| planted(directory));
        let crates = crate_facts(manifests, &root);
        let of = "crates/dispatch depends on moss-daemon";
        assert_eq!(not_designed(&crates), [of], "{added}");
        assert_eq!(not_below(&crates), [format!("{of}, which is not below it")], "{added}");
        let above = house::above(&crates);
        assert_eq!(above, [format!("{of}, which is above it")], "{added}");
    }
}

/// The crates of the table, from the lowest to the highest.
pub(crate) fn crates() -> Vec<CrateFacts> {
    crate_facts(CRATES.iter().map(|(directory, _)| (*directory, manifest(directory))), &root())
}

fn crate_facts(
    manifests: impl Iterator<Item = (&'static str, Table)>,
    root: &Table,
) -> Vec<CrateFacts> {
    let facts = manifests.map(|(directory, manifest)| CrateFacts {
        directory,
        package: manifest["package"]["name"].as_str().unwrap().to_owned(),
        needs: dependencies(&manifest, root).filter(|name| is_ours(name)).collect(),
    });
    facts.collect()
}

/// What crates need that the table does not let them.
fn not_designed(crates: &[CrateFacts]) -> Vec<String> {
    let of = |one: &CrateFacts| {
        let designed = CRATES.iter().find(|(directory, _)| *directory == one.directory);
        let (directory, may) = designed.expect("crates are those of the table");
        let bad = one.needs.iter().filter(|name| !may.contains(&name.as_str()));
        bad.map(|name| format!("{directory} depends on {name}")).collect::<Vec<_>>()
    };
    crates.iter().flat_map(of).collect()
}

/// What crates need that does not stand before them.
fn not_below(crates: &[CrateFacts]) -> Vec<String> {
    let of = |(place, one): (usize, &CrateFacts)| {
        let is_below = |name: &str| crates[..place].iter().any(|lower| lower.package == name);
        let bad = one.needs.iter().filter(|name| !is_below(name));
        let directory = one.directory;
        bad.map(|name| format!("{directory} depends on {name}, which is not below it"))
            .collect::<Vec<_>>()
    };
    crates.iter().enumerate().flat_map(of).collect()
}

/// The name of the crate in a directory.
pub(crate) fn package(directory: &str) -> String {
    manifest(directory)["package"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn no_crate_is_too_large_to_be_known() {
    let offences = CRATES.iter().filter_map(|(directory, _)| {
        // `sdk/macros` and its like lie within the directory of another crate.
        let within = |path: &str| {
            let deepest = CRATES
                .iter()
                .map(|(other, _)| *other)
                .filter(|other| path.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')));
            deepest.max_by_key(|other| other.len()) == Some(*directory)
        };
        let files = rust_files().filter(|file| !file.is_test() && within(&file.path));
        let lines: usize = files.map(|file| file.code_without_tests().lines().count()).sum();
        (lines > CRATE_LINES_MAX).then(|| format!("{directory} has {lines}"))
    });
    hold("at most 20,000 lines without tests", offences);
}

#[test]
fn every_crate_is_listed_here() {
    let members: BTreeSet<String> = root()["workspace"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member.as_str().unwrap().to_owned())
        .collect();
    let listed: BTreeSet<String> =
        CRATES.iter().map(|(directory, _)| (*directory).to_owned()).collect();
    assert_eq!(members, listed);
}

#[test]
fn manifests_inherit() {
    let keys = ["version", "edition", "rust-version", "license", "publish"];
    let members = manifests().filter(|(_, manifest)| manifest.contains_key("package"));
    let offences = members.flat_map(|(path, manifest)| {
        let inherits = |table: Option<&toml::Value>| {
            table.and_then(|value| value.get("workspace")?.as_bool()) == Some(true)
        };
        let mut missing: Vec<String> = keys
            .iter()
            .filter(|key| !inherits(manifest["package"].get(**key)))
            .map(|key| format!("{path}: {key}.workspace = true"))
            .collect();
        if !inherits(manifest.get("lints")) {
            missing.push(format!("{path}: lints.workspace = true"));
        }
        missing
    });
    hold("inherits from the workspace", offences);
}

#[test]
fn versions_of_dependencies_stand_in_one_place() {
    let offences = manifests().flat_map(|(path, manifest)| {
        let specified: Vec<String> = sections(&manifest)
            .flat_map(|section| section.iter())
            .filter(|(_, value)| {
                value.is_str() || value.get("version").is_some() || value.get("path").is_some()
            })
            .map(|(name, _)| format!("{path}: {name}"))
            .collect();
        specified
    });
    hold("dependencies come from [workspace.dependencies]", offences);
}

#[test]
fn the_licence_is_stated_everywhere() {
    for (path, manifest) in manifests() {
        if let Some(workspace) = manifest.get("workspace") {
            assert_eq!(workspace["package"]["license"].as_str(), Some(LICENSE), "{path}");
        }
    }
    assert!(file("LICENSE-MIT").text.contains("Permission is hereby granted, free of charge"));
    assert!(file("LICENSE-APACHE").text.contains("Version 2.0, January 2004"));
    assert!(file("README.md").text.contains(LICENSE));
}

/// A crate's own `clippy.toml` replaces the one at the root.
#[test]
fn lint_settings_of_crates_repeat_the_shared_ones() {
    let shared = file("clippy.toml").text.lines().filter(|line| line.contains(" = "));
    let offences = shared.flat_map(|line| {
        FILES
            .iter()
            .filter(|file| file.path.ends_with("/clippy.toml"))
            .filter(move |file| !file.text.lines().any(|other| other == line))
            .map(move |file| format!("{}: {line}", file.path))
    });
    hold("repeats the shared line", offences);
}

#[test]
fn crates_that_hold_no_door_are_kept_from_them_by_lints() {
    let offences = CRATES.iter().filter_map(|(directory, _)| {
        let settings = lint_settings(directory);
        let banned = settings.get("disallowed-methods").and_then(toml::Value::as_array);
        let is_banned = |method: &str| {
            banned.into_iter().flatten().any(|entry| entry["path"].as_str() == Some(method))
        };
        let open: Vec<&str> = DOORS.iter().copied().filter(|method| !is_banned(method)).collect();
        (!open.is_empty())
            .then(|| ((*directory).to_owned(), format!("may call {}", open.join(", "))))
    });
    hold_but("kept from doors by clippy.toml", offences, UNBOUND);
}

#[test]
fn lints_say_why_they_ban_something() {
    let all = FILES.iter().filter(|file| file.path.ends_with("clippy.toml"));
    let offences = all.filter(|file| {
        let settings: Table = file.text.parse().unwrap();
        let lists = ["disallowed-methods", "disallowed-types"];
        let lists = lists.iter().filter_map(|list| settings.get(*list)?.as_array());
        lists.flatten().any(|entry| entry.get("reason").is_none())
    });
    hold("a ban has its reason", offences.map(|file| file.path.clone()));
}

/// SQLite itself does not say whether it was compiled so.
#[test]
fn sqlite_brings_its_logs_to_disk_without_their_times() {
    let settings: Table = file(".cargo/config.toml").text.parse().unwrap();
    let flags = settings["env"]["LIBSQLITE3_FLAGS"].as_str().unwrap();
    assert!(flags.split(' ').any(|flag| flag == "-DHAVE_FDATASYNC=1"), "{flags}");
}

/// The settings that clippy takes for a crate: those nearest above its manifest.
fn lint_settings(directory: &str) -> Table {
    let above = Path::new(directory).ancestors().map(|above| above.join("clippy.toml"));
    let mut found =
        above.filter_map(|path| FILES.iter().find(|file| Path::new(&file.path) == path));
    found.next().expect("there is one at the root").text.parse().unwrap()
}

fn root() -> Table {
    file("Cargo.toml").text.parse().unwrap()
}

fn manifest(directory: &str) -> Table {
    file(&format!("{directory}/Cargo.toml")).text.parse().unwrap()
}

fn manifests() -> impl Iterator<Item = (&'static str, Table)> {
    FILES
        .iter()
        .filter(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"))
        .map(|file| (file.path.as_str(), file.text.parse().unwrap()))
}

/// Every package that a build of the crate or of its tests needs.
fn dependencies(manifest: &Table, root: &Table) -> impl Iterator<Item = String> {
    let shared = &root["workspace"]["dependencies"];
    let package = move |(key, value): (&String, &toml::Value)| {
        let renamed = value.get("package").or_else(|| shared.get(key)?.get("package"));
        renamed.and_then(toml::Value::as_str).unwrap_or(key).to_owned()
    };
    sections(manifest).flat_map(|section| section.iter()).map(package)
}

fn sections(manifest: &Table) -> impl Iterator<Item = &Table> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables = targets.into_iter().flat_map(|targets| targets.values());
    let tables: Vec<&Table> = tables.filter_map(toml::Value::as_table).chain([manifest]).collect();
    tables.into_iter().flat_map(move |table| {
        KINDS.iter().filter_map(|kind| table.get(*kind).and_then(toml::Value::as_table))
    })
}

fn is_ours(name: &str) -> bool {
    name == "moss" || name.starts_with("moss-")
}
