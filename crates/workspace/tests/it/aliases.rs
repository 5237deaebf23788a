//! File systems that find a file under more names than its directory lists: each path is decided on
//! by the listed names, and what is not listed is refused.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use moss_sdk::ErrorCode;
use moss_sdk::edit::{ChangeSet, Retention};
use moss_sdk::file::ListOptions;
use moss_workspace::{LastLink, LiveOptions, LiveTree, Protection, Workspace, WorkspaceOptions};
use tempfile::TempDir;

use crate::fixture::{RESOLVERS, create, delete, open, rel};
use crate::fuse::{Mounted, Node, entry, unlisted, unmount};

const MAIN: &str = "fn main() {}\n";

/// What a Windows machine might have, as its file system shows it.
fn windows() -> Option<Mounted> {
    Mounted::new(vec![
        entry(".env.production", &["ENV~1", "env~1.PRO"], Node::File("KEY=1\n")),
        entry(
            ".ssh",
            &["SSH~1", ".SSH"],
            Node::Directory(vec![entry("config", &["CONFIG"], Node::File("Host a\n"))]),
        ),
        entry(
            ".moss",
            &["MOSS~1"],
            Node::Directory(vec![entry(
                "policy.toml",
                &["POLICY~1.TOM"],
                Node::File("version = 1\n"),
            )]),
        ),
        entry(
            "secret-files",
            &["SECRET~1", "secret-files.", "Secret-Files"],
            Node::Directory(vec![entry("db.json", &["DB.JSON", "DBJSON~1"], Node::File("{}\n"))]),
        ),
        entry(
            "src",
            &["SRC"],
            Node::Directory(vec![
                entry("main.rs", &["MAIN.RS"], Node::File(MAIN)),
                entry("straße.txt", &["STRASSE.TXT", "STRAE~1.TXT"], Node::File("x\n")),
            ]),
        ),
        entry("way", &["WAY"], Node::Link("SECRET~1/DB.JSON")),
        entry(
            "state",
            &["STATE", "STATE~1"],
            Node::Directory(vec![entry("token", &["TOKEN"], Node::File("t\n"))]),
        ),
        unlisted(&["HIDDEN~1"], Node::Directory(vec![entry("a", &[], Node::File("a\n"))])),
    ])
}

#[test]
fn an_alias_is_decided_on_by_the_name_that_is_listed() {
    let Some(mounted) = windows() else { return };
    for resolver in RESOLVERS {
        let workspace = open(&mounted.root(), resolver);
        for (asked, real) in [
            ("ENV~1", ".env.production"),
            ("env~1.PRO", ".env.production"),
            ("SSH~1/config", ".ssh/config"),
            (".SSH/CONFIG", ".ssh/config"),
            ("MOSS~1/POLICY~1.TOM", ".moss/policy.toml"),
            ("SECRET~1/db.json", "secret-files/db.json"),
            ("secret-files./DBJSON~1", "secret-files/db.json"),
            ("WAY", "secret-files/db.json"),
            ("SRC/STRAE~1.TXT", "src/straße.txt"),
            ("src/main.rs", "src/main.rs"),
            ("SRC", "src"),
            // What does not exist, in what does.
            ("SECRET~1/new/file", "secret-files/new/file"),
            ("MOSS~1/new.toml", ".moss/new.toml"),
        ] {
            let found = workspace.resolve(&rel(asked)).unwrap();
            assert_eq!(found.path, rel(real), "{resolver:?} {asked}");
        }
        for asked in ["ENV~1", "SSH~1/config"] {
            let protection = workspace.protection_resolved(&rel(asked)).unwrap();
            assert_eq!(protection, Some(Protection::Secret), "{asked}");
        }
        let protection = workspace.protection_resolved(&rel("MOSS~1/POLICY~1.TOM")).unwrap();
        assert_eq!(protection, Some(Protection::Metadata));
        let opened = workspace.open_for_reading(&rel("ENV~1")).unwrap();
        assert_eq!(opened.real(), &rel(".env.production"));
        assert!(workspace.open_cached(&rel("ENV~1")).is_none());
        let link = workspace.look(&rel("WAY"), LastLink::Keep).unwrap();
        assert_eq!(link.real, rel("way"));
        assert_eq!(workspace.names(&rel("SECRET~1")).unwrap().real, rel("secret-files"));
        let listed = workspace.list(
            &rel("SECRET~1"),
            ListOptions { recursive: true, entries_max: 10 },
            &|path| *path != rel("secret-files/db.json"),
            &|| false,
        );
        assert_eq!(listed.unwrap().skipped.denied, 1);
    }
}

