//! Instances that are kept between calls, where the list wants that: for the same plugin and the same
//! caller, and for nobody else.

use serde_json::{Value, json};

use crate::harness::guests::{install, zoo, zoo_named};
use crate::harness::{Client, Site, until};
use crate::plugins::settled;

/// Calls a tool that counts the calls of its instance.
async fn counted(client: &Client) -> Value {
    client.done("act", json!({})).await["n"].clone()
}

fn listed(site: &Site, more: Value) {
    install(site, &[("zoo", &zoo("counter"), more)]);
}

#[tokio::test]
async fn a_caller_meets_its_instance_again_until_the_list_changes() {
    let site = Site::new();
    listed(&site, json!({ "warm": { "instances": 2 } }));
    let daemon = site.serve();
    let (caller, approver) = (daemon.caller().await, daemon.approver().await);
    settled(&caller).await;
    assert_eq!(counted(&caller).await, 1);
    assert_eq!(counted(&caller).await, 2);
    assert_eq!(counted(&approver).await, 1, "an instance of one role is not another's");
    assert_eq!(counted(&caller).await, 3);
    let changed = json!({ "warm": {}, "config": { "changed": true } });
    let another = zoo_named("polite", "two");
    install(&site, &[("zoo", &zoo("counter"), changed), ("two", &another, json!({}))]);
    until("the list is read", async || settled(&caller).await.len() == 2).await;
    assert_eq!(counted(&caller).await, 1);
}

#[tokio::test]
async fn every_call_has_its_own_instance_by_default() {
    let site = Site::new();
    listed(&site, json!({}));
    let daemon = site.serve();
    let caller = daemon.caller().await;
    settled(&caller).await;
    for _ in 0..3 {
        assert_eq!(counted(&caller).await, 1);
    }
}
