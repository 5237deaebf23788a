//! Sockets that a supervisor binds and passes on, as systemd does for a `.socket` unit.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::{Client, Daemon, Ended, Site, binary};

const TOKEN: &str = "c0ffee1234567890c0ffee1234567890";

/// Prepares a daemon that a supervisor passes a socket to: its descriptor 3.
fn activated(site: &Site, socket: impl Into<OwnedFd>, environment: &str) -> Command {
    // The shell moves what it was given as its input to where the daemon looks, and is replaced by
    // the daemon, which keeps its number.
    let script = format!("exec 3<&0 </dev/null; {environment} exec \"$0\" \"$@\"");
    let moss = site.command(std::iter::empty::<&str>());
    let mut command = Command::new("sh");
    command.env_clear().envs(moss.get_envs().filter_map(|(key, value)| Some((key, value?))));
    command.current_dir(site.workspace()).args(["-c", &script]).arg(binary());
    command.args(["serve", "--workspace"]).arg(site.workspace());
    command.stdin(Stdio::from(socket.into()));
    command
}

const PASSED: &str = "LISTEN_PID=$$ LISTEN_FDS=1";

fn site() -> (Site, String) {
    let site = Site::new();
    site.write("a.txt", "x\n");
    let token = site.outside("token");
    std::fs::write(&token, TOKEN).unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    (site, token.display().to_string())
}

async fn reads(client: Client) {
    client.done("read_file", json!({"path": "a.txt"})).await;
}

#[tokio::test]
async fn a_unix_socket_that_was_passed_is_served_and_stays() {
    let (site, _) = site();
    let socket = site.outside("passed.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let command = activated(&site, listener.try_clone().unwrap(), PASSED);
    // Who connects before the daemon is there is served as well.
    let early = tokio::net::UnixStream::connect(&socket).await.unwrap();
    let daemon = Daemon::start(command, &socket, &site.state());
    reads(daemon.caller().await).await;
    assert!(daemon.log().contains(&format!("unix:{}", socket.display())), "{}", daemon.log());
    assert!(!site.socket().exists(), "the default socket is not needed");
    drop(early);
    // It would be started again, so its supervisor is to stop it.
    let stopped = site.run(&["stop", "--server", &format!("unix:{}", socket.display())]);
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    assert!(stopped.stderr.contains("systemctl --user stop"), "{stopped:?}");
    reads(daemon.caller().await).await;
    daemon.terminate();
    assert!(daemon.wait().success());
    assert!(socket.exists(), "it belongs to the supervisor");
    // The next one takes over.
    let daemon = Daemon::start(activated(&site, listener, PASSED), &socket, &site.state());
    reads(daemon.caller().await).await;
}

#[tokio::test]
async fn a_port_that_was_passed_obeys_the_rules_of_ports() {
    let (site, token) = site();
    let bound = |address: Ipv4Addr| TcpListener::bind((address, 0)).unwrap();
    let refused = |listener: TcpListener, arguments: &[&str]| {
        let mut command = activated(&site, listener, PASSED);
        Ended::of(command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()))
    };
    let ended = refused(bound(Ipv4Addr::LOCALHOST), &[]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--token-file"), "{}", ended.stderr);
    let ended = refused(bound(Ipv4Addr::UNSPECIFIED), &["--token-file", &token]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--tls-cert"), "{}", ended.stderr);

    let listener = bound(Ipv4Addr::LOCALHOST);
    let port = listener.local_addr().unwrap().port();
    let mut command = activated(&site, listener, PASSED);
    command.args(["--token-file", &token]);
    let daemon = Daemon::start(command, &site.socket(), &site.state());
    assert_eq!(daemon.port(), port);
    reads(daemon.dial(Some(TOKEN)).await).await;
    daemon
        .dial(None)
        .await
        .tools()
        .list_tools(moss_proto::v1::ListToolsRequest::default())
        .await
        .unwrap_err();
    // Commands and answers still come over a Unix socket.
    reads(daemon.caller().await).await;
    daemon.stop();
}

#[tokio::test]
async fn what_was_passed_to_another_process_is_left_alone() {
    let (site, _) = site();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for environment in ["LISTEN_PID=1 LISTEN_FDS=1", "LISTEN_FDS=1", ""] {
        let command = activated(&site, listener.try_clone().unwrap(), environment);
        let daemon = Daemon::start(command, &site.socket(), &site.state());
        assert!(!daemon.log().contains("tcp:"), "{environment}: {}", daemon.log());
        daemon.stop();
    }
}

#[tokio::test]
async fn what_cannot_be_served_of_what_was_passed_is_named() {
    let (site, token) = site();
    let file = std::fs::File::open(site.write("b.txt", "x")).unwrap();
    let datagrams = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    use rustix::net::{AddressFamily, SocketType};
    let silent = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let listener = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for (socket, environment, word) in [
        (OwnedFd::from(file), PASSED, "number 1 is no Unix or TCP socket"),
        (datagrams.into(), PASSED, "number 1 is no Unix or TCP socket"),
        (silent, PASSED, "number 1 does not listen"),
        (listener().into(), "LISTEN_PID=$$ LISTEN_FDS=2", "number 2 is no Unix or TCP socket"),
        (listener().into(), "LISTEN_PID=$$ LISTEN_FDS=1000000000", "not a number up to"),
        (listener().into(), "LISTEN_PID=$$ LISTEN_FDS=many", "not a number up to"),
    ] {
        let mut command = activated(&site, socket, environment);
        command.args(["--token-file", &token]);
        let ended = Ended::of(command.stdout(Stdio::null()).stderr(Stdio::piped()));
        assert_eq!(ended.code, Some(1), "{word}: {ended:?}");
        assert!(ended.stderr.contains(word), "`{word}` is not in {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_daemon_does_not_take_the_socket_of_a_supervisor_away() {
    let site = Site::new();
    let socket = site.outside("run/passed.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let listen = format!("unix:{}", socket.display());
    let ended = site.run(&["serve", "--listen", &listen]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("another daemon listens on"), "{}", ended.stderr);
    assert!(socket.exists());
    // What nobody listens on any more is taken over.
    drop(listener);
    let mut command = site.command(["serve", "--listen", &listen, "--workspace"]);
    command.arg(site.workspace());
    Daemon::start(command, &socket, &site.state()).stop();
}