#[test]
fn changes_are_planned_for_the_listed_name() {
    let Some(mounted) = windows() else { return };
    for resolver in RESOLVERS {
        let workspace = open(&mounted.root(), resolver);
        let plan = |change| workspace.plan(&ChangeSet { changes: vec![change] });
        let deleted = plan(delete("SRC/MAIN.RS", MAIN.as_bytes(), Retention::Recoverable)).unwrap();
        assert_eq!(deleted.files()[0].real, rel("src/main.rs"));
        let created = plan(create("MOSS~1/moss-tools.json", "{}")).unwrap();
        assert_eq!(created.files()[0].real, rel(".moss/moss-tools.json"));
        let exists = plan(create("src/STRASSE.TXT", "")).unwrap_err();
        assert_eq!(exists.code(), ErrorCode::AlreadyExists, "{exists}");
    }
}

#[test]
fn a_name_that_no_listing_has_is_refused() {
    let Some(mounted) = windows() else { return };
    for resolver in RESOLVERS {
        let workspace = open(&mounted.root(), resolver);
        for path in ["HIDDEN~1", "HIDDEN~1/a", "HIDDEN~1/new"] {
            let refused = workspace.resolve(&rel(path)).unwrap_err();
            assert_eq!(refused.code(), ErrorCode::InvalidPath, "{resolver:?} {path}: {refused}");
            assert!(workspace.read(&rel(path)).is_err(), "{path}");
            let change = create(path, "x");
            assert!(workspace.plan(&ChangeSet { changes: vec![change] }).is_err(), "{path}");
        }
    }
}

#[test]
fn own_directories_are_protected_under_every_name() {
    let Some(mounted) = windows() else { return };
    for own in ["state", "STATE~1", "STATE"] {
        for resolver in RESOLVERS {
            let own = vec![mounted.root().join(own)];
            let options =
                WorkspaceOptions { resolver: Some(resolver), own, ..WorkspaceOptions::default() };
            let workspace = Workspace::open(&mounted.root(), options).unwrap();
            for path in ["state/token", "STATE~1/TOKEN", "State/new"] {
                let protection = workspace.protection_resolved(&rel(path)).unwrap();
                assert_eq!(protection, Some(Protection::Secret), "{path}");
            }
            let names = workspace.names(&rel(".")).unwrap().names;
            assert!(names.iter().all(|(name, _)| name != "state"), "{names:?}");
        }
    }
}

/// A file system in a file, mounted.
struct Image(TempDir);

impl Image {
    /// None, with a word on standard error, where this system cannot make or mount it.
    fn new(kind: &str, make: &[&str]) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let (image, root) = (directory.path().join("image"), directory.path().join("root"));
        fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
        fs::create_dir(&root).unwrap();
        let made = run(Command::new(make[0]).args(&make[1..]).arg(&image));
        let mount = || run(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&root));
        match made.and_then(|()| mount()) {
            Ok(()) => Some(Self(directory)),
            Err(why) => {
                crate::fixture::not_tested(&format!("aliases on {kind}: {why}"));
                None
            }
        }
    }

    fn root(&self) -> std::path::PathBuf {
        self.0.path().join("root")
    }

    /// Mounts it anew: the kernel then remembers no name.
    fn remount(&self) {
        unmount(&self.root());
        let image = self.0.path().join("image");
        run(Command::new("mount").args(["-o", "loop"]).arg(image).arg(self.root())).unwrap();
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        unmount(&self.root());
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ran = command.output().map_err(|error| format!("`{program}`: {error}"))?;
    let said = || String::from_utf8_lossy(&ran.stderr).trim().to_owned();
    if ran.status.success() { Ok(()) } else { Err(format!("`{program}`: {}", said())) }
}

fn lay(root: &Path) {
    for path in ["Secret-Files/Database.json", ".ssh/config", "src/main.rs"] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x\n").unwrap();
    }
}

fn check_images(root: &Path, expected: &[(&str, &str)]) {
    for resolver in RESOLVERS {
        let workspace = open(root, resolver);
        for (asked, real) in expected {
            let found = workspace.resolve(&rel(asked)).unwrap();
            assert_eq!(found.path, rel(real), "{resolver:?} {asked}");
            if let Some(opened) = workspace.open_cached(&rel(asked)) {
                assert_eq!(opened.real(), &rel(real), "{asked}");
            }
        }
    }
}

/// A file system with a directory `folding`, which ignores letter case.
fn folding() -> Option<Image> {
    let image = Image::new("casefold ext4", &["mkfs.ext4", "-q", "-O", "casefold"])?;
    let root = image.root().join("folding");
    fs::create_dir(&root).unwrap();
    run(Command::new("chattr").arg("+F").arg(&root)).unwrap();
    Some(image)
}

