//! The smallest splices between a span of a text and its replacement.

use std::ops::Range;

use moss_sdk::edit::Splice;

use crate::lines::without_line_end;

/// Finds the splices that turn a span into a new text, where line ends compare equal. Lines that
/// both start or end with are left out; a line that replaces one line keeps its line end.
pub fn splices(text: &str, range: Range<usize>, new: &str) -> Vec<Splice> {
    let old: Vec<&str> = text[range.clone()].split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| same(old, new)).count();
    let tail_max = old.len().min(new.len()) - head;
    let tails = old.iter().rev().zip(new.iter().rev());
    let tail = tails.take(tail_max).take_while(|(old, new)| same(old, new)).count();
    let start = range.start + old[..head].concat().len();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);

    let paired = old.len() == new.len()
        && old.iter().zip(new).all(|(old, new)| old.ends_with('\n') == new.ends_with('\n'));
    if !paired {
        let end = start + old.concat().len();
        return vec![Splice { range: start..end, text: new.concat() }];
    }
    let mut splices = Vec::new();
    let mut at = start;
    for (old, new) in old.iter().zip(new) {
        let (content, replacement) = (without_line_end(old), without_line_end(new));
        if content != replacement {
            let range = at..at + content.len();
            splices.push(Splice { range, text: replacement.to_owned() });
        }
        at += old.len();
    }
    splices
}

fn same(old: &str, new: &str) -> bool {
    old.ends_with('\n') == new.ends_with('\n') && without_line_end(old) == without_line_end(new)
}
