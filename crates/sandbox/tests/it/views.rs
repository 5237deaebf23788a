//! What commands see, write and are given.

use std::fs;
use std::os::unix::fs::symlink;

use moss_sandbox::{FileView, NetworkMode, ProcessExit, Profile, SandboxedCommand, Tier};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::harness::{FULL, Place, WAYS, Way, run, write};

#[tokio::test]
async fn profiles_differ_in_what_they_write() {
    for way in WAYS {
        let place = Place::new();
        let script = "echo x > file && echo workspace; echo x > $TMPDIR/x && echo temporary";
        let mut command = place.shell(script);
        assert_eq!(run(way, command.clone()).await.stdout, "workspace\ntemporary\n", "{way}");
        fs::remove_file(place.root.join("file")).unwrap();
        command.profile = Profile::ReadOnly;
        let ran = run(way, command.clone()).await;
        assert_eq!(ran.stdout, "temporary\n", "{way}: {}", ran.stderr);
        command.profile = Profile::DangerFull;
        let outside = place.root.parent().unwrap().join("outside");
        command.arguments =
            SandboxedCommand::shell("/", format!("echo x > {}", outside.display())).arguments;
        assert_eq!(run(way, command).await.end.exit, ProcessExit::Exited(0), "{way}");
        assert!(outside.exists(), "{way}");
    }
}

