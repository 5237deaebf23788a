//! Which words of a question a hit has, and where.

use moss_sdk::code_search::{CodeHit, MatchField, MatchedWord};

use super::ChunkPlace;
use super::scoring::ChunkScores;
use crate::postings::TermPosting;
use crate::question::{TermGroup, TermKind};
use crate::weights::{BODY, CONTAINER, DOCUMENTATION, FIELDS, PATH, SYMBOL};

// === impl ChunkScores ===

impl ChunkScores<'_> {
    /// Says of each hit which words it has.
    pub(super) fn explain(&self, groups: &[&TermGroup], hits: &mut [(CodeHit, ChunkPlace)]) {
        for group in groups.iter().filter(|group| group.kind != TermKind::Joined) {
            for term in &group.terms {
                for (place, held) in self.index.segments.iter().enumerate() {
                    let mut of_segment: Vec<_> =
                        hits.iter_mut().filter(|(_, (segment, _))| *segment == place).collect();
                    if of_segment.is_empty() {
                        continue;
                    }
                    let Some(postings) = held.segment.postings(term) else { continue };
                    let last = of_segment.iter().map(|(_, (_, chunk))| *chunk).max().unwrap_or(0);
                    for posting in postings.take_while(|posting| posting.chunk <= last) {
                        let mine = of_segment.iter_mut().find(|(_, (_, at))| *at == posting.chunk);
                        if let Some((hit, _)) = mine {
                            note(hit, (&group.shown, term), &posting);
                        }
                    }
                }
            }
        }
    }
}

fn note(hit: &mut CodeHit, (word, term): (&str, &str), posting: &TermPosting) {
    const PLACES: [(usize, MatchField); FIELDS] = [
        (SYMBOL, MatchField::Name),
        (CONTAINER, MatchField::Container),
        (PATH, MatchField::Path),
        (DOCUMENTATION, MatchField::Documentation),
        (BODY, MatchField::Text),
    ];
    let Some((_, place)) = PLACES.into_iter().find(|(field, _)| posting.counts[*field] > 0) else {
        return;
    };
    match hit.matched.iter_mut().find(|known| known.word == word) {
        Some(known) if known.place <= place => {}
        Some(known) => (known.place, known.term) = (place, term.to_owned()),
        None => {
            let (word, term) = (word.to_owned(), term.to_owned());
            hit.matched.push(MatchedWord { word, term, place });
        }
    }
}