#[test]
fn a_folding_directory_of_ext4_is_decided_on_by_its_listing() {
    let Some(image) = folding() else { return };
    let (root, plain) = (image.root().join("folding"), image.root().join("plain"));
    for root in [&root, &plain] {
        lay(root);
    }
    fs::write(root.join("straße.txt"), "x\n").unwrap();
    check_images(
        &image.root(),
        &[
            ("folding/SECRET-FILES/database.JSON", "folding/Secret-Files/Database.json"),
            ("FOLDING/x", "FOLDING/x"),
            ("folding/.SSH/Config", "folding/.ssh/config"),
            ("folding/STRASSE.TXT", "folding/straße.txt"),
            ("folding/Src/new", "folding/src/new"),
            ("plain/SECRET-FILES/x", "plain/SECRET-FILES/x"),
            ("plain/src/main.rs", "plain/src/main.rs"),
        ],
    );
}

#[test]
fn files_are_found_in_directories_that_may_not_be_listed() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = TempDir::new().unwrap();
    let shut = directory.path().join("shut");
    lay(&shut);
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o311)).unwrap();
    check_images(
        directory.path(),
        &[("shut/src/main.rs", "shut/src/main.rs"), ("shut/SRC/main.rs", "shut/SRC/main.rs")],
    );
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_folding_directory_that_may_not_be_listed_has_no_name_that_is_sure() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(image) = folding() else { return };
    let root = image.root().join("folding");
    lay(&root);
    fs::set_permissions(&root, fs::Permissions::from_mode(0o311)).unwrap();
    // The super-user lists it all the same.
    let is_listed = fs::read_dir(&root).is_ok();
    for resolver in RESOLVERS {
        let found = open(&image.root(), resolver).resolve(&rel("folding/SECRET-FILES"));
        match found {
            Ok(found) => assert!(is_listed && found.path == rel("folding/Secret-Files")),
            Err(error) => assert!(!is_listed, "{error}"),
        }
    }
}

#[test]
fn a_live_tree_of_a_folding_directory_has_the_names_that_are_listed() {
    let Some(image) = folding() else { return };
    let root = image.root().join("folding");
    for path in ["Notes.txt", ".gitignore", "Src/main.rs"] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), "x\n").unwrap();
    }
    image.remount();
    // Events have the name by which a file was looked up first.
    for path in ["NOTES.TXT", ".GitIgnore", "SRC/MAIN.RS"] {
        fs::metadata(root.join(path)).unwrap();
    }
    let workspace = Arc::new(open(&image.root(), RESOLVERS[0]));
    let tree = LiveTree::new(Arc::clone(&workspace), LiveOptions::default());
    tree.build(&|| false);
    let options = ListOptions { recursive: true, entries_max: 100 };
    let agrees = |what: &str| {
        let listed = tree.list(&rel("."), options, &|_| true, &|| false).unwrap().unwrap();
        let walked = workspace.list(&rel("."), options, &|_| true, &|| false).unwrap();
        assert_eq!(listed, walked, "{what}");
    };
    agrees("at first");
    let generation = tree.changes_since(0, &|| false).unwrap().unwrap().generation;
    fs::write(root.join("notes.txt"), "longer than before\n").unwrap();
    agrees("after a write");
    let changed = tree.changes_since(generation, &|| false).unwrap().unwrap();
    assert!(changed.files.contains(&rel("folding/Notes.txt")), "{changed:?}");
    assert!(!changed.files.contains(&rel("folding/NOTES.TXT")), "{changed:?}");
    fs::write(root.join("Src/Main.rs"), "").unwrap();
    agrees("after a write deeper");
    fs::write(root.join(".GITIGNORE"), "notes.txt\n*.rs\n").unwrap();
    agrees("after a change of what is ignored");
    fs::rename(root.join("SRC"), root.join("sources")).unwrap();
    agrees("after a directory was renamed");
    fs::remove_file(root.join("NOTES.txt")).unwrap();
    agrees("after a file was removed");
}

#[test]
fn short_names_of_vfat_are_decided_on_by_the_listing() {
    let Some(image) = Image::new("VFAT", &["mkfs.vfat"]) else { return };
    lay(&image.root());
    check_images(
        &image.root(),
        &[
            ("SECRET~1/DATABA~1.JSO", "Secret-Files/Database.json"),
            ("SSH~1/CONFIG", ".ssh/config"),
            ("secret-files./database.json", "Secret-Files/Database.json"),
            ("SRC/MAIN.RS", "src/main.rs"),
        ],
    );
}
