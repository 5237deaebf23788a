//! What counts of a chunk beside the worth of each of its words: how much of its name and how much of the
//! question is in the other, and whether it is of the kind that the question describes.

use moss_symbols::DeclarationKind;

use crate::shape::{QuestionShape, is_predicate};
use crate::weights::Weights;

/// In how many steps rarities are counted.
const STEPS: f32 = 128.0;

/// What a chunk is worth, and which words of a question it has. Every chunk of an index has one for each
/// question: hence the few bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChunkMark {
    pub(super) score: f32,
    /// A bit for each of those words.
    pub(super) words: u32,
    /// Of those in its name, how rare they are together, and how many.
    named: u16,
    name_words: u8,
}

/// What a chunk declares, as far as it counts here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordedName<'a> {
    pub(super) kind: Option<DeclarationKind>,
    pub(super) name: Option<&'a str>,
    /// How many words the name has, and itself where those are several.
    pub(super) words: u16,
}

// === impl ChunkMark ===

impl ChunkMark {
    /// Notes a word that the chunk has: its bit, and how rare it is.
    pub(super) fn note(&mut self, word: u32, rarity: f32, is_named: bool) {
        self.words |= word;
        if is_named {
            // Beyond its bounds such a cast saturates.
            self.named = self.named.saturating_add((rarity * STEPS) as u16);
            self.name_words = self.name_words.saturating_add(1);
        }
    }

    /// What a chunk is worth, of which its score says what its words alone are worth. `covered` is how much of
    /// the question it has.
    pub(super) fn worth(
        self,
        covered: f32,
        declared: WordedName<'_>,
        shape: QuestionShape,
        weights: &Weights,
    ) -> f32 {
        let named = f32::from(self.named) / STEPS;
        let part = self.part_of_name(declared.words);
        // Half of a long name is far less than a whole short one.
        let score = self.score + weights.whole_name * named * part * part;
        let fits = if is_of_shape(declared, shape) { weights.shape } else { 0.0 };
        score * (1.0 + weights.covered * covered) * (1.0 + fits)
    }

    /// What it is worth at most.
    pub(super) fn worth_max(self, weights: &Weights) -> f32 {
        let named = f32::from(self.named) / STEPS;
        let score = self.score + weights.whole_name * named;
        score * (1.0 + weights.covered) * (1.0 + weights.shape)
    }

    /// The part of the words of its name that the question has.
    fn part_of_name(self, words: u16) -> f32 {
        let words = if words > 2 { words - 1 } else { words };
        (f32::from(self.name_words) / f32::from(words.max(1))).min(1.0)
    }
}

/// Whether something declared is of the kind that a question describes.
fn is_of_shape(declared: WordedName<'_>, shape: QuestionShape) -> bool {
    let kind = declared.kind;
    let is_function = matches!(kind, Some(DeclarationKind::Function | DeclarationKind::Method));
    let is_type = matches!(
        kind,
        Some(
            DeclarationKind::Class
                | DeclarationKind::Struct
                | DeclarationKind::Enum
                | DeclarationKind::Interface
                | DeclarationKind::Trait
                | DeclarationKind::Type
        )
    );
    let is_answer = is_function && shape.is_predicate && declared.name.is_some_and(is_predicate);
    is_answer || is_function && shape.is_deed || is_type && shape.is_thing
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn worth(mark: ChunkMark, covered: f32, declared: WordedName<'_>, question: &str) -> f32 {
        mark.worth(covered, declared, QuestionShape::of(question), &Weights::default())
    }

    /// A mark of a chunk with some words in its name.
    fn named(words: &[f32]) -> ChunkMark {
        let mut mark = ChunkMark { score: 1.0, ..ChunkMark::default() };
        (0..).zip(words).for_each(|(at, rarity)| mark.note(1 << at, *rarity, true));
        mark
    }

    #[test]
    fn a_whole_name_is_worth_more_than_part_of_one() {
        let of_words = |words| WordedName { words, ..WordedName::default() };
        let of = |words| worth(named(&[2.0]), 0.5, of_words(words), "");
        assert!(of(1) > of(3) && of(3) > of(5), "{} {} {}", of(1), of(3), of(5));
        // Two words, and both as one.
        assert_eq!(worth(named(&[1.0, 1.0]), 0.5, of_words(3), ""), of(1));
    }

    #[test]
    fn more_of_the_question_is_worth_more() {
        let of = |covered| worth(named(&[]), covered, WordedName::default(), "");
        assert!(of(1.0) > of(0.5) && of(0.5) > of(0.0));
        assert!(of(0.0).is_finite());
    }

    proptest! {
        #[test]
        fn nothing_is_worth_more_than_at_most(
            words in prop::collection::vec(0.0_f32..20.0, 0..8),
            covered in 0.0_f32..=1.0,
            name_words in 0_u16..9,
            question in prop::sample::select(vec!["returns it", "a thing", "whether it is", "fix it"]),
        ) {
            let declared = WordedName {
                kind: Some(DeclarationKind::Function),
                name: Some("is_it"),
                words: name_words,
            };
            let mark = named(&words);
            let most = mark.worth_max(&Weights::default());
            prop_assert!(worth(mark, covered, declared, question) <= most * 1.000_1);
        }
    }

    #[test]
    fn what_is_described_is_worth_more() {
        use DeclarationKind::{Function, Struct, Variable};
        for (question, kind, name, is_meant) in [
            ("returns the number of entries", Function, "count", true),
            ("returns the number of entries", Struct, "Count", false),
            ("a number of entries", Struct, "Count", true),
            ("a number of entries", Function, "count", false),
            ("whether there are entries", Function, "has_entries", true),
            ("whether there are entries", Function, "entries", false),
            ("returns the number of entries", Variable, "count", false),
            ("count entries", Function, "count", false),
        ] {
            let declared = WordedName { kind: Some(kind), name: Some(name), words: 1 };
            let found = worth(named(&[]), 0.0, declared, question);
            assert_eq!(found > 1.0, is_meant, "{question}: {kind:?} {name}");
        }
    }
}
