//! Questions over a few files in memory: what is found, why, and what is refused.

use moss_sdk::testing::MemoryHost;
use moss_sdk::tool::erased;
use moss_sdk::{ErrorCode, ToolError};
use serde_json::{Value, json};

use super::*;

const CLIENT: &str = "use std::time::Duration;\n\n/// Sends requests to a server.\npub struct Client;\n\nimpl Client {\n    /// Tries a request again after a pause that doubles each time.\n    fn retry_with_backoff(&self) {\n        sleep(Duration::from_secs(1));\n    }\n\n    /// Sends one request.\n    pub fn send(&self) {\n        self.retry_with_backoff();\n    }\n}\n";
const CONFIG: &str = "def load_config(path):\n    \"\"\"Reads settings from a TOML file.\"\"\"\n    return parse(open(path).read())\n\n\ndef save(path):\n    pass\n";

fn host() -> MemoryHost {
    MemoryHost::new([
        ("src/client.rs", CLIENT),
        ("tool/config.py", CONFIG),
        (
            "tests/retry.rs",
            "#[test]\nfn retry_with_backoff_waits() {\n    retry_with_backoff();\n}\n",
        ),
        ("README.md", "# Retry\n\nRetries use backoff: requests are sent again.\n"),
    ])
}

fn search(host: &MemoryHost, arguments: Value) -> Result<Value, ToolError> {
    host.call(&*erased::<CodebaseSearch>(), arguments)
}

fn first(query: &str) -> (String, String) {
    let found = search(&host(), json!({"query": query})).unwrap();
    let first = &found["results"][0];
    let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
    (text("path"), text("symbol"))
}

#[test]
fn questions_are_answered_in_both_languages() {
    for (query, path, symbol) in [
        ("how are failed requests retried", "src/client.rs", "retry_with_backoff"),
        ("reading configuration settings", "tool/config.py", "load_config"),
        ("读取配置文件", "tool/config.py", "load_config"),
        ("指数退避重试在哪里", "src/client.rs", "retry_with_backoff"),
        ("Client::send", "src/client.rs", "send"),
        ("loadConfig", "tool/config.py", "load_config"),
        ("test of the backoff", "tests/retry.rs", "retry_with_backoff_waits"),
        ("documentation of retries", "README.md", "Retry"),
    ] {
        assert_eq!(first(query), (path.to_owned(), symbol.to_owned()), "{query}");
    }
}

#[test]
fn a_result_says_where_what_and_why() {
    let found = search(&host(), json!({"query": "retry backoff", "limit": 1})).unwrap();
    assert_eq!(
        found,
        json!({
            "results": [{
                "path": "src/client.rs", "line": 7, "end_line": 10,
                "symbol": "retry_with_backoff", "kind": "method", "container": "Client", "score": 1.0,
                "why": "name: retry, backoff",
                "snippet": "    /// Tries a request again after a pause that doubles each time.\n    fn retry_with_backoff(&self) {\n        sleep(Duration::from_secs(1));\n    }",
                "snippet_line": 7
            }],
            "files_searched": 4, "files_pending": 0, "truncated": false
        })
    );
}

#[test]
fn a_result_for_a_chinese_question_says_what_the_file_has() {
    let host = host();
    host.write("src/zh.rs", "/// 重试请求\nfn again() {}\n");
    let found = search(&host, json!({"query": "指数退避重试"})).unwrap();
    let why = |path: &str| {
        let results = found["results"].as_array().unwrap();
        let result = results.iter().find(|one| one["path"] == path).unwrap();
        result["why"].as_str().unwrap().to_owned()
    };
    let english = why("src/client.rs");
    assert!(english.contains("retry (重试)") && english.contains("backoff ("), "{english}");
    assert_eq!(why("src/zh.rs"), "documentation: 重试");
}

