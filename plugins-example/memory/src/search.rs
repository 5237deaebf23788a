//! Which notes answer a question best. Pure.

use std::cmp::Reverse;

use crate::Found;

/// Returns the notes that have all tags and at least one word of the query, the best first: those
/// with the most words, then the newest. Without words every note has all of them.
pub(crate) fn best(notes: Vec<Found>, query: &str, tags: &[String]) -> Vec<Found> {
    let query = query.to_lowercase();
    let is_between = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
    let words: Vec<&str> = query.split(is_between).filter(|word| !word.is_empty()).collect();
    let tags: Vec<String> = tags.iter().map(|tag| tag.trim().to_lowercase()).collect();
    let mut ranked: Vec<(usize, Found)> = notes
        .into_iter()
        .filter(|found| tags.iter().all(|tag| found.note.tags.contains(tag)))
        .map(|found| (score(&found, &words), found))
        .filter(|(score, _)| words.is_empty() || *score > 0)
        .collect();
    ranked.sort_by(|(left_score, left), (right_score, right)| {
        let newest = |found: &Found| Reverse((found.note.saved_at.clone(), found.id.clone()));
        right_score.cmp(left_score).then_with(|| newest(left).cmp(&newest(right)))
    });
    ranked.into_iter().map(|(_, found)| found).collect()
}

/// How many of the words are in a note.
fn score(found: &Found, words: &[&str]) -> usize {
    let text = found.note.text.to_lowercase();
    let is_in = |word: &&&str| {
        text.contains(**word) || found.note.tags.iter().any(|tag| tag.contains(**word))
    };
    words.iter().filter(is_in).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Note;

    fn found(id: &str, text: &str, tags: &[&str], saved_at: &str) -> Found {
        let tags = tags.iter().map(ToString::to_string).collect();
        let note = Note { text: text.to_owned(), tags, saved_at: saved_at.to_owned() };
        Found { id: id.to_owned(), note }
    }

    #[test]
    fn notes_are_found_by_words_and_tags() {
        let notes = [
            found("a", "Tests need a database", &["tests"], "2026-01-01"),
            found("b", "The database is PostgreSQL", &["ops"], "2026-01-02"),
            found("c", "Releases are tagged by CI", &["ops", "ci"], "2026-01-03"),
        ];
        for (query, tags, expected) in [
            ("", &[][..], "c b a"),
            ("database", &[], "b a"),
            ("DATABASE tests", &[], "a b"),
            ("postgre, release!", &[], "c b"),
            ("ci", &[], "c"),
            ("", &["OPS"], "c b"),
            ("database", &["ops"], "b"),
            ("nothing", &[], ""),
            ("", &["none"], ""),
        ] {
            let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
            let ids: Vec<String> =
                best(notes.to_vec(), query, &tags).into_iter().map(|found| found.id).collect();
            assert_eq!(ids.join(" "), expected, "{query} {tags:?}");
        }
    }
}
