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
