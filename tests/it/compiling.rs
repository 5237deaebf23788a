//! Plugins are compiled in a process of their own, within limits; what it made is kept and only
//! used as it was made.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use moss_proto::v1;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::harness::guests::{install, install_compiled, zoo, zoo_long_to_compile};
use crate::harness::{BOUND, Daemon, Ended, Site};
use crate::plugins::settled;

/// A machine with one plugin whose tool is `act`.
fn with_plugin() -> Site {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("polite"), json!({}))]);
    site
}

/// The files with kept code.
fn kept(site: &Site) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(site.state().join("code"));
    entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
}

async fn serves(daemon: &Daemon) {
    let client = daemon.caller().await;
    let plugins = settled(&client).await;
    assert_eq!((plugins[0].state(), plugins[0].error.as_str()), (v1::PluginState::Ready, ""));
    client.done("act", json!({})).await;
}

#[tokio::test]
async fn code_is_kept_and_used_again_unless_somebody_changed_it() {
    let site = with_plugin();
    let daemon = site.serve();
    serves(&daemon).await;
    daemon.stop();
    let [file] = &kept(&site)[..] else { panic!("one component, one file") };
    let whole = std::fs::read(file).unwrap();

    // With no time to compile, only what was kept can serve.
    site.config("[plugins]\ncompile_timeout_ms = 1");
    let daemon = site.serve();
    serves(&daemon).await;
    daemon.stop();
    assert_eq!(std::fs::read(file).unwrap(), whole);

    let mut changed = whole.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    std::fs::write(file, &changed).unwrap();
    let daemon = site.serve();
    let plugins = settled(&daemon.caller().await).await;
    let error = "compiling the component takes longer than 1ms; to allow more, raise \
                 compile_timeout_ms in [plugins] of config.toml";
    assert!(plugins[0].error.contains(error), "{}", plugins[0].error);
    assert!(daemon.log().contains("was changed; it is compiled again"), "{}", daemon.log());
    daemon.stop();

    site.config("");
    let daemon = site.serve();
    serves(&daemon).await;
    daemon.stop();
    assert_ne!(std::fs::read(file).unwrap(), changed);
    assert_eq!(kept(&site).len(), 1);
}

#[tokio::test]
async fn code_that_tests_share_is_used_as_if_it_was_kept() {
    let site = Site::new();
    install_compiled(&site, &[("zoo", &zoo("polite"), json!({}))]);
    site.config("[plugins]\ncompile_timeout_ms = 1");
    let daemon = site.serve();
    serves(&daemon).await;
    daemon.stop();
}

#[tokio::test]
async fn a_component_that_is_not_the_pinned_one_is_not_compiled() {
    let site = Site::new();
    let pin = "0".repeat(64);
    install(&site, &[("zoo", &zoo("polite"), json!({ "sha256": &pin }))]);
    let daemon = site.serve();
    let plugins = settled(&daemon.caller().await).await;
    assert!(plugins[0].error.contains("does not match the pin"), "{plugins:?}");
    let file = site.outside("config/moss/zoo.wasm").display().to_string();
    let other = site.run(&["plugin", "add", &file, "--replace", "--sha256", &pin, "--yes"]);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("is asked for"), "{other:?}");
    assert!(kept(&site).is_empty(), "{:?}", kept(&site));
}

#[tokio::test]
async fn a_compiler_that_needs_too_much_memory_is_ended_and_named() {
    let site = with_plugin();
    site.config("[plugins]\ncompile_memory_bytes = 10_000_000");
    let daemon = site.serve();
    let plugins = settled(&daemon.caller().await).await;
    let error = "compiling the component needs more memory than 10000000B; to allow more, raise \
                 compile_memory_bytes in [plugins] of config.toml";
    assert!(plugins[0].error.contains(error), "{}", plugins[0].error);
    assert_eq!(kept(&site), [""; 0].map(PathBuf::from));
    daemon.stop();
}