#[test]
fn what_belongs_to_a_place_is_found() {
    let found = search(&host(), json!({"query": "src/client.rs:9"})).unwrap();
    let names: Vec<&str> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["symbol"].as_str())
        .collect();
    assert!(names.contains(&"send") && !names.contains(&"retry_with_backoff"), "{found}");
    let error = search(&host(), json!({"query": "src/client.rs:900"})).unwrap_err();
    assert!(error.to_string().contains("16 lines"), "{error}");
}

#[test]
fn what_belongs_to_a_place_says_why_in_its_words() {
    let host = MemoryHost::new([
        ("a.py", "def check():\n    verify_cookies(retries)\n"),
        ("b.py", "def verify_cookies(jar):\n    pass\n\n\ndef other(retries):\n    pass\n"),
    ]);
    let found = search(&host, json!({"query": "", "related_to": "a.py:2"})).unwrap();
    let why = |at: usize| found["results"][at]["why"].as_str().unwrap();
    assert!(why(0).starts_with("used there; name: cookies, verify"), "{found}");
    assert!(why(1).contains("retries"), "{found}");
}

#[test]
fn a_place_is_also_a_parameter_of_its_own() {
    let host = host();
    let by_query = search(&host, json!({"query": "src/client.rs:9"})).unwrap();
    for query in ["", "src/client.rs:9"] {
        let arguments = json!({"query": query, "related_to": "src/client.rs:9"});
        assert_eq!(search(&host, arguments).unwrap(), by_query, "{query}");
    }
    // As compilers print it.
    for arguments in [
        json!({"query": "src/client.rs:9:5"}),
        json!({"query": "", "related_to": "--> src/client.rs:9:5"}),
    ] {
        assert_eq!(search(&host, arguments.clone()).unwrap(), by_query, "{arguments}");
    }
    let both = json!({"query": "settings", "related_to": "src/client.rs:9"});
    let found = search(&host, both).unwrap();
    assert_eq!(found["results"], by_query["results"]);
    assert!(found["note"].as_str().unwrap().contains("`query` was not asked"), "{found}");
    let neither = json!({"query": "retry backoff", "related_to": ""});
    let asked = search(&host, json!({"query": "retry backoff"})).unwrap();
    assert_eq!(search(&host, neither).unwrap(), asked);
    for (related_to, code) in [
        ("src/client.rs:900", ErrorCode::InvalidArguments),
        ("src/client.rs", ErrorCode::InvalidArguments),
        ("the client", ErrorCode::InvalidArguments),
        ("src/gone.rs:9", ErrorCode::NotFound),
    ] {
        let arguments = json!({"query": "retry", "related_to": related_to});
        let error = search(&host, arguments).unwrap_err();
        assert_eq!((error.code, error.hint.is_some()), (code, true), "{related_to}: {error}");
    }
}

#[test]
fn a_place_in_a_file_that_is_not_there_is_an_error_that_names_it() {
    let host = host();
    host.write("secret/there.rs", "fn retry() {}\n");
    host.deny("secret/there.rs");
    let failed = |query: &str| search(&host, json!({"query": query})).unwrap_err();
    for path in ["src/gone.rs", "gone.rs", "src/gone", "secret/there.rs"] {
        let error = failed(&format!("{path}:9"));
        assert_eq!(error.code, ErrorCode::NotFound, "{path}");
        assert!(error.message.starts_with(&format!("{path} is no text file")), "{error}");
        assert!(error.hint.unwrap().contains("file_search"), "{path}");
    }
    // What names no file is a question.
    for query in ["retry:404", "error in line:3", "port 127.0.0.1:8080", "http://localhost:8080"] {
        assert!(search(&host, json!({"query": query})).is_ok(), "{query}");
    }
}

#[test]
fn only_files_of_the_type_are_found() {
    let found = search(&host(), json!({"query": "retry settings", "fileType": "py"})).unwrap();
    let paths =
        found["results"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap());
    assert!(
        paths.clone().count() > 0 && paths.clone().all(|path| path.ends_with(".py")),
        "{found}"
    );
}

