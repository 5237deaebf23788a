//! What covers protected and masked files: all of them, or the command does not run.

use std::path::PathBuf;

use moss_sandbox::{ProtectedKind, SandboxError, find_protected};

use crate::harness::{FULL, Place, WAYS, Way, run, try_run};

/// More than bubblewrap can have, and fewer than moss's own launcher can.
const MANY: usize = 1_000;
/// More than any can have.
const TOO_MANY: usize = 5_000;

/// Files of one name in directories that come before others.
fn fill(place: &Place, count: usize, name: &str) -> Vec<PathBuf> {
    (0..count).map(|n| place.write(&format!("+n/a{n:04}/{name}"), "old\n")).collect()
}

/// A place with what belongs to git.
fn repository() -> Place {
    let place = Place::new();
    place.write(".git/config", "old\n");
    place.write(".git/hooks/sample", "old\n");
    place
}

const CHANGE: &str = "echo new >> .git/config; echo new > .git/hooks/pre-commit; echo done";

fn is_as_before(place: &Place) -> bool {
    place.read(".git/config") == "old\n" && !place.root.join(".git/hooks/pre-commit").exists()
}

#[tokio::test]
async fn what_is_protected_last_leaves_room_for_git() {
    for way in FULL {
        let place = repository();
        // What a command changes and does not end by itself is not restored: only mounts keep it as it was.
        let mut command = place.shell(&format!("{CHANGE}; cat .git/config > seen"));
        command.files.protected_last = fill(&place, TOO_MANY, "settings.json");
        let ran = run(way, command).await;
        assert_eq!(ran.stdout, "done\n", "{way}: {ran:?}");
        assert_eq!(place.read("seen"), "old\n", "{way}");
        assert!(is_as_before(&place) && ran.end.restored.is_empty(), "{way}");
        let compared = &ran.end.facts.compared_afterwards;
        assert!(compared.iter().any(|path| path.ends_with("a4999/settings.json")), "{way}");
    }
}

#[tokio::test]
async fn on_the_landlock_tier_git_is_restored_however_much_else_there_is() {
    let place = repository();
    let mut command = place.shell(CHANGE);
    command.files.protected = fill(&place, 3_000, "settings.json");
    let ran = run(Way::Landlock, command).await;
    assert_eq!(ran.stdout, "done\n", "{ran:?}");
    assert!(is_as_before(&place), "{:?}", ran.end.changed);
}

#[tokio::test]
async fn a_command_for_which_not_everything_can_be_covered_is_refused() {
    for (way, count) in [(Way::Bubblewrap, MANY), (Way::Own, TOO_MANY)] {
        for is_masked in [false, true] {
            let place = repository();
            let mut command = place.shell("echo ran > ran");
            let files = fill(&place, count, ".env");
            let list = match is_masked {
                true => &mut command.files.masked,
                false => &mut command.files.protected,
            };
            *list = files;
            command.tier_min = way.tier();
            let error = try_run(way, command).await.unwrap_err();
            let SandboxError::TooManyMounts(too_many) = error else { panic!("{way}: {error}") };
            assert_eq!(too_many.beneath, place.root.join("+n"), "{way}");
            assert!(too_many.to_string().contains("`a0000/.env`"), "{way}: {too_many}");
            assert!(!place.root.join("ran").exists(), "{way}");
        }
    }
}

#[tokio::test]
async fn the_own_launcher_covers_a_thousand_secrets_and_what_is_above_them() {
    let place = Place::new();
    let mut command = place
        .shell("cat +n/*/.env; mv +n/a0999 x; cat x/.env; mv +n y; cat y/*/.env; ls +n | wc -l");
    command.files.masked = fill(&place, MANY, ".env");
    let ran = run(Way::Own, command).await;
    assert_eq!(ran.stdout, "1000\n", "{:.300}", ran.stderr);
}

#[tokio::test]
async fn what_is_masked_is_so_in_what_is_protected_and_in_git() {
    for way in WAYS {
        let place = repository();
        for path in [".git/.env", ".git/info/.env", ".tool/.env", ".tool/sub/.env"] {
            place.write(path, "canary\n");
        }
        let kind = |path: &std::path::Path| {
            let is_tool = path == std::path::Path::new(".tool");
            let is_secret = path.ends_with(".env").then_some(ProtectedKind::Masked);
            is_secret.or(is_tool.then_some(ProtectedKind::Protected))
        };
        let found = find_protected(&place.root, 1_000, &kind);
        let mut command = place.shell("grep -rh canary . .git; mv .git/info i; cat i/.env; true");
        command.files.protected = found.protected;
        command.files.masked = found.masked;
        let ran = run(way, command).await;
        if FULL.contains(&way) {
            assert_eq!(ran.stdout, "", "{way}: {ran:?}");
        } else {
            assert_eq!(ran.end.facts.unmasked.len(), 4, "{way}: {ran:?}");
        }
    }
}
