//! A component and a policy are replaced again and again while clients call: no call fails, and
//! none runs by a version that is not in effect.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::json;

use crate::harness::guests::{install, zoo_version};
use crate::harness::{Client, Daemon, Site, call, details, output, reason, refusing, until};
use crate::policy::explained;
use crate::reload::{replace, sha256};

/// How often each is replaced, where [`ASKED`] does not say otherwise.
const RELOADS: usize = 40;
/// The variable that says so.
const ASKED: &str = "MOSS_TEST_RELOADS";
/// Clients that call all the time.
const CALLERS: usize = 4;
/// Versions that take turns: so many that an old one is not taken for the next.
const VERSIONS: usize = 10;
/// Where the rule stands in the first version of the policy.
const FIRST_LINE: usize = 2;

/// What is replaced, its versions numbered from 0 on.
#[derive(Default)]
struct Replaced {
    /// The newest that may be in effect: it is being written.
    written: AtomicUsize,
    /// The oldest that may be: it was told to be in effect.
    told: AtomicUsize,
    calls: AtomicUsize,
}

/// All that the clients call.
#[derive(Default)]
struct Both {
    component: Replaced,
    policy: Replaced,
    ends: AtomicBool,
}

fn reloads() -> usize {
    match std::env::var(ASKED) {
        Ok(asked) => asked.parse().unwrap_or_else(|_| panic!("{ASKED}={asked} is no number")),
        Err(_) => RELOADS,
    }
}

fn component(number: usize) -> Vec<u8> {
    zoo_version(u8::try_from(number % VERSIONS).unwrap(), "Does it.")
}

/// A policy that denies, with the rule on a line of its own for each version.
fn policy(number: usize) -> String {
    let above = "\n".repeat(number % VERSIONS);
    format!("version = 1\n{above}[[rule]]\neffects = [\"write\"]\ndecision = \"deny\"\n")
}

/// The version whose rule is named.
fn policy_version(rule: &str) -> usize {
    let (_, line) = rule.split_once("policy.toml:").unwrap_or_else(|| panic!("{rule}"));
    let digits: String = line.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<usize>().unwrap() - FIRST_LINE
}

/// Writes a file in one of the ways in which files are written.
fn write(file: &Path, number: usize, content: impl AsRef<[u8]>) {
    match number % 3 {
        0 => std::fs::write(file, content).unwrap(),
        _ => replace(file, content),
    }
}

// === impl Replaced ===

impl Replaced {
    /// Waits for a call, which must run by a version that is in effect meanwhile.
    async fn check(&self, what: &str, version: impl Future<Output = usize>) {
        let first = self.told.load(Ordering::SeqCst);
        let ran = version.await;
        let last = self.written.load(Ordering::SeqCst);
        let is_in_effect = (first..=last).any(|number| number % VERSIONS == ran);
        assert!(is_in_effect, "{what}: version {ran} where {first} to {last} are in effect");
        self.calls.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until calls are made after what was reported.
    async fn goes_on(&self) {
        let before = self.calls.load(Ordering::SeqCst);
        until("calls go on", async || self.calls.load(Ordering::SeqCst) >= before + CALLERS).await;
    }
}

// === impl Both ===

impl Both {
    /// Calls until all is over: the plugin's tool and one that the policy denies, in turns.
    async fn call(&self, client: &Client, is_streamed: bool) {
        let ran = async |call| match is_streamed {
            true => client.stream(call).await.unwrap().end().await,
            false => client.call(call).await,
        };
        while !self.ends.load(Ordering::SeqCst) {
            let act = async {
                let answer = output(&ran(call("act", json!({}))).await.expect("it succeeds"));
                usize::try_from(answer["v"].as_u64().unwrap()).unwrap()
            };
            self.component.check("component", act).await;
            let denied = async {
                let create = refusing("create_file", json!({"path": "a", "content": ""}));
                let status = ran(create).await.expect_err("it is denied");
                assert_eq!(reason(&status), "DENIED_BY_POLICY");
                policy_version(&details(&status).error_info().unwrap().metadata["rule"])
            };
            self.policy.check("policy", denied).await;
        }
    }