#[tokio::test]
async fn a_plugin_that_is_paused_is_shown_with_the_reason() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("trap"), json!({}))]);
    let daemon = site.serve();
    let client = daemon.caller().await;
    settled(&client).await;
    for expected in ["unreachable", "unreachable", "unreachable", "paused for another"] {
        let refused = format!("{:?}", client.ran("act", json!({})).await);
        assert!(refused.contains(expected), "{refused}");
    }
    let plugins = settled(&client).await;
    assert_eq!(plugins[0].state(), v1::PluginState::Ready);
    let notice = &plugins[0].notice;
    assert!(notice.starts_with("paused for another") && notice.contains("unreachable"), "{notice}");
    let listed = site.run(&["plugin", "list"]);
    assert!(listed.stderr.contains("it keeps failing: zoo: paused"), "{}", listed.stderr);
    daemon.stop();
}

#[tokio::test]
async fn a_broken_component_is_reported_by_the_compiler() {
    let site = Site::new();
    let mut bytes = zoo("polite");
    bytes.truncate(bytes.len() / 2);
    install(&site, &[("zoo", &bytes, json!({}))]);
    let daemon = site.serve();
    let plugins = settled(&daemon.caller().await).await;
    assert!(plugins[0].error.contains("the component is not valid: "), "{}", plugins[0].error);
    daemon.stop();
}

#[tokio::test]
async fn where_address_space_is_short_plugins_run_without_a_pool() {
    let site = with_plugin();
    let serve = site.serve_command();
    // Much less than a pool reserves, and enough for some memories.
    let mut short = std::process::Command::new("sh");
    short.arg("-c").arg("ulimit -v 67108864 && exec \"$0\" \"$@\"");
    short.arg(serve.get_program()).args(serve.get_args());
    let environment = serve.get_envs().filter_map(|(name, value)| Some((name, value?)));
    short.env_clear().envs(environment).current_dir(site.workspace());
    let daemon = Daemon::start(short, &site.socket(), &site.state());
    serves(&daemon).await;
    daemon.stop();
}

