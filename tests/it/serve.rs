//! `moss serve`: its options, its sockets, and other processes beside it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use moss_proto::v1;
use rustix::process::Signal;
use serde_json::json;

use crate::harness::guests::zoo;
use crate::harness::{Client, Daemon, Site, call, failure, reason, until, within};

async fn lists(client: &Client) {
    client.done("list_directory", json!({"path": "."})).await;
}

#[tokio::test]
async fn the_default_socket_is_where_commands_look() {
    let site = Site::new();
    for runtime in [Some(site.outside("run")), None] {
        let mut command = site.command(["serve"]);
        let mut status = site.command(["status", "--json"]);
        if runtime.is_none() {
            command.env_remove("XDG_RUNTIME_DIR");
            status.env_remove("XDG_RUNTIME_DIR");
        }
        let socket = match runtime {
            Some(directory) => directory.join("moss/moss.sock"),
            None => site.state().join("run/moss.sock"),
        };
        let daemon = Daemon::start(command, &socket, &site.state());
        lists(&daemon.caller().await).await;
        let status = status.stdout(Stdio::piped()).output().unwrap();
        assert_eq!(status.status.code(), Some(0));
        daemon.stop();
    }
}

/// Clients of MCP start `moss mcp` with HOME and a few other variables.
#[tokio::test]
async fn commands_without_the_runtime_directory_find_the_daemon() {
    let site = Site::new();
    let link = site.state().join("run/moss.sock");
    let bare = |arguments: &[&str]| {
        let mut command = site.command(arguments);
        command.env_remove("XDG_RUNTIME_DIR").stdout(Stdio::piped()).output().unwrap()
    };
    for left in [None, Some("/nowhere/moss.sock")] {
        if let Some(left) = left {
            // What a daemon leaves that was killed.
            std::os::unix::fs::symlink(left, &link).unwrap();
            assert_ne!(bare(&["status", "--json"]).status.code(), Some(0));
        }
        let socket = site.outside("run/moss/moss.sock");
        let daemon = Daemon::start(site.command(["serve"]), &socket, &site.state());
        lists(&daemon.caller().await).await;
        assert_eq!(std::fs::read_link(&link).unwrap(), socket);
        assert_eq!(bare(&["status", "--json"]).status.code(), Some(0));
        // It is the same daemon: a second one is not started beside it.
        let second = bare(&["serve"]);
        assert_ne!(second.status.code(), Some(0), "{second:?}");
        daemon.stop();
        assert!(link.symlink_metadata().is_err());
    }
    // A daemon without the directory takes the place of a link that leads nowhere.
    std::os::unix::fs::symlink("/nowhere/moss.sock", &link).unwrap();
    let mut command = site.command(["serve"]);
    command.env_remove("XDG_RUNTIME_DIR");
    let daemon = Daemon::start(command, &link, &site.state());
    lists(&daemon.caller().await).await;
    daemon.stop();
}

#[tokio::test]
async fn several_sockets_are_served() {
    let mut site = Site::new();
    let second = site.outside("second/moss.sock");
    let listen = format!("unix:{}", second.display());
    site.argument("--listen").argument(&listen);
    let daemon = site.serve();
    lists(&daemon.caller().await).await;
    let token = daemon.token("caller");
    lists(&Client::connect(&second, Some(&token)).await).await;
    daemon.stop();
    assert!(!second.exists());
}

#[tokio::test]
async fn a_socket_may_be_named_from_the_current_directory() {
    let site = Site::new();
    let directory = site.outside("run");
    let mut command = site.command(["serve", "--listen", "unix:here.sock", "--workspace"]);
    command.arg(site.workspace()).current_dir(&directory);
    let socket = directory.join("here.sock");
    let daemon = Daemon::start(command, &socket, &site.state());
    lists(&daemon.caller().await).await;
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    daemon.stop();
}

#[test]
fn what_cannot_be_served_is_said() {
    let site = Site::new();
    let long = format!("unix:{}/{}/moss.sock", site.outside("").display(), "x".repeat(120));
    let missing = site.outside("missing").display().to_string();
    let home = site.outside("home").display().to_string();
    let file = site.write("a.txt", "x").display().to_string();
    for (arguments, code, word) in [
        (["--listen", "tcp:localhost"], 2, "tcp:HOST:PORT"),
        (["--listen", "/tmp/x.sock"], 2, "unix:PATH"),
        (["--listen", &long], 1, "cannot listen on"),
        (["--workspace", &missing], 2, &missing),
        (["--workspace", &file], 2, "not a directory"),
        (["--workspace", "/"], 1, "root of the file system"),
        (["--workspace", "/proc"], 1, "kernel"),
        (["--workspace", &home], 1, "home directory"),
        (["--config", &missing], 2, "no such file"),
        (["--admin-policy", &missing], 2, "no such file"),
    ] {
        let ended = site.run(&[["serve"].as_slice(), &arguments].concat());
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains(word), "{arguments:?}: `{word}` is not in {ended:?}");
    }
}

