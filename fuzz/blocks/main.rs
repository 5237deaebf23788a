//! Whatever text may hold blocks: reading them never panics, invents nothing, and what was read can
//! be written and is read as the same again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use moss_builtin_tools::blocks::{Split, parse};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(blocks) = parse(text) else { return };
    assert!(!blocks.is_empty(), "no block is an error");
    assert!(blocks.is_sorted_by(|a, b| a.line < b.line) && blocks[0].line > 0);
    let mut all = String::new();
    let mut first_splits = Vec::new();
    for block in &blocks {
        let splits: Vec<Split> = block.splits().collect();
        assert!(!splits.is_empty() && splits.len() == block.splits_count());
        for (index, split) in splits.iter().enumerate() {
            assert!(text.contains(&split.search) && text.contains(&split.replace), "{split:?}");
            let rendered = rendered(split);
            let Ok(again) = parse(&rendered) else { panic!("unreadable: {rendered:?}") };
            let [again] = &again[..] else { panic!("several blocks: {rendered:?}") };
            assert_eq!(again.splits_count(), splits.len());
            assert_eq!(again.splits().nth(index).as_ref(), Some(split), "{rendered:?}");
        }
        all.push_str(&rendered(&splits[0]));
        first_splits.push(splits[0].clone());
    }
    let Ok(again) = parse(&all) else { panic!("unreadable together: {all:?}") };
    let again: Vec<Split> = again.iter().filter_map(|block| block.splits().next()).collect();
    assert_eq!(again, first_splits);
});

fn rendered(Split { search, replace }: &Split) -> String {
    format!("------- SEARCH\n{search}=======\n{replace}+++++++ REPLACE\n")
}
