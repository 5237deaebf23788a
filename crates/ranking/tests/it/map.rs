//! Which files are central, and which directories use which.

use moss_ranking::{RankedIndex, RankedView, TextAnalyzer};
use moss_sdk::RelPath;

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn index(files: &[(&str, &str)]) -> RankedIndex {
    let (mut index, mut analyzer) = (RankedIndex::default(), TextAnalyzer::default());
    for (name, text) in files {
        index.put(&analyzer.analyze(&path(name), text));
    }
    index.freeze();
    index
}

const FILES: [(&str, &str); 5] = [
    ("base/store.rs", "pub struct FileStore;\nimpl FileStore {\n    pub fn open_store() {}\n}\n"),
    ("net/client.rs", "fn run_client() {\n    FileStore::open_store();\n}\n"),
    ("net/server.rs", "fn run_server() {\n    FileStore::open_store();\n    run_client();\n}\n"),
    ("app/main.rs", "fn start_all() {\n    run_server();\n    run_client();\n}\n"),
    ("tests/all.rs", "fn t() {\n    start_all();\n    start_all();\n}\n"),
];

#[test]
fn what_everything_leads_to_is_central() {
    let index = index(&FILES);
    let view = index.view(&RankedView::default(), &mut |_| true);
    let map = index.rank_files(&view).beneath(&RelPath::root());
    let files: Vec<_> = map.files.iter().map(|file| (file.path.as_str(), file.used_by)).collect();
    // Tests use everything and say nothing of what is central.
    assert_eq!(files, [("base/store.rs", 2), ("net/client.rs", 2), ("net/server.rs", 1)]);
    assert_eq!(map.files[0].names, ["FileStore", "open_store"]);
    let module = |name: &str| map.modules.iter().find(|module| module.path.as_str() == name);
    let uses = |name: &str| {
        let uses = module(name).unwrap().uses.iter();
        uses.map(|path| path.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((uses("app"), uses("net")), (vec!["net".to_owned()], vec!["base".to_owned()]));
    assert_eq!(module("base").unwrap().used_by, 1);

    let beneath = index.rank_files(&view).beneath(&path("net"));
    let files: Vec<_> = beneath.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["net/client.rs", "net/server.rs"]);
}

#[test]
fn directories_say_which_others_they_use_and_how_many_use_them() {
    let index = index(&FILES);
    let view = index.view(&RankedView::default(), &mut |_| true);
    let modules = |beneath: &RelPath| {
        let modules = index.rank_files(&view).beneath(beneath).modules.into_iter();
        let one = |module: moss_sdk::code_map::UsingModule| {
            let uses: Vec<_> = module.uses.iter().map(RelPath::to_string).collect();
            format!("{} -> {} ({})", module.path, uses.join(", "), module.used_by)
        };
        modules.map(one).collect::<Vec<_>>()
    };
    // Those with most links first; within one directory nothing counts.
    assert_eq!(modules(&RelPath::root()), ["net -> base (1)", "app -> net (0)", "base ->  (1)"]);
    assert_eq!(modules(&path("app")), ["app -> net (0)", "net ->  (1)"]);
    assert_eq!(modules(&path("base")), Vec::<String>::new());
}

#[test]
fn a_name_of_another_language_is_not_meant_nor_one_that_the_file_declares_itself() {
    let index = index(&[
        ("a.rs", "pub fn open_store() {}\n"),
        ("b.rs", "fn go() { open_store(); }\n"),
        ("c.py", "def open_store():\n    pass\n"),
        ("d.rs", "fn open_store() {}\nfn run() { open_store(); }\n"),
        ("web/e.ts", "export class StoreView {}\n"),
        ("web/f.js", "new StoreView();\n"),
    ]);
    let view = index.view(&RankedView::default(), &mut |_| true);
    let map = index.rank_files(&view).beneath(&RelPath::root());
    let mut files: Vec<_> = map.files.iter().map(|f| (f.path.as_str(), f.used_by)).collect();
    files.sort_unstable();
    assert_eq!(files, [("a.rs", 1), ("d.rs", 1), ("web/e.ts", 1)]);
}

#[test]
fn what_may_not_be_seen_uses_nothing() {
    let index = index(&FILES);
    let view = index.view(&RankedView::default(), &mut |path| path.as_str() != "net/server.rs");
    let map = index.rank_files(&view).beneath(&RelPath::root());
    let files: Vec<_> = map.files.iter().map(|file| (file.path.as_str(), file.used_by)).collect();
    assert_eq!(files, [("base/store.rs", 1), ("net/client.rs", 1)]);
    let empty = RankedIndex::default();
    let view = empty.view(&RankedView::default(), &mut |_| true);
    assert_eq!(
        empty.rank_files(&view).beneath(&RelPath::root()),
        moss_sdk::code_map::CodeMap::default()
    );
}

#[test]
fn the_name_of_a_type_that_is_short_for_a_word_is_one_of_its_file() {
    let index = index(&[
        ("a.rs", "pub struct Config;\n"),
        ("b.rs", "fn go_on(config: Config) {}\n"),
        ("c.rs", "fn run_all(config: Config) {}\n"),
    ]);
    let view = index.view(&RankedView::default(), &mut |_| true);
    let map = index.rank_files(&view).beneath(&RelPath::root());
    assert_eq!((map.files[0].path.as_str(), map.files[0].used_by), ("a.rs", 2));
}
