//! What the README and the guides show works as they show it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::harness::guests::{install, spread};
use crate::harness::{Ended, Site, binary};
use crate::plugins::settled;
use crate::policy::{Fate, fate};

fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// The code blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The policies of a guide, each with the layers that its heading names: `**What** (admin):`.
fn policies(guide: &str) -> Vec<(String, Vec<&'static str>)> {
    let mut found = Vec::new();
    let mut heading = String::new();
    for (at, part) in guide.split("```").enumerate() {
        if at % 2 == 0 {
            // The last text in bold before a block, with what stands in brackets after it.
            let bold = part.rsplit("\n\n").find(|paragraph| paragraph.starts_with("**"));
            heading = bold.unwrap_or_default().replace('\n', " ");
            continue;
        }
        let Some(policy) = part.strip_prefix("toml\n").filter(|text| text.starts_with("version"))
        else {
            continue;
        };
        let named = heading.split("** (").nth(1).and_then(|rest| rest.split(')').next());
        let named = named.unwrap_or("user");
        let layers = ["admin", "user", "workspace"].into_iter().filter(|l| named.contains(l));
        found.push((policy.to_owned(), layers.collect()));
    }
    found
}

#[test]
fn policies_of_the_guide_pass_their_check() {
    let site = Site::new();
    let guide = document("docs/admins.md");
    let all = policies(&guide);
    for (policy, layers) in &all {
        site.write("policy.toml", policy);
        assert!(!layers.is_empty(), "no layer is named for\n{policy}");
        for layer in layers {
            let ended = site.run(&["policy", "check", "policy.toml", "--layer", layer]);
            assert_eq!(ended.code, Some(0), "{layer}: {policy}\n{}{}", ended.stdout, ended.stderr);
        }
        // The guide shows what a rule is about, and what it is not about.
        for key in ["\nmatch = [", "\nnot_match = ["] {
            assert!(policy.contains(key), "no example {key} in\n{policy}");
        }
    }
    let count = |layer| all.iter().filter(|(_, layers)| layers.contains(&layer)).count();
    assert!(count("admin") >= 8 && count("user") >= 2 && count("workspace") >= 1, "{all:?}");
}

#[tokio::test]
async fn the_lock_down_recipes_hold_on_a_daemon() {
    let guide = document("docs/admins.md");
    let all = policies(&guide);
    let recipe = |name: &str| {
        let found = all.iter().find(|(policy, _)| policy.contains(&format!("name = \"{name}\"")));
        found.unwrap_or_else(|| panic!("no recipe {name}")).0.clone()
    };
    let read = |path: &str| ("read_file", json!({"path": path}));
    let create = |path: &str| ("create_file", json!({"path": path, "content": "x\n"}));
    let edit =
        |path: &str| ("replace_text", json!({"path": path, "oldText": "old", "newText": "new"}));
    let delete = |path: &str| ("delete_file", json!({"path": path}));
    use Fate::{Allowed, Asked, Denied};
    for (name, tries) in [
        (
            "read-only",
            vec![(read("a.txt"), Allowed), (create("n"), Denied), (delete("a.txt"), Denied)],
        ),
        (
            "listed-tools",
            vec![(read("a.txt"), Allowed), (edit("a.txt"), Allowed), (create("n"), Denied)],
        ),
        ("no-plugins", vec![(edit("a.txt"), Allowed), (("spread", json!({})), Denied)]),
        ("secrets-stay-closed", vec![(read("secrets/a"), Denied), (read("src/a.rs"), Allowed)]),
        (
            "outside-src",
            vec![(edit("src/a.rs"), Allowed), (edit("a.txt"), Asked), (read("a.txt"), Asked)],
        ),
    ] {
        let mut site = Site::allowing();
        for path in ["a.txt", "src/a.rs", "secrets/a", "f0.txt", "f1.txt", "f2.txt"] {
            site.write(path, "old\n");
        }
        install(&site, &[("spread", &spread(), json!({}))]);
        site.admin_policy(&recipe(name));
        let daemon = site.serve();
        let caller = daemon.caller().await;
        settled(&caller).await;
        for ((tool, arguments), expected) in tries {
            let fate = fate(&caller, tool, arguments.clone()).await;
            assert_eq!(fate, expected, "{name}: {tool} {arguments}");
        }
    }
}

#[test]
fn the_list_of_the_guide_is_in_order() {
    let site = Site::new();
    let guide = document("docs/installing-plugins.md");
    let list = site.plugin_list(blocks(&guide, "json")[0]);
    // The components that it names are there once they are built.
    let read: serde_json::Value = serde_json::from_str(blocks(&guide, "json")[0]).unwrap();
    for plugin in read["plugins"].as_array().unwrap() {
        let source = list.parent().unwrap().join(plugin["source"].as_str().unwrap());
        std::fs::create_dir_all(source.parent().unwrap()).unwrap();
        std::fs::write(source, "").unwrap();
    }
    let doctor = site.run(&["doctor"]);
    let line = doctor.stdout.lines().find(|line| line.contains("plugin list")).unwrap();
    assert!(line.starts_with("ok") && line.ends_with("1 plugin"), "{line}");
}

#[test]
fn the_session_of_the_first_steps_runs() {
    let guide = document("docs/getting-started.md");
    let session = blocks(&guide, "console").concat();
    let (commands, shown): (Vec<&str>, Vec<&str>) =
        session.lines().partition(|line| line.starts_with("$ "));
    // Nobody sits at this terminal to answer the one question.
    let commands: Vec<String> = commands
        .iter()
        .map(|command| match command.trim_start_matches("$ ") {
            edit if edit.contains("replace_text") => format!("{edit} --confirm allow"),
            other => other.to_owned(),
        })
        .collect();
    let site = Site::new();
    let paths = [binary().parent().unwrap().to_str().unwrap(), &std::env::var("PATH").unwrap()];
    let moss = site.command([""; 0]);
    let mut shell = Command::new("sh");
    shell
        .args(["-e", "-c", &commands.join("\n")])
        .envs(moss.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", paths.join(":"))
        .current_dir(site.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = Ended::of(&mut shell);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let json = shown.iter().filter(|line| line.starts_with("  \"") || line.contains("world!\","));
    for line in json {
        assert!(ended.stdout.contains(line), "{line} is not in\n{}", ended.stdout);
    }
    assert_eq!(ended.stderr.matches("modified greeting.txt (+1 -1)").count(), 2);
    assert_eq!(site.read("try/greeting.txt"), "Hello, world!\n");
}
