//! Commands where something is missing: a file system without extended attributes, room on the disk,
//! `/proc`. Each runs in a user namespace, so that mounts need no right and the machine stays as it is.

use std::process::Command;

use crate::harness::{FULL, KEEPER, Place, WAYS, Way};

/// What a command said and how it ended.
#[derive(Debug)]
struct PlaceEnd {
    is_success: bool,
    said: String,
}

/// What no command may change, before each of them.
const PROTECTED: &str = r#"
mkdir "$W/.vscode"
echo theirs > "$W/.vscode/tasks.json"
"#;

/// Runs a command as an ordinary user, where a script was run before.
fn run_ordinary(way: Way, prepare: &str, script: &str) -> PlaceEnd {
    let place = Place::new();
    let prepare = format!("{prepare}\ncd /\nexec \"$@\"");
    let output = Command::new("unshare")
        .args(["--user", "--map-user=1234", "--map-group=1234", "sh", "-ec", &prepare, "sh"])
        .args([KEEPER, "run", place.root.to_str().unwrap(), &way.to_string(), script])
        .env("W", &place.root)
        .output()
        .expect("`unshare` of util-linux is needed to be another user");
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    PlaceEnd { is_success: output.status.success(), said }
}

/// Runs a command where a script was run before, and shows the size of what is protected afterwards.
fn run_in(way: Way, prepare: &str, script: &str) -> PlaceEnd {
    let place = Place::new();
    let look = "wc -c < \"$W/.vscode/tasks.json\" || :";
    let prepare = format!("{prepare}\ncd /\n\"$@\"\n{look}");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-ec", &prepare, "sh"])
        .args([KEEPER, "run", place.root.to_str().unwrap(), &way.to_string(), script])
        .env("W", &place.root)
        .output()
        .expect("`unshare` of util-linux is needed to mount something");
    let said = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()).concat();
    PlaceEnd { is_success: output.status.success(), said }
}

#[test]
fn commands_run_on_a_file_system_without_extended_attributes() {
    let prepare = format!("mount -t ramfs none \"$W\"\n{PROTECTED}");
    let script = r#"
/usr/bin/python3 -c 'import os; os.setxattr(".", "user.a", b"x")' 2>&1 | grep -o 'not supported'
echo made > made && mv made moved && chmod 700 moved && cat moved
echo mine > .vscode/tasks.json
git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git log --oneline | wc -l
cat .vscode/tasks.json
"#;
    for way in WAYS {
        let ended = run_in(way, &prepare, script);
        assert!(ended.is_success, "{way}: {ended:?}");
        let said = &ended.said;
        assert!(said.contains("not supported\nmade\n") && said.contains("\n1\n"), "{way}: {said}");
        let is_kept = said.contains("theirs\n") || said.contains("restored ");
        assert!(is_kept && said.contains("it ended with status 0\n"), "{way}: {said}");
    }
}

#[test]
fn a_command_on_a_full_disk_fails_by_itself_and_what_is_protected_is_not_left_half_written() {
    let fill = "head -c 200k /dev/zero > \"$W/ballast\" 2>/dev/null || :";
    let mount = "mount -t tmpfs -o size=64k none \"$W\"";
    let script = r#"
echo more > more; echo "status $?"; echo more >> ballast || echo none
mkdir made && rmdir made && mv .vscode/tasks.json .vscode/other; rm -f .vscode/other
head -c 9k /dev/zero > filled
"#;
    for way in WAYS {
        // Two pages more than nothing: they are gone when the file is to be restored.
        let large = "head -c 8k /dev/zero | tr '\\0' x > \"$W/.vscode/tasks.json\"";
        let ended = run_in(way, &format!("{mount}\n{PROTECTED}{large}\n{fill}"), script);
        assert!(ended.is_success, "{way}: {ended:?}");
        let said = &ended.said;
        assert!(said.contains("No space left on device"), "{way}: {said}");
        assert!(said.contains("status 1\n") || said.contains("none\n"), "{way}: {said}");
        if FULL.contains(&way) {
            assert!(said.contains("\n8192\n"), "{way}: {said}");
        } else {
            assert!(said.contains("changed ") && said.contains("/.vscode/tasks.json\n"), "{said}");
            assert!(said.contains("No such file"), "{said}");
        }
    }
}

#[test]
fn without_processes_to_look_at_no_command_runs_and_the_error_says_so() {
    for way in WAYS {
        let ended = run_in(way, "mount -t ramfs none /proc", "echo escaped");
        assert!(!ended.is_success && !ended.said.contains("escaped"), "{way}: {ended:?}");
        assert!(ended.said.contains("`/proc` is not mounted"), "{way}: {}", ended.said);
    }
}