#[tokio::test]
async fn another_configuration_and_another_plugin_list_are_taken() {
    let mut site = Site::new();
    site.config("[calls]\noutput_bytes_max = 10\n");
    let config = site.outside("other.toml");
    std::fs::write(&config, "[calls]\noutput_bytes_max = 100000\n").unwrap();
    let list = site.outside("lists/moss-tools.json");
    std::fs::create_dir(site.outside("lists")).unwrap();
    std::fs::write(site.outside("lists/zoo.wasm"), zoo("polite")).unwrap();
    let entry = json!({ "name": "zoo", "source": "zoo.wasm" });
    std::fs::write(&list, json!({ "version": 1, "plugins": [entry] }).to_string()).unwrap();
    let broken = site.outside("lists/broken.json");
    std::fs::write(&broken, "{").unwrap();
    let broken = broken.display().to_string();
    let (config, list) = (config.display().to_string(), list.display().to_string());
    site.argument("--config").argument(&config);
    site.argument("--plugins").argument(&list).argument("--plugins").argument(&broken);
    let daemon = site.serve();
    let client = daemon.caller().await;
    lists(&client).await;
    until("the plugins are settled", async || {
        let workspace = client.load().await.workspaces.remove(0);
        (workspace.plugins_ready, workspace.plugins_failed) == (1, 1)
    })
    .await;
    client.done("act", json!({})).await;
    let listed = client.plugins().list_plugins(v1::ListPluginsRequest::default()).await.unwrap();
    let failed = listed.into_inner().plugins.into_iter().find(|p| !p.error.is_empty()).unwrap();
    assert!(failed.error.contains(&broken), "{}", failed.error);
}

#[tokio::test]
async fn commands_beside_a_daemon_share_its_history() {
    let site = Site::allowing();
    // Not where commands look: they run the daemon's code in their own processes.
    let socket = site.outside("elsewhere/moss.sock");
    let listen = format!("unix:{}", socket.display());
    let mut command = site.command(["serve", "--listen", &listen, "--workspace"]);
    command.arg(site.workspace());
    let daemon = Daemon::start(command, &socket, &site.state());
    let client = daemon.caller().await;
    let mut beside = Vec::new();
    for n in 0..6 {
        let arguments = json!({"path": format!("beside-{n}.txt"), "content": "x\n"}).to_string();
        let mut command = site.command(["call", "create_file", "--args", &arguments]);
        beside.push(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let own = json!({"path": format!("own-{n}.txt"), "content": "x\n"});
        client.done("create_file", own).await;
    }
    for child in beside {
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let mut numbers = client.numbers().await;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
    assert_eq!(site.snapshot().len(), 12);
    drop(client);
    daemon.stop();
    assert_eq!(site.run(&["audit", "verify"]).code, Some(0));
}

#[tokio::test]
async fn a_workspace_that_is_moved_away_is_not_written_elsewhere() {
    let site = Site::allowing();
    site.write("a.txt", "x\n");
    let daemon = site.serve();
    let client = daemon.caller().await;
    std::fs::rename(site.workspace(), site.outside("moved")).unwrap();
    std::fs::create_dir(site.workspace()).unwrap();
    let edit = call("create_file", json!({"path": "b.txt", "content": "x\n"}));
    match client.call(edit).await {
        Ok(result) => assert!(failure(&result).message.contains("moved"), "{result:?}"),
        Err(status) => panic!("{} {status:?}", reason(&status)),
    }
    assert!(!site.has("b.txt") && !site.outside("moved/b.txt").exists());
    assert_eq!(std::fs::read_to_string(site.outside("moved/a.txt")).unwrap(), "x\n");

    // Nor read: commands would see another tree at its path than the tools have open.
    for (tool, arguments) in
        [("read_file", json!({"path": "a.txt"})), ("list_directory", json!({"path": "."}))]
    {
        let result = client.call(call(tool, arguments)).await.unwrap();
        let error = failure(&result);
        assert!(error.message.contains("replaced while it is in use"), "{tool}: {error:?}");
        assert!(error.hint.contains("restart the daemon"), "{tool}: {error:?}");
    }
    std::fs::remove_dir(site.workspace()).unwrap();
    std::fs::rename(site.outside("moved"), site.workspace()).unwrap();
    client.done("read_file", json!({"path": "a.txt"})).await;
}

#[tokio::test]
async fn commands_end_where_the_daemon_does_not_respond() {
    const COMMANDS: [(&[&str], i32); 4] = [
        (&["doctor"], 1),
        (&["confirm", "list"], 5),
        (&["jobs", "list"], 5),
        (&["plugin", "list"], 5),
    ];
    let site = Site::new();
    let daemon = site.serve();
    daemon.signal(Signal::STOP);
    let ends = |arguments: &[&str], code: i32| {
        let ended = site.run(arguments);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
        let text = format!("{}{}", ended.stdout, ended.stderr);
        assert!(text.contains("did not respond within"), "{arguments:?}: {ended:?}");
    };
    // Each waits until its time is over.
    std::thread::scope(|scope| {
        for (arguments, code) in COMMANDS {
            scope.spawn(move || ends(arguments, code));
        }
    });
    daemon.signal(Signal::CONT);
    daemon.stop();
}

#[tokio::test]
async fn a_supervisor_is_notified_when_the_daemon_serves_and_when_it_stops() {
    let site = Site::new();
    let path = site.outside("notify.sock");
    let socket = tokio::net::UnixDatagram::bind(&path).unwrap();
    let mut command = site.serve_command();
    command.env("NOTIFY_SOCKET", &path);
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    let heard = async || {
        let mut message = [0; 64];
        let length = within("a message", socket.recv(&mut message)).await.unwrap();
        String::from_utf8(message[..length].to_vec()).unwrap()
    };
    assert_eq!(heard().await.trim_end(), "READY=1");
    daemon.terminate();
    assert_eq!(heard().await.trim_end(), "STOPPING=1");
    assert!(daemon.wait().success());
}

#[test]
fn a_plugin_list_that_was_named_must_be_there() {
    let mut site = Site::new();
    let missing = site.outside("nope.json").display().to_string();
    site.argument("--plugins").argument(&missing);
    let ended = site.serve_refused();
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains(&missing), "{}", ended.stderr);
    assert!(!ended.stderr.contains("Recovered {"), "{}", ended.stderr);
}
