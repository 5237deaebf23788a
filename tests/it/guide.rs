//! The editors of `docs/editors.md`: their code is removed from the guide, and what they do is held
//! to what the guide promises.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::editor::PATIENT;
use crate::harness::{Ended, Site};

/// The code of the editor in a language.
pub(crate) fn code(language: &str) -> String {
    code_below("\n# For editors\n", language)
}

/// The first code in a language below a heading.
pub(crate) fn code_below(heading: &str, language: &str) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/editors.md");
    let guide = "\n".to_owned() + &std::fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once(heading).expect("the guide has the heading");
    let (_, rest) = rest.split_once(&format!("\n```{language}\n")).expect("it has code");
    // The end of a block is alone on its line.
    rest.split_once("\n```\n").expect("the code ends").0.to_owned() + "\n"
}

/// Runs a driver of an editor beside a daemon: it attaches, holds an unsaved text, answers a question
/// and confirmations, and takes an edit.
pub(crate) fn check(site: &Site, driver: impl FnOnce(&Site) -> Command) {
    site.config(PATIENT);
    site.write("a.txt", "saved\n");
    let daemon = site.serve();
    let mut driver = driver(site);
    driver.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Ended::of(&mut driver);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["read"], "     1\tunsaved 𝄞\n     2\tlast");
    assert_eq!(report["cursor"], 2);
    let clarified = json!({"answered": true, "answer": "two", "editor": "Example"});
    assert_eq!(report["clarified"], clarified);
    assert_eq!(report["edited"]["applied"], true, "{report}");
    assert_eq!(report["buffer"], "unsaved 𝄞\nline\nend");
    assert_eq!((site.read("a.txt"), site.read("b.txt")), ("saved\n".into(), "new\n".into()));
    let asked = report["asked"].as_array().unwrap();
    assert_eq!(asked[0], json!(["Which?", ["one", "two"]]));
    assert!(asked[1].as_str().unwrap().contains("+new\n"), "{asked:?}");
    let of_buffer = asked[2].as_str().unwrap();
    assert!(of_buffer.contains("-last\n") && of_buffer.contains("+end\n"), "{of_buffer}");
    assert_eq!(asked.len(), 3);
    // Runtimes may have warnings of their own.
    for trouble in ["Traceback", "detached", "moss:"] {
        assert!(!ended.stderr.contains(trouble), "{}", ended.stderr);
    }
    daemon.stop();
}