    async fn replace_component(&self, site: &Site, client: &Client) {
        let mut catalogs = client.watch_tools().await;
        let mut digest = catalogs.next().await.unwrap().catalog_digest;
        let file = site.outside("config/moss/zoo.wasm");
        for number in 1..=reloads() {
            self.component.written.store(number, Ordering::SeqCst);
            let bytes = component(number);
            write(&file, number, &bytes);
            if number % 2 == 0 {
                let sha256 = sha256(&bytes);
                until("the plugin is the new one", async || {
                    client.plugin_list().await[0].sha256 == sha256
                })
                .await;
                self.component.told.store(number, Ordering::SeqCst);
            }
            let told = catalogs.next().await.unwrap();
            self.component.told.store(number, Ordering::SeqCst);
            assert_eq!((told.added.len(), told.removed.len()), (0, 0), "{told:?}");
            assert_eq!(told.changed, ["act"], "reload {number}");
            assert_ne!(std::mem::replace(&mut digest, told.catalog_digest.clone()), digest);
            self.component.goes_on().await;
        }
    }

    async fn replace_policy(&self, site: &Site, client: &Client) {
        let file = site.outside("config/moss/policy.toml");
        for number in 1..=reloads() {
            self.policy.written.store(number, Ordering::SeqCst);
            write(&file, number, policy(number));
            until("the policy is the new one", async || {
                let arguments = json!({"path": "a", "content": ""});
                let explained = explained(client, "create_file", arguments).await;
                let mut deciding = explained.steps.iter().filter_map(|step| step.deciding.as_ref());
                let line = number % VERSIONS + FIRST_LINE;
                deciding.any(|rule| rule.layer == "user" && rule.line as usize == line)
            })
            .await;
            self.policy.told.store(number, Ordering::SeqCst);
            self.policy.goes_on().await;
        }
    }
}

/// Starts clients that call all the time.
async fn callers(daemon: &Daemon, both: &Arc<Both>) -> Vec<tokio::task::JoinHandle<()>> {
    let mut callers = Vec::new();
    for number in 0..CALLERS {
        let (client, both) = (daemon.caller().await, Arc::clone(both));
        callers.push(tokio::spawn(async move { both.call(&client, number % 2 == 1).await }));
    }
    callers
}

#[tokio::test]
async fn no_call_fails_or_runs_by_a_wrong_version_while_components_and_policies_are_replaced() {
    let site = Site::new();
    install(&site, &[("zoo", &component(0), json!({}))]);
    site.user_policy(&policy(0));
    let daemon = site.serve();
    let client = daemon.caller().await;
    until("the plugin is ready", async || client.load().await.workspaces[0].plugins_ready == 1)
        .await;
    let both = Arc::new(Both::default());
    let callers = callers(&daemon, &both).await;
    let started = Instant::now();
    let replaced = async {
        tokio::join!(both.replace_component(&site, &client), both.replace_policy(&site, &client));
    };
    let mut failing = tokio::task::JoinSet::new();
    for caller in callers {
        failing.spawn(caller);
    }
    tokio::select! {
        () = replaced => {}
        ended = failing.join_next() => panic!("a caller ended: {ended:?}"),
    }
    let taken = started.elapsed();
    both.ends.store(true, Ordering::SeqCst);
    while let Some(ended) = failing.join_next().await {
        ended.unwrap().expect("no call fails");
    }
    let [component, policy] =
        [&both.component, &both.policy].map(|replaced| replaced.calls.load(Ordering::SeqCst));
    eprintln!(
        "{} reloads of a component and as many of a policy in {taken:.1?}, under {component} calls \
         of a plugin and {policy} that the policy decides",
        reloads()
    );
    assert!(!site.has("a"));
}
