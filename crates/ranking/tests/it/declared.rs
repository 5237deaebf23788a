//! What declares a name, exactly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use moss_ranking::{RankedIndex, RankedView, TextAnalyzer};
use moss_sdk::RelPath;
use moss_sdk::code_search::{CodeSearch, CodeSearchGoal};

fn index(files: &[(&str, &str)]) -> RankedIndex {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    for (path, text) in files {
        index.put(&analyzer.analyze(&RelPath::parse(path).unwrap(), text));
    }
    index.freeze();
    index
}

/// The declarations of some names as `path:first-last kind container.name`, but for those of hidden files.
fn declared(index: &RankedIndex, names: &[&str], hidden: &str) -> Vec<String> {
    declared_near(index, names, hidden, None)
}

/// As `declared`, what is near to a file first.
fn declared_near(
    index: &RankedIndex,
    names: &[&str],
    hidden: &str,
    near: Option<&str>,
) -> Vec<String> {
    let search = CodeSearch {
        goal: CodeSearchGoal::Declared {
            names: names.iter().map(|&name| name.to_owned()).collect(),
            near: near.map(|near| RelPath::parse(near).unwrap()),
        },
        wants: Arc::new(|_| true),
        hits_max: 10,
        hits_of_file_max: 10,
    };
    let view = index.view(&RankedView::default(), &mut |path| path.as_str() != hidden);
    let one = |hit: &moss_sdk::code_search::CodeHit| {
        let (first, last) = hit.lines;
        let container = hit.container.clone().unwrap_or_default();
        let name = hit.name.clone().unwrap_or_default();
        format!("{}:{first}-{last} {} {container}.{name}", hit.path, hit.kind.unwrap_or_default())
    };
    index.answer(&search, &view, true).iter().map(one).collect()
}

#[test]
fn every_declaration_of_a_name_is_found_with_all_its_lines() {
    let long = format!("# Doc.\n\ndef long():\n{}", "    step()\n".repeat(200));
    let index = index(&[
        (
            "src/A.java",
            "class A {\n  void run(int a) {\n  }\n  void run(long a) {\n  }\n  void Run() {\n  }\n}\n",
        ),
        ("src/long.py", &long),
        ("tests/a.py", "def run():\n    pass\n"),
        ("b.py", "def run():\n    pass\n"),
    ]);
    assert_eq!(
        declared(&index, &["run", "long"], ""),
        [
            "b.py:1-2 function .run",
            "src/A.java:2-3 method A.run",
            "src/A.java:4-5 method A.run",
            "tests/a.py:1-2 function .run",
            "src/long.py:3-203 function .long",
        ]
    );
    assert_eq!(declared(&index, &["Run"], ""), ["src/A.java:6-7 method A.Run"]);
    assert_eq!(declared(&index, &["ru", ""], ""), [""; 0]);
    assert_eq!(declared(&index, &["run"], "src/A.java").len(), 2);
}

#[test]
fn a_name_that_is_declared_often_takes_no_room_from_others_and_what_is_near_comes_first() {
    let paths: Vec<String> =
        (0..40).map(|n| format!("{}/m{n:02}.py", if n < 30 { "a" } else { "z/deep" })).collect();
    let often = "def new():\n    pass\n";
    let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), often)).collect();
    files.push(("a/one.py", "def parse():\n    pass\n"));
    files.push(("z/two.py", "def parse():\n    pass\n"));
    let index = index(&files);
    let found = declared_near(&index, &["new", "parse"], "", Some("z/deep/x.py"));
    assert_eq!(found.len(), 10);
    assert_eq!(found[0], "z/deep/m30.py:1-2 function .new");
    assert_eq!(found[8..], ["z/two.py:1-2 function .parse", "a/one.py:1-2 function .parse"]);
    assert_eq!(declared(&index, &["new"], "")[0], "a/m00.py:1-2 function .new");
}

#[test]
fn no_more_files_are_looked_at_than_there_is_room_for() {
    let paths: Vec<String> = (0..30).map(|n| format!("m{n:02}.py")).collect();
    let text = "def new():\n    pass\ndef parse():\n    pass\n";
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), text)).collect();
    let index = index(&files);
    let looked = Arc::new(AtomicUsize::new(0));
    let looks = Arc::clone(&looked);
    let wants = move |path: &RelPath| {
        looks.fetch_add(1, Ordering::Relaxed);
        path.as_str() != "m00.py"
    };
    let search = CodeSearch {
        goal: CodeSearchGoal::Declared {
            names: ["new", "parse", "missing"].map(str::to_owned).to_vec(),
            near: None,
        },
        wants: Arc::new(wants),
        hits_max: 4,
        hits_of_file_max: 4,
    };
    let view = index.view(&RankedView::default(), &mut |_| true);
    let hits = index.answer(&search, &view, true);
    let found: Vec<_> = hits
        .iter()
        .map(|hit| format!("{} {}", hit.path, hit.name.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(found, ["m01.py new", "m02.py new", "m01.py parse", "m02.py parse"]);
    assert_eq!(looked.load(Ordering::Relaxed), 6, "the four, and the first of each name");
}

/// The first results of a query as `path container.name`.
fn first(index: &RankedIndex, query: &str, count: usize) -> Vec<String> {
    let search = CodeSearch {
        goal: CodeSearchGoal::Question(query.to_owned()),
        wants: Arc::new(|_| true),
        hits_max: count,
        hits_of_file_max: 3,
    };
    let view = index.view(&RankedView::default(), &mut |_| true);
    let one = |hit: &moss_sdk::code_search::CodeHit| {
        let container = hit.container.clone().unwrap_or_default();
        format!("{} {container}.{}", hit.path, hit.name.clone().unwrap_or_default())
    };
    index.answer(&search, &view, true).iter().map(one).collect()
}

#[test]
fn what_is_said_before_a_name_may_be_a_module_or_a_package() {
    let index = index(&[
        (
            "src/requests/structures.py",
            "class LookupDict:\n    @overload\n    def get(self, key: str) -> str: ...\n\n    @overload\n    \
             def get(self, key: int) -> int: ...\n\n    def get(self, key, default=None):\n        \
             return self.requests.get(key, default)\n",
        ),
        ("src/requests/api.py", "def get(url, params=None):\n    return request('get', url)\n"),
        ("tests/test_api.py", "def get(requests):\n    return requests.get('get')\n"),
        ("errors.go", "package gin\n\nfunc (msg *Error) JSON() any {\n\treturn binding.JSON\n}\n"),
        ("binding/binding.go", "package binding\n\nvar JSON = jsonBinding{}\n"),
        ("src/Axios.js", "class Axios {\n  request(url) {\n    return url;\n  }\n}\n"),
        ("src/request.js", "function request(axios) {\n  return axios.request;\n}\n"),
        ("src/macros.rs", "macro_rules! say_hello { () => { 1 }; }\n"),
    ]);
    for (query, expected) in [
        (
            "requests.get",
            &[
                "src/requests/api.py .get",
                "src/requests/structures.py LookupDict.get",
                "tests/test_api.py .get",
            ][..],
        ),
        ("LookupDict.get", &["src/requests/structures.py LookupDict.get"]),
        ("binding.JSON", &["binding/binding.go .JSON", "errors.go Error.JSON"]),
        ("(*Error).JSON", &["errors.go Error.JSON"]),
        ("Axios.prototype.request", &["src/Axios.js Axios.request"]),
        ("say_hello!", &["src/macros.rs .say_hello"]),
    ] {
        assert_eq!(first(&index, query, expected.len()), expected, "{query}");
    }
}
