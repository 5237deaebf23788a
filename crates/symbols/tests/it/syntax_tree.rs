//! The nodes of a text with their places.

use moss_symbols::{Language, Outliner};

#[test]
fn nodes_are_listed_from_the_outside_in_with_their_places() {
    let text = "a: [b]\n";
    let tree = Outliner::default().syntax_tree(Language::Yaml, text).unwrap();
    assert_eq!(tree.errors, []);
    let listed: Vec<_> = tree
        .nodes
        .iter()
        .map(|node| {
            (
                node.kind.as_str(),
                node.depth,
                &text[node.range.start as usize..node.range.end as usize],
            )
        })
        .filter(|(kind, ..)| ["block_mapping_pair", ":", "flow_sequence", "["].contains(kind))
        .collect();
    assert_eq!(
        listed,
        [
            ("block_mapping_pair", 4, "a: [b]"),
            (":", 5, ":"),
            ("flow_sequence", 6, "[b]"),
            ("[", 7, "["),
        ]
    );
}

#[test]
fn a_text_that_does_not_parse_has_errors() {
    for text in ["a: [\n", "a: b: c\n", "a:\n\tb: 1\n"] {
        let tree = Outliner::default().syntax_tree(Language::Yaml, text).unwrap();
        assert!(!tree.errors.is_empty(), "{text}");
    }
}