#[test]
fn what_cannot_be_looked_into_is_not_seen_by_a_command_that_could_open_it() {
    for mode in ["000", "444", "300"] {
        let prepare = format!(
            "mkdir -p \"$W/conf/sub\" \"$W/free\"\n\
             echo canary > \"$W/conf/.env\"\necho canary > \"$W/conf/sub/.env\"\n\
             chmod {mode} \"$W/conf\""
        );
        let script = "chmod 700 conf; cat conf/.env conf/sub/.env; mv conf c; cat c/.env c/sub/.env; \
                      touch free/made && echo works";
        let ended = run_ordinary(Way::Own, &prepare, script);
        assert!(ended.is_success && ended.said.contains("works\n"), "{mode}: {ended:?}");
        assert!(!ended.said.contains("canary"), "{mode}: {}", ended.said);
    }
}

/// A repository with a hook, and another one in it.
const REPOSITORIES: &str = r#"
for at in "$W/.git" "$W/sub/.git"; do
    mkdir -p "$at/hooks" "$at/objects"; echo theirs > "$at/hooks/sample"; echo theirs > "$at/config"; touch "$at/HEAD"
done
"#;

/// Shows what is there of them.
const LOOK: &str = r#"
stat -c '%a %n' .git .git/hooks .git/objects; cat .git/config .git/hooks/*
"#;

/// Runs two scripts in turn as an ordinary user, where the repositories are, and has the second one look at what the
/// first one left.
fn look_after(way: Way, script: &str) -> String {
    let first = format!("{REPOSITORIES}\n\"$1\" run \"$W\" \"$4\" '{script}'");
    let ended = run_ordinary(way, &first, LOOK);
    assert!(ended.is_success, "{way}, {script}: {ended:?}");
    ended.said
}

#[test]
fn what_a_command_closes_is_open_again_and_restored() {
    let change = "echo evil > .git/hooks/pre-commit; echo evil > .git/config";
    for way in [Way::Own, Way::Landlock] {
        for close in [
            "chmod 000 .git",
            "chmod 555 .git",
            "chmod 400 .git",
            "chmod 000 .git/hooks .git",
            "chmod 000 .",
        ] {
            let said = look_after(way, &format!("{change}; {close}"));
            let expected = "755 .git\n755 .git/hooks\n755 .git/objects\ntheirs\ntheirs\nit ended with status 0\n";
            assert!(said.ends_with(expected), "{way}, {close}: {said}");
            assert!(!said.contains("changed "), "{way}, {close}: {said}");
        }
        // Only who closes it has it opened again.
        let said = look_after(way, "chmod 700 .git; chmod 750 .git/objects");
        assert!(said.contains("700 .git\n755 .git/hooks\n750 .git/objects\n"), "{way}: {said}");
        assert!(!said.contains("restored "), "{way}: {said}");
    }
}

#[test]
fn what_is_closed_is_changed_by_no_command_that_opens_and_closes_it() {
    let evil = "echo evil > .git/hooks/pre-commit";
    for (close, open, closed) in [
        ("chmod 000 .git", "chmod 700 .git", "/.git"),
        ("mkdir .git/info; chmod 000 .git/info", "chmod 700 .git/info", "/.git/info"),
        ("chmod 300 .git/hooks", "chmod 700 .git/hooks", "/.git/hooks"),
    ] {
        let prepare = format!("{REPOSITORIES}\ncd \"$W\"; {close}");
        let ended = run_ordinary(Way::Landlock, &prepare, &format!("{open}; {evil}; {close}"));
        assert!(!ended.is_success, "{close}: {ended:?}");
        let hint = "run `chmod u+rwx ";
        assert!(
            ended.said.contains(hint) && ended.said.contains(&format!("{closed}`")),
            "{ended:?}"
        );
    }
    // Where nobody can enter it, its permissions say whether somebody could.
    for (closed, close) in [("sub", "chmod 000 sub"), (".git/hooks", "chmod 000 .git/hooks")] {
        let prepare = format!("{REPOSITORIES}\ncd \"$W\"; {close}");
        let script = format!("chmod 700 {closed}; touch {closed}/evil; {close}");
        let ended = run_ordinary(Way::Landlock, &prepare, &script);
        assert!(ended.said.contains(&format!("/{closed}\n")), "{ended:?}");
        assert!(ended.said.contains("changed "), "{ended:?}");
        let ended = run_ordinary(Way::Landlock, &prepare, "echo quiet");
        assert_eq!(ended.said, "quiet\nit ended with status 0\n", "{closed}");
    }
}
