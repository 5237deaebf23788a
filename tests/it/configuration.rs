//! Limits that change while the daemon runs.

use serde_json::json;

use crate::harness::{Client, Site, failure, until};

async fn problem(client: &Client) -> String {
    client.load().await.config_problem
}

#[tokio::test]
async fn limits_change_at_once_wait_or_stay() {
    let site = Site::new();
    site.write("a.txt", "a line of text\n".repeat(100));
    let daemon = site.serve();
    let client = daemon.caller().await;
    let read = json!({"path": "a.txt"});
    client.done("read_file", read.clone()).await;
    assert_eq!(problem(&client).await, "");

    site.config("[calls]\noutput_bytes_max = 500\n[grpc]\nstreams_max = 7\n");
    until("the limit waits", async || problem(&client).await.contains("grpc.streams_max")).await;
    let result = client.ran("read_file", read.clone()).await;
    let error = failure(&result);
    assert_eq!(error.code, "too_large");
    assert!(error.message.contains("the limit is 500"), "{}", error.message);

    // What is broken changes nothing.
    site.config("[calls]\noutput_bytes_max = 1\nruning_max = 2\n");
    until("it is told", async || problem(&client).await.contains("no key `runing_max`")).await;
    let result = client.ran("read_file", read.clone()).await;
    assert!(failure(&result).message.contains("the limit is 500"), "{result:?}");
    let shown = site.run(&["status"]).stdout;
    assert!(shown.contains("config.toml:3:1: no key `runing_max` in [calls]"), "{shown}");

    // Without the file the defaults hold again.
    std::fs::remove_file(site.outside("config/moss/config.toml")).unwrap();
    until("all is well", async || problem(&client).await.is_empty()).await;
    client.done("read_file", read).await;
}
