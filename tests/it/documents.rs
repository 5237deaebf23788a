//! What the README and the guides show works as they show it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Ended, Site, binary};

fn document(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// The code blocks of a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let start = format!("```{language}\n");
    text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn policies_of_the_guide_pass_their_check() {
    let site = Site::new();
    let guide = document("docs/admins.md");
    let policies = blocks(&guide, "toml").into_iter().filter(|text| text.starts_with("version"));
    let mut count = 0;
    for policy in policies {
        site.write("policy.toml", policy);
        let ended = site.run(&["policy", "check", "policy.toml"]);
        assert_eq!(ended.code, Some(0), "{policy}\n{}{}", ended.stdout, ended.stderr);
        count += 1;
    }
    assert!(count >= 5, "{count} policies");
}

#[test]
fn the_list_of_the_guide_is_in_order() {
    let site = Site::new();
    let guide = document("docs/plugins.md");
    site.plugin_list(blocks(&guide, "json")[0]);
    let doctor = site.run(&["doctor"]);
    let line = doctor.stdout.lines().find(|line| line.contains("plugin list")).unwrap();
    assert!(line.starts_with("ok") && line.ends_with("1 plugins"), "{line}");
}

#[test]
fn the_session_of_the_readme_runs() {
    let readme = document("README.md");
    let session = blocks(&readme, "console").concat();
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
