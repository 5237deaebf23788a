//! Vectors that a model made of chunks, and which of them are near to that of a question.
//!
//! A vector is known by the hash of what it was made of: texts that come and go, as when a branch is switched,
//! find theirs again. Values are whole numbers of eight bits, and all of them are looked at for each question.

use hashbrown::{HashMap, HashSet};
use moss_sdk::RelPath;

/// Most numbers of a vector.
pub const DIMENSIONS_MAX: usize = 8_192;
/// What the largest number of a vector becomes.
const LARGEST: f32 = 127.0;

/// The hash of what a vector was made of.
pub type PassageKey = [u8; 32];

/// A vector of length 1, in eight bits a number.
#[derive(Debug, Clone, PartialEq)]
pub struct MeaningVector {
    /// What each number is to be multiplied with.
    scale: f32,
    values: Box<[i8]>,
}

/// Vectors by what they were made of, and which chunks of which files have them.
#[derive(Debug, Default)]
pub struct VectorTable {
    /// How many numbers each has; `None` before the first.
    dimensions: Option<usize>,
    places: HashMap<PassageKey, u32>,
    keys: Vec<PassageKey>,
    scales: Vec<f32>,
    values: Vec<i8>,
    files: HashMap<RelPath, Box<[PlacedLines]>>,
    chunks: usize,
}

/// The first and last line of a chunk, and the place of its vector.
type PlacedLines = ((u32, u32), u32);

/// Vectors that are searched, and the one of the question.
#[derive(Debug, Clone, Copy)]
pub struct Meaning<'a> {
    /// The vector of the question.
    pub question: &'a MeaningVector,
    /// Those of chunks, of the same model.
    pub vectors: &'a VectorTable,
}

// === impl MeaningVector ===

impl MeaningVector {
    /// Takes the numbers of a model. None where they are no direction: too many, none, all zero, or not finite.
    pub fn of(numbers: &[f32]) -> Option<Self> {
        if numbers.len() > DIMENSIONS_MAX || !numbers.iter().all(|number| number.is_finite()) {
            return None;
        }
        let length = numbers.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        if length <= 0.0 {
            return None;
        }
        let unit = |number: &f32| (f64::from(*number) / length) as f32;
        let largest = numbers.iter().map(|number| unit(number).abs()).fold(0.0, f32::max);
        let scale = largest / LARGEST;
        // The largest is at most 127 by that.
        let values = numbers.iter().map(|number| (unit(number) / scale).round() as i8).collect();
        Some(Self { scale, values })
    }

    /// Puts one together again from its parts. None where they cannot be those of one.
    pub fn from_parts(scale: f32, values: &[i8]) -> Option<Self> {
        let is_one =
            scale.is_finite() && scale > 0.0 && (1..=DIMENSIONS_MAX).contains(&values.len());
        is_one.then(|| Self { scale, values: values.into() })
    }

    /// What each number is to be multiplied with, and the numbers.
    pub fn parts(&self) -> (f32, &[i8]) {
        (self.scale, &self.values)
    }

    /// How many numbers it has.
    pub fn dimensions(&self) -> usize {
        self.values.len()
    }
}

fn product(one: &[i8], other: &[i8]) -> i32 {
    // As many as there are at most, and as large, fit: without checks several are multiplied at once.
    let products =
        one.iter().zip(other).map(|(one, other)| i32::from(*one).wrapping_mul((*other).into()));
    products.fold(0, i32::wrapping_add)
}

// === impl VectorTable ===

impl VectorTable {
    /// How many numbers each vector has; `None` before the first.
    pub fn dimensions(&self) -> Option<usize> {
        self.dimensions
    }

    /// How many vectors there are, also of texts that are no longer there.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether it has no vector.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many chunks of files have one.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// Whether there is one of a passage.
    pub fn has(&self, key: &PassageKey) -> bool {
        self.places.contains_key(key)
    }

    /// Takes one. Returns whether it is as long as the others: another one is not taken.
    pub fn insert(&mut self, key: PassageKey, vector: &MeaningVector) -> bool {
        let (scale, values) = vector.parts();
        if *self.dimensions.get_or_insert(values.len()) != values.len() {
            return false;
        }
        if !self.has(&key) {
            self.places.insert(key, u32::try_from(self.keys.len()).unwrap_or(u32::MAX));
            self.keys.push(key);
            self.scales.push(scale);
            self.values.extend_from_slice(values);
        }
        true
    }

