//! Plugins are compiled in a process of their own, within limits; what it made is kept and only
//! used as it was made.

use std::path::PathBuf;

use moss_proto::v1;
use serde_json::json;

use crate::harness::guests::{install, zoo};
use crate::harness::{Daemon, Site};
use crate::plugins::settled;

/// A machine with one plugin whose tool is `act`.
fn with_plugin() -> Site {
    let site = Site::new();
    install(&site, &[("zoo", &zoo("polite"), json!({}))]);
    site
}

/// The files with kept code.
fn kept(site: &Site) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(site.state().join("code")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
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
    assert!(daemon.log().contains("is not what moss made"), "{}", daemon.log());
    daemon.stop();

    site.config("");
    let daemon = site.serve();
    serves(&daemon).await;
    daemon.stop();
    assert_ne!(std::fs::read(file).unwrap(), changed);
    assert_eq!(kept(&site).len(), 1);
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
async fn a_broken_component_is_told_by_the_compiler() {
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

#[test]
fn the_compiler_is_no_command_for_people() {
    let site = Site::new();
    let help = site.run(&["--help"]);
    assert!(!help.stdout.contains("compile-plugin"), "{}", help.stdout);
    let broken = site.run(&["compile-plugin", "2147483648", "60"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(65), ""));
    assert_eq!(broken.stderr, "the input is cut short");
}
