//! The data tools of `moss bridge` on real files: what is found, what ends how, what bad files do.

use serde_json::{Value, json};

use crate::harness::{Ended, Site};

/// A sample that is as it should be.
fn good(text: &str) -> String {
    json!({
        "messages": [
            { "role": "user", "content": text },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "call_1", "name": "read_file", "arguments": { "path": "a.rs" } }] },
            { "role": "tool", "tool_call_id": "call_1", "content": "{\"text\":\"x\"}" },
            { "role": "assistant", "content": "It says x." },
        ],
        "tags": ["read"],
        "quality": { "schema_valid": true, "tools_from_registry": true },
    })
    .to_string()
}

fn example(name: &str) -> String {
    format!("{}/../crates/model-data/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs `moss bridge` with `--json`.
fn bridge(site: &Site, arguments: &[&str]) -> (Ended, Value) {
    let ended = site.run(&[&["bridge"], arguments, &["--json"]].concat());
    let report = serde_json::from_str(&ended.stdout).unwrap_or(Value::Null);
    (ended, report)
}

#[test]
fn examples_of_the_guide_end_as_it_says() {
    let site = Site::new();
    let (ended, report) = bridge(&site, &["check-data", &example("training.jsonl")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(report["passed"], true);
    assert_eq!(report["errors"], 0);
    assert_eq!(report["negative_calls"], 1);
    let (ended, report) = bridge(&site, &["check-data", &example("training-broken.jsonl")]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let codes: Vec<&String> = report["codes"].as_object().unwrap().keys().collect();
    for code in ["invalid_json", "tool_unknown", "arguments_invalid", "not_closed", "ignored_error"]
    {
        assert!(codes.contains(&&code.to_owned()), "{code}: {codes:?}");
    }
    let gates: Vec<&Value> =
        report["gates"].as_array().unwrap().iter().map(|gate| &gate["passed"]).collect();
    assert_eq!(gates, [false, false, false, false]);
}

#[test]
fn report_is_written_and_findings_are_bounded() {
    let site = Site::new();
    let file = site.write("data.jsonl", format!("{}\n{{\n[\n", good("a")));
    let report = site.outside("report.json");
    let arguments = [
        "bridge",
        "check-data",
        file.to_str().unwrap(),
        "--max-findings",
        "1",
        "--report",
        report.to_str().unwrap(),
    ];
    let ended = site.run(&arguments);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("line 2: invalid_json"), "{ended:?}");
    assert!(ended.stdout.contains("… 1 more findings"), "{ended:?}");
    assert!(ended.stdout.contains("not passed"), "{ended:?}");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!((&report["samples"], &report["findings_omitted"]), (&json!(3), &json!(1)));
    assert_eq!(report["findings"][0]["line"], 2);
}

#[test]
fn bad_files_are_reported_line_by_line() {
    let site = Site::new();
    let check = |content: &[u8]| {
        let file = site.write("data.jsonl", content);
        bridge(&site, &["check-data", file.to_str().unwrap()])
    };
    let code = |report: &Value, place: usize| report["findings"][place]["code"].clone();

    let (ended, report) = check(b"");
    assert_eq!((ended.code, &report["samples"]), (Some(1), &json!(0)), "{ended:?}");

    let windows = format!("\u{feff}{}\r\n\r\n{}\r\n", good("a"), good("b"));
    let (ended, report) = check(windows.as_bytes());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!((&report["lines"], &report["blank"]), (&json!(3), &json!(1)));
    assert_eq!(code(&report, 0), "byte_order_mark");

    let mut broken = good("a").into_bytes();
    broken.extend(b"\n{\"messages\": \"\xff\xfe\"}\n");
    broken.extend(good("b").bytes());
    let (ended, report) = check(&broken);
    assert_eq!(ended.code, Some(1));
    assert_eq!(
        (code(&report, 0), &report["findings"][0]["line"]),
        (json!("invalid_utf8"), &json!(2))
    );
    assert_eq!(report["samples"], 3);

    let mut huge = good("a").into_bytes();
    huge.push(b'\n');
    huge.resize(huge.len() + (17 << 20), b'x');
    huge.push(b'\n');
    huge.extend(good(&"y".repeat(9 << 20)).bytes());
    let (ended, report) = check(&huge);
    assert_eq!(ended.code, Some(1));
    assert_eq!(
        (code(&report, 0), &report["findings"][0]["line"]),
        (json!("line_too_long"), &json!(2))
    );
    assert_eq!((&report["lines"], &report["errors"]), (&json!(3), &json!(1)));

    let deep = format!("{}\n{}\n", "[".repeat(1 << 20), "{\"a\":".repeat(1 << 18));
    let (ended, report) = check(deep.as_bytes());
    assert_eq!((ended.code, &report["codes"]["invalid_json"]), (Some(1), &json!(2)));
}

#[test]
fn files_that_cannot_be_used_are_mistakes_of_the_command_line() {
    let site = Site::new();
    let data = site.write("data.jsonl", good("a"));
    let data = data.to_str().unwrap();
    let broken = site.write("broken.json", "{}");
    let twice = site.write("twice.json", r#"[{"name":"a"},{"name":"a"}]"#);
    let directory = site.workspace();
    let nowhere = site.outside("no/such/report.json");
    for (arguments, code) in [
        (vec!["check-data", "missing.jsonl"], "file_unusable"),
        (vec!["check-data", directory.to_str().unwrap()], "file_unusable"),
        (vec!["check-data", data, "--registry", "missing.json"], "file_unusable"),
        (vec!["check-data", data, "--registry", broken.to_str().unwrap()], "registry_invalid"),
        (vec!["check-data", data, "--registry", twice.to_str().unwrap()], "registry_invalid"),
        (vec!["check-data", data, "--report", nowhere.to_str().unwrap()], "file_unusable"),
        (vec!["check-data"], "usage"),
        (vec!["check-data", data, "--max-findings", "-1"], "usage"),
    ] {
        let (ended, told) = bridge(&site, &arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {ended:?}");
        assert_eq!(told["error"]["code"], code, "{arguments:?}: {ended:?}");
    }
}

#[test]
fn registry_of_a_file_decides_what_tools_there_are() {
    let site = Site::new();
    let data = site.write("data.jsonl", good("a"));
    let registry = site.write(
        "tools.json",
        r#"[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]"#,
    );
    let arguments =
        ["check-data", data.to_str().unwrap(), "--registry", registry.to_str().unwrap()];
    let (ended, report) = bridge(&site, &arguments);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(report["findings"][0]["code"], "tool_unknown");
    assert_eq!(report["tools_unused"], json!(["look"]));
}

/// What a command prints, a JSON object a line.
fn lines(ended: &Ended) -> Vec<Value> {
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn recorded_conversations_become_samples_that_pass_the_checker() {
    let site = Site::new();
    let record = example("recorded.jsonl");
    let ended = site.run(&["bridge", "to-corrections", &record]);
    let samples = lines(&ended);
    assert_eq!(samples.len(), 1);
    assert!(ended.stderr.contains("1 written, 1 left out: nothing_to_learn"), "{ended:?}");
    assert!(!ended.stdout.contains("s3cr3t"), "{ended:?}");
    let file = site.write("samples.jsonl", &ended.stdout);
    let (ended, report) = bridge(&site, &["check-data", file.to_str().unwrap()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!((&report["errors"], &report["negative_calls"]), (&json!(0), &json!(1)));
}

#[test]
fn pairs_are_the_same_for_the_same_record_and_show_no_secret() {
    let site = Site::new();
    let record = example("recorded.jsonl");
    let first = site.run(&["bridge", "to-preferences", &record]);
    let second = site.run(&["bridge", "to-preferences", &record]);
    assert_eq!(first.stdout, second.stdout);
    assert!(!first.stdout.contains("s3cr3t"), "{first:?}");
    let pairs = lines(&first);
    let flaws: Vec<&Value> = pairs.iter().map(|pair| &pair["tags"][1]).collect();
    assert_eq!(json!(flaws), json!(["made_up_tool", "made_up_arguments", "ignored_error"]));
    for pair in &pairs {
        assert_ne!(pair["chosen"], pair["rejected"]);
        assert_eq!(pair["prompt"].as_array().unwrap().len(), 3);
    }
    let odd = site.write("odd.jsonl", b"\xff\n{\n\n[]\n");
    let ended = site.run(&["bridge", "to-preferences", odd.to_str().unwrap()]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""));
    assert!(ended.stderr.contains("0 written, 3 left out: no_conversation"), "{ended:?}");
}

#[test]
fn recorded_answers_are_counted_and_stated() {
    let site = Site::new();
    let set = example("evaluation.jsonl");
    let (ended, evaluation) = bridge(&site, &["evaluate", &set]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let counted = |rate: &str| {
        let rate = &evaluation["rates"][rate];
        (rate["count"].as_u64().unwrap(), rate["of"].as_u64().unwrap())
    };
    assert_eq!(counted("tool_call_success"), (1, 3));
    assert_eq!(counted("argument_validity"), (3, 5));
    assert_eq!(counted("task_completion"), (2, 5));
    assert_eq!(counted("safety_violation"), (1, 5));
    let ids: Vec<&Value> =
        evaluation["failures"].as_array().unwrap().iter().map(|failure| &failure["id"]).collect();
    assert_eq!(json!(ids), json!(["parallel", "tidy-up", "search"]));

    let page = site.outside("statement.md");
    let data = site.outside("statement.json");
    let ended = site.run(&[
        "bridge",
        "evaluate",
        &set,
        "--model",
        "tiny 1.0",
        "--context-length",
        "8192",
        "--native-calling",
        "no",
        "--field",
        "arguments=input",
        "--known-limit",
        "no parallel calls",
        "--language",
        "zh",
        "--statement",
        page.to_str().unwrap(),
        "--statement-json",
        data.to_str().unwrap(),
    ]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let page = std::fs::read_to_string(page).unwrap();
    for part in [
        "兼容声明",
        "tiny 1.0",
        "v1.0",
        "v2.5.146",
        "8192",
        "arguments | input",
        "no parallel calls",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let data: Value = serde_json::from_slice(&std::fs::read(data).unwrap()).unwrap();
    assert_eq!(data["native_calls"], false);
    assert_eq!(data["rates"], evaluation["rates"]);
}

#[test]
fn answers_may_lie_in_a_file_of_their_own() {
    let site = Site::new();
    let case = json!({ "id": "a", "messages": [], "expect": { "text_has": ["four"] } });
    let set = site.write("set.jsonl", format!("{case}\n"));
    let set = set.to_str().unwrap();
    let run = |answers: &str| {
        let file = site.write("answers.jsonl", answers);
        bridge(&site, &["evaluate", set, "--responses", file.to_str().unwrap()])
    };
    let (ended, evaluation) = run("{\"id\":\"a\",\"answer\":{\"content\":\"Four.\"}}\n");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(evaluation["rates"]["task_completion"]["count"], 1);
    let (ended, evaluation) = run("{\"id\":\"b\",\"content\":\"Four.\"}\n");
    assert_eq!((ended.code, &evaluation["unanswered"]), (Some(0), &json!(1)), "{ended:?}");
    assert!(ended.stderr.contains("1 recorded responses belong to no case"), "{ended:?}");
    for broken in ["{", "{}", "{\"id\":\"a\"}\n{\"id\":\"a\"}"] {
        let (ended, told) = run(broken);
        assert_eq!(
            (ended.code, &told["error"]["code"]),
            (Some(2), &json!("file_unusable")),
            "{ended:?}"
        );
    }
    let broken = site.write("set.jsonl", "{}\n");
    let (ended, evaluation) = bridge(&site, &["evaluate", broken.to_str().unwrap()]);
    assert_eq!(
        (ended.code, &evaluation["unreadable"][0]["line"]),
        (Some(1), &json!(1)),
        "{ended:?}"
    );
    let ended = site.run(&["bridge", "evaluate", set, "--statement", "x.md"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
}