    /// Says which chunks a file has, in their order. Returns whether there is a vector of each; otherwise the
    /// file has none.
    pub fn set_file(&mut self, path: &RelPath, passages: &[((u32, u32), PassageKey)]) -> bool {
        self.remove_file(path);
        let placed = passages.iter().map(|(lines, key)| Some((*lines, *self.places.get(key)?)));
        let Some(placed) = placed.collect::<Option<Box<[PlacedLines]>>>() else { return false };
        self.chunks += placed.len();
        self.files.insert(path.clone(), placed);
        true
    }

    /// Forgets which chunks a file has; their vectors stay, for the case that it comes back.
    pub fn remove_file(&mut self, path: &RelPath) {
        if let Some(placed) = self.files.remove(path) {
            self.chunks -= placed.len();
        }
    }

    /// The files that have vectors, in no order.
    pub fn files(&self) -> impl Iterator<Item = &RelPath> {
        self.files.keys()
    }

    /// Forgets the vectors of which these files alone have chunks, and the files. Returns whether any was forgotten.
    pub fn forget_files(&mut self, files: &[RelPath]) -> bool {
        let mut doomed: HashSet<u32> = HashSet::new();
        for path in files {
            let placed = self.files.get(path).into_iter().flatten();
            doomed.extend(placed.map(|(_, place)| *place));
            self.remove_file(path);
        }
        for (_, place) in self.files.values().flatten() {
            doomed.remove(place);
        }
        if !doomed.is_empty() {
            self.retain(&|place| !doomed.contains(&place));
        }
        !doomed.is_empty()
    }

    /// Forgets all vectors that no file has.
    pub fn forget_unused(&mut self) {
        let used: HashSet<u32> = self.files.values().flatten().map(|(_, place)| *place).collect();
        self.retain(&|place| used.contains(&place));
    }

    /// Every vector, with the hash of what it was made of.
    pub fn vectors(&self) -> impl Iterator<Item = (&PassageKey, MeaningVector)> {
        (0..self.keys.len()).filter_map(|at| {
            let vector = MeaningVector::from_parts(self.scales[at], self.row(at))?;
            Some((&self.keys[at], vector))
        })
    }

    /// About how much memory it takes.
    pub fn memory_bytes(&self) -> usize {
        let each = 2 * size_of::<PassageKey>() + size_of::<f32>() + size_of::<u32>();
        self.values.len() + self.keys.len() * each + self.chunks * size_of::<PlacedLines>()
    }

    /// How near the chunks of a file are to a question, in their order: from -1 to 1. None where it has no
    /// vectors, or those of other chunks than these.
    pub(crate) fn nearness(
        &self,
        question: &MeaningVector,
        path: &RelPath,
        lines: impl ExactSizeIterator<Item = (u32, u32)>,
    ) -> Option<Vec<f32>> {
        let placed = self.files.get(path)?;
        let is_same = placed.len() == lines.len()
            && placed.iter().zip(lines).all(|((known, _), lines)| *known == lines);
        let (scale, values) = question.parts();
        if !is_same || self.dimensions != Some(values.len()) {
            return None;
        }
        let near = |place: u32| {
            let at = place as usize;
            product(values, self.row(at)) as f32 * scale * self.scales[at]
        };
        Some(placed.iter().map(|(_, place)| near(*place)).collect())
    }

    fn row(&self, at: usize) -> &[i8] {
        let dimensions = self.dimensions.unwrap_or_default();
        &self.values[at * dimensions..(at + 1) * dimensions]
    }

    /// Keeps some vectors, by their places. Those of files are to be among them.
    fn retain(&mut self, keeps: &dyn Fn(u32) -> bool) {
        let mut kept = Self { dimensions: self.dimensions, ..Self::default() };
        let mut moved: HashMap<u32, u32> = HashMap::new();
        for place in (0..).take(self.keys.len()).filter(|place| keeps(*place)) {
            let at = place as usize;
            moved.insert(place, u32::try_from(kept.keys.len()).unwrap_or(u32::MAX));
            kept.keys.push(self.keys[at]);
            kept.scales.push(self.scales[at]);
            kept.values.extend_from_slice(self.row(at));
        }
        kept.places = (0..).zip(&kept.keys).map(|(place, key)| (*key, place)).collect();
        for (path, placed) in std::mem::take(&mut self.files) {
            let placed = placed.iter().map(|(lines, place)| Some((*lines, *moved.get(place)?)));
            if let Some(placed) = placed.collect::<Option<Box<[PlacedLines]>>>() {
                kept.chunks += placed.len();
                kept.files.insert(path, placed);
            }
        }
        *self = kept;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::parse(text).unwrap()
    }

    fn key(number: u8) -> PassageKey {
        [number; 32]
    }