#[test]
fn files_of_which_only_a_part_is_known_are_counted() {
    let host = host();
    let minified = format!("let settings = \"{}\";\n", "y".repeat(30_000));
    host.write("vendor/data.js", minified.clone());
    let note = |host: &MemoryHost, arguments: Value| {
        let found = search(host, arguments).unwrap();
        found["note"].as_str().unwrap_or_default().to_owned()
    };
    let asked = || json!({"query": "retry settings"});
    assert!(!note(&host, asked()).contains("a part is known"), "what others made is no news");
    host.write("src/data.js", minified);
    assert!(note(&host, asked()).contains("of 1 files only a part is known"));
    let typed = json!({"query": "retry settings", "fileType": "rs"});
    assert!(!note(&host, typed).contains("a part is known"));
}

#[test]
fn questions_without_words_are_refused_and_long_ones_answered() {
    for query in ["", "   ", "the of and", "?!", "在哪里"] {
        let error = search(&host(), json!({"query": query})).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArguments, "{query}");
    }
    let long = format!("{} retry_with_backoff", "lorem ipsum dolor ".repeat(600));
    assert_eq!(first(&long).1, "retry_with_backoff");
    let nothing = search(&host(), json!({"query": "zebra"})).unwrap();
    assert_eq!(nothing["results"], json!([]));
    assert!(nothing["note"].as_str().unwrap().contains("grep_search"));
}

#[test]
fn denied_files_are_not_found_and_change_no_score() {
    let host = host();
    let before = search(&host, json!({"query": "retry backoff"})).unwrap();
    host.write("secret/retry.rs", "fn retry_backoff() {}\n");
    host.deny("secret/retry.rs");
    let after = search(&host, json!({"query": "retry backoff"})).unwrap();
    assert_eq!(before, after);
}

#[test]
fn results_keep_to_one_bound_whatever_they_are_called() {
    let host = MemoryHost::default();
    let deep = "a_long_name_of_a_directory/".repeat(40);
    for number in 0..60 {
        let name = format!("needle_{number}_{}", "of_many_words_".repeat(10));
        host.write(&format!("{deep}f{number}.rs"), format!("fn {name}() {{\n    needle();\n}}\n"));
    }
    let found = search(&host, json!({"query": "needle", "limit": 50})).unwrap();
    let shown = found["results"].as_array().unwrap().len();
    assert!(found["results"].to_string().len() <= 20_000, "{}", found["results"].to_string().len());
    assert!((10..50).contains(&shown), "{shown}");
    assert_eq!(found["truncated"], true);
    let note = found["note"].as_str().unwrap();
    assert!(note.contains(&format!("{} results were left out", 50 - shown)), "{note}");
    // A word of the question that is a page long does not make the reasons one.
    let host = host_of_word("x".repeat(5_000).as_str());
    let long = search(&host, json!({"query": format!("needle {}", "x".repeat(5_000))})).unwrap();
    let why = long["results"][0]["why"].as_str().unwrap();
    assert!(why.len() < 300, "{}", why.len());
}

/// A file that has a word, and `needle`.
fn host_of_word(word: &str) -> MemoryHost {
    MemoryHost::new([("src/a.rs", format!("/// needle\nfn {word}() {{}}\n").as_str())])
}

#[test]
fn snippets_keep_to_their_bound() {
    let host = MemoryHost::default();
    for number in 0..50 {
        let body = format!("    let needle = {};\n", "x".repeat(120)).repeat(12);
        host.write(&format!("src/f{number}.rs"), format!("fn needle_{number}() {{\n{body}}}\n"));
    }
    let found = search(&host, json!({"query": "needle", "limit": 50})).unwrap();
    assert_eq!(found["results"].as_array().unwrap().len(), 50);
    assert_eq!(found["truncated"], true);
    assert!(found.to_string().len() < 40_000);
}
