//! Rules about what people read, and about text in general.

use std::path::Path;

use crate::hold;
use crate::tree::{FILES, File, file, root};

/// Hosts that a file may name.
const HOSTS: &[&str] = &[
    "0x7f.1",
    "127.0.0.1",
    "api.openai.com",
    "cwiki.apache.org",
    "github.com",
    "json-schema.org",
    "localhost",
    "maven.apache.org",
    "modelcontextprotocol.io",
    "registry.npmjs.org",
    "rustup.rs",
    "www.apache.org",
    "www.w3.org",
];

#[test]
fn text_is_clean() {
    let offences = FILES.iter().filter(|file| !is_data(file)).flat_map(|file| {
        let mut offences = Vec::new();
        if !file.text.is_empty() && (!file.text.ends_with('\n') || file.text.ends_with("\n\n")) {
            offences.push(format!("{}: ends with one line feed", file.path));
        }
        let lines = file.text.split('\n').zip(1..);
        offences.extend(
            lines
                .filter(|(line, _)| line.ends_with([' ', '\t', '\r']))
                .map(|(_, number)| format!("{}:{number}: white space at the end", file.path)),
        );
        offences
    });
    hold("clean text", offences);
}

/// Files whose every byte is meant.
fn is_data(file: &File) -> bool {
    file.path.contains("/fixtures/") || file.path.ends_with(".txt") && file.path.contains("/tests/")
}

#[test]
fn no_file_names_a_machine() {
    let here = root().to_str().unwrap().to_owned();
    let homes = ["home", "root", "Users"].map(|directory| format!("/{directory}/"));
    let offences = FILES.iter().flat_map(|file| {
        let lines = file.text.lines().zip(1..);
        let bad = lines.filter(|(line, _)| {
            line.contains(&here) || homes.iter().any(|home| starts_a_path(line, home))
        });
        bad.map(|(_, number)| format!("{}:{number}", file.path)).collect::<Vec<_>>()
    });
    hold("names no directory of somebody's machine", offences);
}

fn starts_a_path(line: &str, prefix: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-~*/".contains(c);
    line.match_indices(prefix).any(|(at, _)| !line[..at].chars().next_back().is_some_and(is_part))
}

#[test]
fn hosts_are_known() {
    let named = FILES.iter().filter(|file| !is_lock(file)).flat_map(|file| {
        let urls =
            ["http://", "https://"].iter().flat_map(|scheme| file.text.split(scheme).skip(1));
        urls.map(move |url| {
            let is_host = |c: char| c.is_alphanumeric() || c == '.' || c == '-';
            let host = &url[..url.find(|c| !is_host(c)).unwrap_or(url.len())];
            (file, host)
        })
    });
    let is_known = |host: &str| {
        HOSTS.contains(&host)
            || !host.contains(|c: char| c.is_ascii_alphabetic())
            || !host.contains('.')
            || [".example", ".invalid", ".test", "example.org", "example.com"]
                .iter()
                .any(|reserved| host.ends_with(reserved))
    };
    let offences = named.filter(|(_, host)| !is_known(host));
    hold("known hosts", offences.map(|(file, host)| format!("{}: {host}", file.path)));
}

/// Lists what others have made, with their homes.
fn is_lock(file: &File) -> bool {
    ["Cargo.lock", "package-lock.json"].iter().any(|name| file.path.ends_with(name))
}

#[test]
fn crates_come_from_the_public_registry() {
    let locks = FILES.iter().filter(|file| file.path.ends_with("Cargo.lock"));
    let sources = locks.flat_map(|file| {
        file.text.lines().filter(|line| line.starts_with("source = ")).map(move |line| (file, line))
    });
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let offences = sources.filter(|(_, line)| *line != public);
    hold("crates.io", offences.map(|(file, line)| format!("{}: {line}", file.path)));
}

#[test]
fn every_document_is_linked_from_both_readmes() {
    let documents = FILES.iter().filter(|file| file.path.starts_with("docs/"));
    let pages = documents.filter(|file| file.path.ends_with(".md"));
    let offences = pages.flat_map(|page| {
        let link = format!("({})", page.path);
        let readmes = ["README.md", "README.zh.md"].into_iter();
        let lacking = readmes.filter(move |readme| !file(readme).text.contains(&link));
        lacking.map(|readme| format!("{} in {readme}", page.path))
    });
    hold("linked", offences);
}

#[test]
fn every_picture_is_on_some_page() {
    let pictures = FILES.iter().filter(|file| file.path.ends_with(".svg"));
    let offences = pictures.filter(|picture| {
        let (directory, name) = picture.path.rsplit_once('/').unwrap_or(("", &picture.path));
        let mut pages = FILES.iter().filter(|file| file.path.ends_with(".md"));
        !pages.any(|page| {
            let above = page.path.rsplit_once('/').map_or("", |(above, _)| above);
            let from_there = directory.strip_prefix(above).unwrap_or(directory);
            let link = format!("{from_there}/{name})");
            page.text.contains(&format!("]({}", link.trim_start_matches('/')))
        })
    });
    hold("shown", offences.map(|file| file.path.clone()));
}

