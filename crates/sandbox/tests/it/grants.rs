//! What a command is granted besides: sockets of agents, and caches that were moved.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use moss_sandbox::{FileView, NetworkMode, ProcessExit, Profile};

use crate::harness::{FULL, Place, WAYS, eventually, run, write};

/// A real agent with one key, ended when it is dropped.
struct Agent {
    process: Child,
    socket: PathBuf,
    /// The public key, as `ssh-add -L` prints it.
    key: String,
}

/// Runs a program of the person's, with the agent.
fn ran(program: &str, arguments: &[&str], socket: &Path) {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("SSH_AUTH_SOCK", socket)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "{program} {arguments:?}");
}

#[tokio::test]
async fn a_commit_is_signed_through_an_agent_whose_socket_is_granted() {
    for way in WAYS {
        let place = Place::new();
        let agent = Agent::start(place.root.parent().unwrap()).await;
        let script = "set -e
            git init -q -b main; echo one > file; git add file
            git -c gpg.format=ssh -c user.signingkey=\"$KEY\" commit -q -S -m signed
            git cat-file commit HEAD";
        let mut command = place.shell(script);
        command.environment.from = vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("SSH_AUTH_SOCK".into(), agent.socket.clone().into()),
        ];
        command.environment.set = vec![
            ("KEY".into(), format!("key::{}", agent.key).into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
        ];
        for who in ["AUTHOR", "COMMITTER"] {
            let of = |what: &str| std::ffi::OsString::from(format!("GIT_{who}_{what}"));
            command.environment.set.push((of("NAME"), "A".into()));
            command.environment.set.push((of("EMAIL"), "a@example.org".into()));
        }
        let refused = run(way, command.clone()).await;
        assert_ne!(refused.end.exit, ProcessExit::Exited(0), "{way}: {refused:?}");
        fs::remove_dir_all(place.root.join(".git")).unwrap();
        command.environment.granted = vec!["SSH_AUTH_SOCK".to_owned()];
        command.files.sockets = vec![agent.socket.clone()];
        let signed = run(way, command).await;
        assert_eq!(signed.end.exit, ProcessExit::Exited(0), "{way}: {signed:?}");
        assert!(signed.stdout.contains("-----BEGIN SSH SIGNATURE-----"), "{way}: {signed:?}");
        let facts = signed.end.facts;
        assert_eq!(facts.environment_granted, ["SSH_AUTH_SOCK"], "{way}");
        assert_eq!(facts.sockets, std::slice::from_ref(&agent.socket), "{way}");
    }
}

#[tokio::test]
async fn a_granted_socket_is_reached_and_one_beside_it_is_not_there() {
    let place = Place::new();
    let beside = place.root.parent().unwrap().join("run");
    fs::create_dir(&beside).unwrap();
    let (granted, other) = (beside.join("granted"), beside.join("other"));
    let listeners = [&granted, &other].map(|path| UnixListener::bind(path).unwrap());
    let connect = "python3 - \"$1\" \"$2\" <<'E'\nimport socket, sys\nfor path in sys.argv[1:]:\n    try:\n        \
                   socket.socket(socket.AF_UNIX).connect(path)\n        print('reached')\n    \
                   except OSError as error:\n        print(type(error).__name__)\nE";
    for way in FULL {
        for profile in [Profile::WorkspaceWrite, Profile::ReadOnly] {
            let mut command = place.shell(connect);
            command.arguments.extend(["sh".into(), granted.clone().into(), other.clone().into()]);
            command.profile = profile;
            let none = run(way, command.clone()).await;
            assert_eq!(none.stdout, "FileNotFoundError\nFileNotFoundError\n", "{way}: {none:?}");
            command.files.sockets = vec![granted.clone()];
            let one = run(way, command).await;
            assert_eq!(one.stdout, "reached\nFileNotFoundError\n", "{way}: {one:?}");
        }
    }
    drop(listeners);
}