    fn table(vectors: &[(u8, [f32; 3])]) -> VectorTable {
        let mut table = VectorTable::default();
        for (number, numbers) in vectors {
            assert!(table.insert(key(*number), &MeaningVector::of(numbers).unwrap()));
        }
        table
    }

    #[test]
    fn what_is_no_direction_is_no_vector() {
        for numbers in [&[][..], &[0.0, 0.0], &[1.0, f32::NAN], &[f32::INFINITY, 1.0]] {
            assert_eq!(MeaningVector::of(numbers), None, "{numbers:?}");
        }
        assert_eq!(MeaningVector::of(&vec![1.0; DIMENSIONS_MAX + 1]), None);
        assert!(MeaningVector::of(&[f32::MAX, f32::MAX, f32::MIN_POSITIVE]).is_some());
        assert_eq!(MeaningVector::from_parts(f32::NAN, &[1]), None);
        assert_eq!(MeaningVector::from_parts(1.0, &[]), None);
    }

    #[test]
    fn one_of_another_length_is_not_taken() {
        let mut table = table(&[(1, [1.0, 0.0, 0.0])]);
        assert!(!table.insert(key(2), &MeaningVector::of(&[1.0, 0.0]).unwrap()));
        assert_eq!((table.len(), table.dimensions()), (1, Some(3)));
        let short = MeaningVector::of(&[1.0, 0.0]).unwrap();
        assert!(table.set_file(&path("a"), &[((1, 2), key(1))]));
        assert_eq!(table.nearness(&short, &path("a"), [(1, 2)].into_iter()), None);
    }

    #[test]
    fn chunks_of_other_lines_have_no_vectors() {
        let mut table = table(&[(1, [1.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0])]);
        assert!(table.set_file(&path("a"), &[((1, 2), key(1)), ((3, 4), key(2))]));
        assert!(!table.set_file(&path("b"), &[((1, 2), key(9))]), "it has no vector");
        let question = MeaningVector::of(&[1.0, 0.0, 0.0]).unwrap();
        let near =
            |lines: &[(u32, u32)]| table.nearness(&question, &path("a"), lines.iter().copied());
        let found = near(&[(1, 2), (3, 4)]).unwrap();
        assert!((found[0] - 1.0).abs() < 0.01 && found[1].abs() < 0.01, "{found:?}");
        for lines in [&[(1, 2)][..], &[(1, 2), (3, 5)], &[(1, 2), (3, 4), (5, 6)]] {
            assert_eq!(near(lines), None, "{lines:?}");
        }
        assert_eq!(table.nearness(&question, &path("b"), [].into_iter()), None);
    }

    #[test]
    fn forgotten_files_take_along_the_vectors_that_are_theirs_alone() {
        let mut table = table(&[(1, [1.0, 0.0, 0.0]), (2, [0.0, 1.0, 0.0]), (3, [0.0, 0.0, 1.0])]);
        assert!(table.set_file(&path("a"), &[((1, 1), key(1)), ((2, 2), key(2))]));
        assert!(table.set_file(&path("b"), &[((1, 1), key(2))]));
        assert!(table.forget_files(&[path("a")]));
        let kept: Vec<PassageKey> = table.vectors().map(|(key, _)| *key).collect();
        assert_eq!((kept, table.chunks()), (vec![key(2), key(3)], 1));
        let question = MeaningVector::of(&[0.0, 1.0, 0.0]).unwrap();
        let near = table.nearness(&question, &path("b"), [(1, 1)].into_iter()).unwrap();
        assert!((near[0] - 1.0).abs() < 0.01, "{near:?}");
        table.forget_unused();
        assert_eq!(table.len(), 1);
        table.remove_file(&path("b"));
        assert_eq!((table.len(), table.chunks()), (1, 0), "it may come back");
        assert!(table.set_file(&path("b"), &[((7, 9), key(2))]));
    }

    proptest! {
        #[test]
        fn eight_bits_are_near_enough(
            one in prop::collection::vec(-1.0_f32..1.0, 64),
            other in prop::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let (Some(first), Some(second)) = (MeaningVector::of(&one), MeaningVector::of(&other))
            else { return Ok(()) };
            let dot = |one: &[f32], other: &[f32]| -> f64 {
                one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
            };
            let exact = dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt();
            let mut table = VectorTable::default();
            table.insert(key(1), &first);
            table.set_file(&path("a"), &[((1, 1), key(1))]);
            let near = table.nearness(&second, &path("a"), [(1, 1)].into_iter()).unwrap()[0];
            prop_assert!((f64::from(near) - exact).abs() < 0.02, "{near} {exact}");
        }
    }
}