#[test]
fn links_lead_somewhere() {
    let documents = FILES.iter().filter(|file| file.path.ends_with(".md"));
    let offences = documents.flat_map(|file| {
        let directory = root().join(Path::new(&file.path).parent().unwrap());
        let targets = file.text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let local = targets
            .map(|(target, _)| target.split('#').next().unwrap_or_default())
            .filter(|target| !target.is_empty() && !target.contains("://"));
        let broken: Vec<&str> = local.filter(|target| !directory.join(target).exists()).collect();
        broken.into_iter().map(move |target| format!("{}: {target}", file.path))
    });
    hold("links", offences);
}

#[test]
fn documented_commands_exist() {
    let tasks = &file("xtask/src/main.rs").text;
    let exists = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["cargo", "xtask", task, ..] => tasks.contains(&format!("[\"{task}\"")),
            ["moss", command, ..] if *command != "=" => {
                let path = format!("cli/src/{}.rs", command.replace('-', "_"));
                FILES.iter().any(|file| file.path == path)
            }
            _ => true,
        }
    };
    let documents = FILES.iter().filter(|file| file.path.ends_with(".md"));
    let offences = documents.flat_map(|document| {
        let commands = code_lines(&document.text).filter(|line| !exists(line));
        commands.map(|line| format!("{}: {line}", document.path)).collect::<Vec<_>>()
    });
    hold("commands", offences);
}

#[test]
fn the_test_that_bench_zoo_shows_exists() {
    let bench = &file("xtask/src/bench.rs").text;
    let (_, rest) = bench.split_once("const ZOO: &str = \"").expect("it names a test");
    let filter = rest.split('"').next().unwrap_or_default();
    let (module, start) = filter.split_once("::").expect("a module and how the test begins");
    let tests = &file(&format!("tests/it/{module}.rs")).text;
    let found = tests.split("#[tokio::test").skip(1).filter(|test| {
        let name = test.split_once("fn ").map(|(_, name)| name);
        name.is_some_and(|name| name.starts_with(start))
    });
    assert_eq!(found.count(), 1, "`{filter}` names one test");
}

/// The lines of code blocks, without a prompt.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.flat_map(str::lines).map(|line| line.trim_start_matches("$ "))
}

#[test]
fn links_within_pages_lead_to_headings() {
    let documents = FILES.iter().filter(|file| file.path.ends_with(".md"));
    let offences = documents.flat_map(|page| {
        let targets = page.text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let links = targets.filter_map(|(target, _)| target.split_once('#'));
        let links = links.filter(|(path, _)| !path.contains("://"));
        let directory = page.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let broken = links.filter(|(path, anchor)| {
            let other = format!("{directory}/{path}");
            let other =
                if path.is_empty() { page.path.as_str() } else { other.trim_start_matches('/') };
            let other = FILES.iter().find(|file| file.path == other);
            !other.is_some_and(|other| anchors(&other.text).any(|known| known == *anchor))
        });
        broken.map(|(path, anchor)| format!("{}: {path}#{anchor}", page.path)).collect::<Vec<_>>()
    });
    hold("anchors", offences);
}

/// The anchors of a page's headings, as the sites that show it make them.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let prose = text.split("\n```").step_by(2);
    let lines = prose.flat_map(str::lines).filter(|line| line.starts_with('#'));
    lines.filter_map(|line| line.trim_start_matches('#').strip_prefix(' ')).map(|heading| {
        let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        heading.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
    })
}

#[test]
fn anchors_are_words_in_small_letters() {
    let text = "# One: `two`\n\n```sh\n# three\n```\n\n## Four five\n\n#six";
    assert_eq!(anchors(text).collect::<Vec<_>>(), ["one-two", "four-five"]);
}

#[test]
fn the_architecture_maps_every_directory() {
    let map = &file("docs/architecture.md").text;
    let directories = FILES.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml"));
    let offences = directories
        .filter(|directory| is_named_by_its_role(directory))
        .filter(|directory| !map.contains(&format!("`{directory}/`")));
    hold("in the code map", offences.map(str::to_owned));
}

/// Whether a directory lies at the top, or beside the crates that only engineers know.
fn is_named_by_its_role(directory: &str) -> bool {
    !directory.strip_prefix("crates/").unwrap_or(directory).contains('/')
}

#[test]
fn continuous_integration_runs_what_the_readme_says() {
    let command = "cargo xtask test";
    assert!(file("README.md").text.lines().any(|line| line == command));
    assert!(file(".ci/run").text.lines().any(|line| line == command));
}
