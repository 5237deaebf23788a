//! What `moss plugin add` grants of what is asked for, and what `moss plugin remove` forgets.

use serde_json::{Value, json};

use crate::harness::{Ended, Site, plugin};
use crate::hostile::{Described, PLAIN, describing};

fn parsed(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn listed(site: &Site) -> Value {
    let text = std::fs::read_to_string(site.outside("config/moss/moss-tools.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_grant_of_all_that_is_asked_for_leaves_out_what_no_list_grants_and_says_so() {
    let site = Site::new();
    let greedy = Described {
        requests: &[
            ("env", "*"),
            ("env", "LANG"),
            ("env", "MOSS_TOKEN"),
            ("tool", "*"),
            ("http", "*"),
            ("store", "1GiB"),
        ],
        ..PLAIN
    };
    let file = site.write("zoo.wasm", describing("zoo", &greedy));
    let add = ["plugin", "add", file.to_str().unwrap(), "--grant-requested"];
    let shown = parsed(&site.run(&[&add[..], &["--dry-run", "--json"]].concat()));
    let withheld = &shown["output"]["withheld"];
    let lines = [
        "reach *",
        "see the variable *",
        "see the variable MOSS_TOKEN",
        "keep 1GiB",
        "call the tool *",
    ];
    assert_eq!(withheld, &json!(lines), "{shown}");
    let added = site.run(&[&add[..], &["--yes"]].concat());
    assert_eq!(added.code, Some(0), "{added:?}");
    let told = "not granted, because no list can grant this much at once; name the parts with --env, \
                --tool, --http or --store:\n  reach *\n";
    assert!(added.stderr.contains(told), "{added:?}");
    let grant = &listed(&site)["plugins"][0]["grant"];
    let granted = json!({ "http": ["https://*"], "env": ["LANG"], "store": "64MiB" });
    assert_eq!(grant, &granted);
    let loaded = parsed(&site.run(&["plugin", "list", "--json"]));
    assert_eq!(loaded["plugins"][0]["state"], "ready", "{loaded}");
}

#[test]
fn what_a_plugin_keeps_stays_when_it_is_removed_unless_it_is_to_be_forgotten() {
    let site = Site::allowing();
    let file = plugin("memory");
    let file = file.to_str().unwrap();
    let add = || {
        let added = site.run(&["plugin", "add", file, "--store", "64KiB", "--yes"]);
        assert_eq!(added.code, Some(0), "{added:?}");
    };
    let recalled = || {
        let called = site.run(&["call", "memory_recall", "--json"]);
        assert_eq!(called.code, Some(0), "{called:?}");
        called.stdout.contains("the tests are run by CI")
    };
    add();
    let saved = site.run(&["call", "memory_save", "text=the tests are run by CI", "--json"]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    let removed = site.run(&["plugin", "remove", "memory", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    for told in ["which is kept; `--forget-store` deletes it", "its store is kept"] {
        assert!(removed.stderr.contains(told), "{removed:?}");
    }
    add();
    assert!(recalled(), "it came back");
    let dry = parsed(&site.run(&["plugin", "remove", "memory", "--dry-run", "--json"]));
    assert_eq!(dry["output"]["forgets_store"], false, "{dry}");
    let digest = dry["digest"].as_str().unwrap();
    let remove = ["plugin", "remove", "memory", "--forget-store"];
    let other = site.run(&[&remove[..], &["--confirm", digest]].concat());
    assert_eq!(other.code, Some(4), "to forget is another effect: {other:?}");
    assert!(recalled());
    let removed = site.run(&[&remove[..], &["--yes"]].concat());
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(removed.stderr.contains("its store is deleted"), "{removed:?}");
    add();
    assert!(!recalled(), "it was forgotten");
    let removed = site.run(&[&remove[..], &["--yes"]].concat());
    assert!(!removed.stderr.contains("in its store"), "{removed:?}");
}
