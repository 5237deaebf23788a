//! What somebody may have meant by a key that is not known.

/// Returns the known key that is most like a given one.
pub(crate) fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    const LIKENESS_MIN: f64 = 0.75;
    known
        .iter()
        .map(|known| (strsim::jaro_winkler(key, known), *known))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, known)| known)
}
