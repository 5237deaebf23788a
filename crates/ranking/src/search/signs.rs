//! What counts of a chunk beside the worth of each of its words: how much of its name and how much of the
//! question is in the other, and whether it is of the kind that the question describes.

use moss_symbols::DeclarationKind;

use crate::shape::{QuestionShape, is_predicate};
use crate::weights::Weights;

/// In how many steps rarities are counted.
const STEPS: f32 = 128.0;

/// Which words of a question a chunk has, weighed by how rare they are. Every chunk of an index has one for
/// each question: hence the few bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChunkSigns {
    /// Of those in its name, how rare they are together, and how many.
    named: u16,
    name_words: u8,
    /// Of those anywhere, how rare they are together.
    covered: u16,
}

/// What a chunk declares, as far as it counts here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WordedName<'a> {
    pub(super) kind: Option<DeclarationKind>,
    pub(super) name: Option<&'a str>,
    /// How many words the name has, and itself where those are several.
    pub(super) words: u16,
}

// === impl ChunkSigns ===

impl ChunkSigns {
    /// Notes a word that the chunk has.
    pub(super) fn note(&mut self, rarity: f32, is_named: bool) {
        // Beyond its bounds such a cast saturates.
        let rarity = (rarity * STEPS) as u16;
        self.covered = self.covered.saturating_add(rarity);
        if is_named {
            self.named = self.named.saturating_add(rarity);
            self.name_words = self.name_words.saturating_add(1);
        }
    }

    /// What a chunk is worth whose words alone are worth a score. `asked` is how rare all words of the
    /// question are together.
    pub(super) fn worth(
        self,
        score: f32,
        asked: f32,
        declared: WordedName<'_>,
        shape: QuestionShape,
        weights: &Weights,
    ) -> f32 {
        let (named, covered) = (f32::from(self.named) / STEPS, f32::from(self.covered) / STEPS);
        let covered = (covered / asked.max(f32::MIN_POSITIVE)).min(1.0);
        let part = self.part_of_name(declared.words);
        // Half of a long name is far less than a whole short one.
        let score = score + weights.whole_name * named * part * part;
        let fits = if is_of_shape(declared, shape) { weights.shape } else { 0.0 };
        score * (1.0 + weights.covered * covered) * (1.0 + fits)
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
    use super::*;

    fn worth(signs: ChunkSigns, declared: WordedName<'_>, question: &str) -> f32 {
        signs.worth(1.0, 4.0, declared, QuestionShape::of(question), &Weights::default())
    }

    fn signs(words: &[(f32, bool)]) -> ChunkSigns {
        let mut signs = ChunkSigns::default();
        words.iter().for_each(|(rarity, is_named)| signs.note(*rarity, *is_named));
        signs
    }

    #[test]
    fn a_whole_name_is_worth_more_than_part_of_one() {
        let of_words = |words| WordedName { words, ..WordedName::default() };
        let of = |words| worth(signs(&[(2.0, true)]), of_words(words), "");
        assert!(of(1) > of(3) && of(3) > of(5), "{} {} {}", of(1), of(3), of(5));
        // Two words, and both as one.
        assert_eq!(worth(signs(&[(1.0, true), (1.0, true)]), of_words(3), ""), of(1));
    }

    #[test]
    fn more_of_the_question_is_worth_more() {
        let of = |words: &[(f32, bool)]| worth(signs(words), WordedName::default(), "");
        assert!(of(&[(1.0, false), (1.0, false)]) > of(&[(1.0, false)]));
        assert!(of(&[(1.0, false)]) > of(&[]));
        assert!(of(&[]).is_finite());
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
            let found = worth(ChunkSigns::default(), declared, question);
            assert_eq!(found > 1.0, is_meant, "{question}: {kind:?} {name}");
        }
    }
}