#[test]
fn a_command_without_a_daemon_uses_what_a_daemon_kept() {
    let site = with_plugin();
    let first = site.run(&["call", "act"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert_eq!(kept(&site).len(), 1);
    site.config("[plugins]\ncompile_timeout_ms = 1");
    let second = site.run(&["call", "act"]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
}

/// What a command says where nobody looks, when it compiles the plugin `zoo`.
const TOLD: &str = "compiling zoo (";
const ONCE: &str = "); this is done once, its code is cached\n";

/// A component in a file outside of the workspace.
fn component(site: &Site, bytes: &[u8]) -> String {
    let file = site.outside("zoo.wasm");
    std::fs::write(&file, bytes).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn what_is_compiled_is_reported_once_and_never_where_the_code_is_kept() {
    let file = |site: &Site| component(site, &zoo("polite"));
    let listed = |site: &Site| {
        install(site, &[("zoo", &zoo("polite"), json!({}))]);
    };
    type Command<'a> = Box<dyn Fn(&Site) -> Ended + 'a>;
    let commands: [Command<'_>; 5] = [
        Box::new(|site| site.run(&["plugin", "check", &file(site)])),
        Box::new(|site| site.run(&["plugin", "test", &file(site)])),
        Box::new(|site| site.run(&["plugin", "add", "--dry-run", &file(site)])),
        Box::new(|site| {
            listed(site);
            site.run(&["call", "act"])
        }),
        Box::new(|site| {
            listed(site);
            site.run(&["plugin", "list"])
        }),
    ];
    for (index, run) in commands.iter().enumerate() {
        let site = Site::new();
        let cold = run(&site);
        assert_eq!(cold.stderr.matches(TOLD).count(), 1, "{index}: {cold:?}");
        assert!(cold.stderr.contains(ONCE) && !cold.stdout.contains(TOLD), "{index}: {cold:?}");
        let warm = run(&site);
        assert!(!warm.stderr.contains(TOLD), "{index}: {warm:?}");
        assert_eq!((cold.code, cold.stdout), (warm.code, warm.stdout), "{index}");
    }
}

#[test]
fn beside_json_nothing_is_reported_of_compiling() {
    let site = Site::new();
    let checked = site.run(&["plugin", "check", "--json", &component(&site, &zoo("polite"))]);
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""));
    let shown: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!(shown["name"], "zoo", "{shown}");
}

#[test]
fn a_daemon_that_compiles_what_is_added_reports_to_who_adds_it() {
    let site = Site::new();
    let daemon = site.serve();
    let file = component(&site, &zoo("polite"));
    let cold = site.run(&["plugin", "add", "--dry-run", &file]);
    assert_eq!(cold.code, Some(0), "{}", cold.stderr);
    assert_eq!(cold.stderr.matches(TOLD).count(), 1, "{}", cold.stderr);
    let added = site.run(&["plugin", "add", "--yes", &file]);
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    assert!(!added.stderr.contains(TOLD), "{}", added.stderr);
    assert!(daemon.log().contains("a plugin is compiled"), "{}", daemon.log());
    daemon.stop();
}

/// Stops the clock for the process that compiles for another one, as soon as there is one: nothing
/// but its end gets it out of there.
#[cfg(target_os = "linux")]
fn hold_compiler_of(pid: u32) -> Pid {
    let end = Instant::now() + BOUND;
    while Instant::now() < end {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let children = threads.map(|thread| {
            let file = thread.unwrap().path().join("children");
            std::fs::read_to_string(file).unwrap_or_default()
        });
        let children = children.collect::<String>();
        let compiles = |child: &&str| {
            let said = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            // Who starts a program waits for it to be that program.
            String::from_utf8_lossy(&said).contains("compile-plugin")
        };
        if let Some(child) = children.split_whitespace().find(compiles) {
            let child = Pid::from_raw(child.parse().unwrap()).unwrap();
            kill_process(child, Signal::STOP).unwrap();
            return child;
        }
    }
    panic!("nothing is compiled");
}

/// Whether a process ends that was held: nothing but being killed ends it, and that takes the kernel a
/// moment. Nobody may have waited for it yet.
#[cfg(target_os = "linux")]
fn ends(process: Pid) -> bool {
    let stat = format!("/proc/{}/stat", process.as_raw_nonzero());
    let end = Instant::now() + BOUND;
    while Instant::now() < end {
        let status = std::fs::read_to_string(&stat);
        if status.map_or(true, |status| status.contains(") Z ")) {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[cfg(target_os = "linux")]
#[test]
fn who_breaks_off_while_something_is_compiled_leaves_nothing_behind() {
    let site = Site::new();
    let file = component(&site, &zoo_long_to_compile());
    for arguments in [["plugin", "check", &file], ["plugin", "add", &file]] {
        let mut command = site.command(arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        assert!(first.starts_with(TOLD), "{first}");
        let compiler = hold_compiler_of(child.id());
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let said: Vec<_> = lines.map(Result::unwrap).collect();
        assert_eq!(said, ["error: cancelled"]);
        assert!(ends(compiler), "the compiler {compiler:?} continues");
        assert_eq!(kept(&site), [""; 0].map(PathBuf::from));
        let scratch = std::fs::read_dir(site.outside("zoo.wasm").parent().unwrap()).unwrap();
        let names = scratch.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<_> = names.filter(|name| name.starts_with("moss-")).collect();
        assert_eq!(left, [""; 0], "{left:?}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn while_a_plugin_is_compiled_everybody_is_notified() {
    let site = Site::new();
    install(&site, &[("zoo", &zoo_long_to_compile(), json!({}))]);
    let daemon = site.serve();
    let compiler = hold_compiler_of(daemon.pid());
    let listed = site.run(&["plugin", "list"]);
    assert!(listed.stdout.contains(" compiling 1.7 MiB, "), "{}", listed.stdout);
    let explained = site.run(&["policy", "explain", "act"]);
    let told = "there is no tool `act` yet: the plugin `zoo` (1.7 MiB) is being compiled, for ";
    assert!(explained.stderr.contains(told), "{}", explained.stderr);
    daemon.stop();
    assert!(ends(compiler), "the compiler {compiler:?} continues");
    assert_eq!(kept(&site), [""; 0].map(PathBuf::from));
}

#[test]
fn the_compiler_is_no_command_for_people() {
    let site = Site::new();
    let help = site.run(&["--help"]);
    assert!(!help.stdout.contains("compile-plugin"), "{}", help.stdout);
    let broken = site.run(&["compile-plugin", "2147483648", "60"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(65), ""));
    assert_eq!(broken.stderr, "the input is cut short");
}