#[tokio::test]
async fn of_the_machine_processors_are_seen_and_no_devices() {
    assert!(fs::exists("/sys/class/net/lo").unwrap(), "there is nothing to hide");
    for way in FULL {
        let place = Place::new();
        let script = "cat /sys/devices/system/cpu/online && test -d /sys/fs/cgroup && echo cgroup
                      ls -d /sys/class/net/* /sys/devices/virtual/net/* /sys/devices/pci*";
        let ran = run(way, place.shell(script)).await;
        let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
        assert_eq!(ran.stdout, format!("{online}cgroup\n"), "{way}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn on_the_landlock_tier_danger_full_says_what_it_reaches() {
    let place = Place::new();
    let mut command = place.shell("cat .env");
    command.profile = Profile::DangerFull;
    command.files.masked = vec![place.write(".env", "secret\n")];
    for way in WAYS {
        let ran = run(way, command.clone()).await;
        let is_full = way.tier() == Tier::Full;
        assert_eq!(ran.stdout.is_empty(), is_full, "{way}: {ran:?}");
        assert_eq!(ran.end.facts.unmasked.is_empty(), is_full, "{way}: {ran:?}");
        let network = if is_full { NetworkMode::Off } else { NetworkMode::On };
        assert_eq!(ran.end.facts.network, network, "{way}");
    }
}

#[tokio::test]
async fn a_temporary_directory_is_fresh_and_gone_afterwards() {
    for way in WAYS {
        let place = Place::new();
        let script = "ls -A $TMPDIR; echo x > $TMPDIR/left; readlink -f $TMPDIR";
        let first = run(way, place.shell(script)).await;
        let second = run(way, place.shell(script)).await;
        assert!(!second.stdout.contains("left"), "{way}: {second:?}");
        let path = first.stdout.lines().last().unwrap();
        assert!(!std::path::Path::new(path).join("left").exists(), "{way}: {path}");
    }
}

#[tokio::test]
async fn a_temporary_directory_of_any_depth_and_permissions_is_gone_afterwards() {
    // As few descriptors as most machines allow.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(1_024), ..limit }).unwrap();
    let place = Place::new();
    let script = "test -x /usr/bin/perl && echo $TMPDIR && /usr/bin/perl -e 'chdir $ENV{TMPDIR};                   for (1..3000) { mkdir \"d\"; chdir \"d\" }' && chmod 000 $TMPDIR/d $TMPDIR";
    let ran = run(Way::Landlock, place.shell(script)).await;
    assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{ran:?}");
    let path = std::path::Path::new(ran.stdout.trim());
    assert!(path.is_absolute() && path.symlink_metadata().is_err(), "{ran:?}");
}

#[tokio::test]
async fn the_environment_is_what_was_allowed_and_the_rest_is_named() {
    for way in WAYS {
        let place = Place::new();
        let mut command = place.shell("env; tr '\\0' '\\n' < /proc/$PPID/environ");
        command.environment.from = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("API_TOKEN".into(), "hidden-value".into()),
            ("LD_PRELOAD".into(), "/none.so".into()),
            ("DEPLOY_KEY".into(), "given-value".into()),
        ];
        command.environment.granted = vec!["DEPLOY_KEY".to_owned()];
        let ran = run(way, command).await;
        assert!(ran.stdout.contains("DEPLOY_KEY=given-value"), "{way}: {ran:?}");
        assert!(!ran.stdout.contains("hidden-value"), "{way}: {ran:?}");
        assert_eq!(ran.end.facts.environment_removed, ["API_TOKEN", "LD_PRELOAD"], "{way}");
        assert!(ran.stdout.contains("GIT_TERMINAL_PROMPT=0\n"), "{way}: {ran:?}");
    }
}

#[tokio::test]
async fn what_is_named_is_seen_and_what_is_not_is_not_there() {
    let place = Place::new();
    let outside = place.root.parent().unwrap().join("outside");
    for name in ["read", "cache", "other"] {
        write(&outside.join(name).join("file"), name);
    }
    let mut command = place.shell(
        "cd ../outside; cat read/file cache/file other/file; echo x > cache/new; echo x > read/new",
    );
    command.files.readable.push(outside.join("read"));
    command.files.writable.push(outside.join("cache"));
    for way in WAYS {
        let ran = run(way, command.clone()).await;
        assert!(ran.stdout.contains("cache") && ran.stdout.contains("read"), "{way}: {ran:?}");
        assert!(!ran.stdout.contains("other"), "{way}: {ran:?}");
        assert!(outside.join("cache/new").exists() && !outside.join("read/new").exists());
        fs::remove_file(outside.join("cache/new")).unwrap();
    }
}

#[tokio::test]
async fn a_network_is_there_only_if_it_is_on() {
    let place = Place::new();
    let mut command = place.shell("cat /proc/net/dev | wc -l");
    let here = fs::read_to_string("/proc/net/dev").unwrap().lines().count().to_string();
    for way in FULL {
        command.network = NetworkMode::Off;
        let off = run(way, command.clone()).await.stdout;
        command.network = NetworkMode::On;
        let on = run(way, command.clone()).await.stdout;
        assert_eq!((off.trim(), on.trim()), ("3", here.as_str()), "{way}");
    }
}

#[tokio::test]
async fn a_crate_is_built_offline() {
    let place = Place::new();
    place.write(
        "Cargo.toml",
        "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    place.write("src/main.rs", "fn main() { println!(\"built\"); }\n");
    let mut command = place.shell("cargo build --offline --quiet && ./target/debug/tiny");
    let home = std::env::home_dir().unwrap();
    command.files.writable = FileView::caches(Some(&home), &[]);
    for way in WAYS {
        let ran = run(way, command.clone()).await;
        assert_eq!(ran.stdout, "built\n", "{way}: {}", ran.stderr);
        fs::remove_dir_all(place.root.join("target")).unwrap();
    }
}

#[tokio::test]
async fn directories_of_programs_show_neither_secrets_nor_projects() {
    let place = Place::new();
    let beside = place.root.parent().unwrap();
    for (path, text) in [
        ("tool/bin/x", "x\n"),
        ("tool/lib/plain", "plain\n"),
        ("tool/credentials.toml", "secret\n"),
        ("cargo/credentials.toml", "secret\n"),
        ("cargo/.ssh/id", "secret\n"),
        ("project/bin/x", "x\n"),
        ("project/package.json", "{}\n"),
        ("project/main.c", "secret\n"),
    ] {
        write(&beside.join(path), text);
    }
    let at = beside.display();
    let mut command = place.shell(&format!(
        "cd {at}; cat tool/lib/plain tool/credentials.toml cargo/credentials.toml cargo/.ssh/id project/main.c"
    ));
    command.environment.from = vec![
        ("PATH".into(), format!("/usr/bin:/bin:{at}/tool/bin:{at}/project/bin").into()),
        ("CARGO_HOME".into(), format!("{at}/cargo").into()),
    ];
    for way in FULL {
        let ran = run(way, command.clone()).await;
        assert_eq!(ran.stdout, "plain\n", "{way}: {ran:?}");
    }
}

#[tokio::test]
async fn toolchains_of_the_home_directory_show_no_secrets_wherever_links_lead() {
    let place = Place::new();
    let data = place.root.with_file_name("data");
    let secrets = [
        ".cargo/credentials.toml",
        ".dotnet/corefx/cryptography/x509stores/my/a.pfx",
        ".gradle/develocity/keys.properties",
        ".julia/servers/pkg.example.org/auth.toml",
        ".local/share/uv/credentials/credentials.toml",
        ".m2/.develocity/keys.properties",
        ".opam/plugins/opam-publish/user.token",
        ".pub-cache/credentials.json",
        ".sbt/credentials",
        ".stack/upload/credentials.json",
    ];
    for path in secrets {
        write(&data.join(path), "secret\n");
    }
    for path in [".cargo/config.toml", ".julia/plain", ".local/share/uv/tools/plain"] {
        write(&data.join(path), "plain\n");
    }
    // The home directory itself, or what lies in it.
    let (linked, linking) =
        (place.root.with_file_name("linked"), place.root.with_file_name("home"));
    symlink(&data, &linked).unwrap();
    fs::create_dir(&linking).unwrap();
    for entry in fs::read_dir(&data).unwrap() {
        let entry = entry.unwrap();
        symlink(entry.path(), linking.join(entry.file_name())).unwrap();
    }
    for home in [&data, &linked, &linking] {
        let script = format!(
            "cd $HOME; cat {}; cat .cargo/config.toml .julia/plain .local/share/uv/tools/plain",
            secrets.join(" ")
        );
        let mut command = place.shell(&script);
        command.environment.from =
            vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.into())];
        for way in WAYS {
            let ran = run(way, command.clone()).await;
            assert_eq!(ran.stdout, "plain\n".repeat(3), "{way}, {}: {ran:?}", home.display());
        }
    }
}

/// Of what keeps a command in on the full tier, Landlock alone knows these sockets where the network is on.
#[tokio::test]
async fn with_a_network_nobody_reaches_the_abstract_sockets_of_the_machine() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};

    let name = format!("moss-sandbox-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let place = Place::new();
    let script = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{name}\"); print(\"reached\")'"
    );
    let reached = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(reached.stdout, b"reached\n", "{reached:?}");
    let mut command = place.shell(&script);
    command.network = NetworkMode::On;
    for way in WAYS {
        let ran = run(way, command.clone()).await;
        assert_eq!(ran.stdout, "", "{way}: {ran:?}");
        assert!(ran.stderr.contains("PermissionError"), "{way}: {ran:?}");
    }
}