#[tokio::test]
async fn sockets_among_programs_are_reached_only_where_they_are_granted() {
    let place = Place::new();
    let beside = |name: &str| place.root.with_file_name(name);
    let (data, linked, linking) = (beside("data"), beside("linked"), beside("linking"));
    fs::create_dir_all(data.join(".cargo/bin")).unwrap();
    fs::create_dir_all(data.join("tool/bin")).unwrap();
    symlink(&data, &linked).unwrap();
    fs::create_dir(&linking).unwrap();
    symlink(data.join(".cargo"), linking.join(".cargo")).unwrap();
    let _listeners = [data.join(".cargo/granted"), data.join(".cargo/a b"), data.join("tool/c\nd")]
        .map(|path| UnixListener::bind(path).unwrap());
    let _own = UnixListener::bind(place.root.join("own")).unwrap();
    let connect = "python3 - <<'E'\nimport os, socket\nhome = os.environ['HOME'] + '/.cargo/'\n\
                   for path in [home + 'granted', home + 'a b', os.environ['TOOL'] + '/c\\nd', 'own']:\n    \
                   os.stat(path)\n    try:\n        socket.socket(socket.AF_UNIX).connect(path)\n        \
                   print('reached')\n    except OSError as error:\n        print(type(error).__name__)\nE";
    let mut command = place.shell(connect);
    command.environment.set.push(("TOOL".into(), data.join("tool").into()));
    let path = format!("/usr/bin:/bin:{}", data.join("tool/bin").display());
    for home in [&data, &linked, &linking] {
        command.environment.from =
            vec![("PATH".into(), path.clone().into()), ("HOME".into(), home.into())];
        for (granted, first) in
            [(vec![home.join(".cargo/granted")], "reached"), (Vec::new(), "ConnectionRefusedError")]
        {
            command.files.sockets = granted;
            for way in FULL {
                for network in [NetworkMode::Off, NetworkMode::On] {
                    command.network = network;
                    let ran = run(way, command.clone()).await;
                    let refused = "ConnectionRefusedError\n".repeat(2);
                    let expected = format!("{first}\n{refused}reached\n");
                    assert_eq!(ran.stdout, expected, "{way}, {}: {ran:?}", home.display());
                }
            }
        }
    }
}

#[tokio::test]
async fn a_cache_that_a_variable_moved_is_written() {
    let place = Place::new();
    let beside = place.root.parent().unwrap();
    let moved = |name: &str| beside.join(name);
    for path in ["cargo/registry/x", "gocache/x", "gomod/x", "gradle/caches/x", "npm/_cacache/x"] {
        write(&beside.join(path), "x");
    }
    let from: Vec<(std::ffi::OsString, std::ffi::OsString)> = vec![
        ("PATH".into(), "/usr/bin:/bin".into()),
        ("HOME".into(), moved("home").into()),
        ("CARGO_HOME".into(), moved("cargo").into()),
        ("GOCACHE".into(), moved("gocache").into()),
        ("GOMODCACHE".into(), moved("gomod").into()),
        ("GRADLE_USER_HOME".into(), moved("gradle").into()),
        ("npm_config_cache".into(), moved("npm").into()),
    ];
    let written = [
        "$CARGO_HOME/registry",
        "$GOCACHE",
        "$GOMODCACHE",
        "$GRADLE_USER_HOME/caches",
        "$npm_config_cache/_cacache",
    ];
    let script: String =
        written.map(|path| format!("echo x > \"{path}/new\" && echo {path}\n")).concat();
    let mut command = place.shell(&format!("{script}echo x > $CARGO_HOME/config.toml"));
    command.environment.from = from.clone();
    for way in WAYS {
        command.files.writable = Vec::new();
        assert_eq!(run(way, command.clone()).await.stdout, "", "{way}");
        command.files.writable = FileView::caches(Some(&moved("home")), &from);
        let ran = run(way, command.clone()).await;
        assert_eq!(ran.stdout.lines().count(), written.len(), "{way}: {ran:?}");
        assert!(!moved("cargo/config.toml").exists(), "{way}");
        fs::remove_file(moved("gocache/new")).unwrap();
    }
}

#[test]
fn what_is_more_than_a_cache_is_none() {
    let place = Place::new();
    let home = place.root.join("home");
    fs::create_dir_all(home.join("go/pkg/mod")).unwrap();
    let caches = |value: &Path| {
        FileView::caches(Some(&home), &[("GOCACHE".into(), value.as_os_str().to_owned())])
    };
    let known = [home.join("go/pkg/mod")];
    for value in
        [&home, &place.root, Path::new("/"), Path::new("/tmp"), Path::new("off"), Path::new("")]
    {
        assert_eq!(caches(value), known, "{}", value.display());
    }
    assert_eq!(caches(&home.join("go/pkg/mod/")), known);
}

// === impl Agent ===

impl Agent {
    async fn start(directory: &Path) -> Self {
        let (socket, key) = (directory.join("agent"), directory.join("key"));
        let mut command = Command::new("ssh-agent");
        command.args(["-D", "-a"]).arg(&socket).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(process) = command.spawn() else {
            std::io::stderr()
                .write_all(b"ssh-agent is needed: install the OpenSSH client\n")
                .unwrap();
            panic!("there is no ssh-agent");
        };
        eventually("the agent listens", || socket.exists()).await;
        let path = key.to_str().unwrap();
        ran("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", path], &socket);
        ran("ssh-add", &["-q", path], &socket);
        let key = fs::read_to_string(key.with_extension("pub")).unwrap().trim().to_owned();
        Self { process, socket, key }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
