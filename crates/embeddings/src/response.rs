//! What an endpoint responds, held to what was asked: whole vectors of one length, one for each text, or nothing.

use moss_ranking::{DIMENSIONS_MAX, MeaningVector};
use moss_sdk::deceptive::is_deceptive;
use serde::Deserialize;

use crate::api::{EmbeddingApi, EndpointFault};

/// How much of what an endpoint says of its failure is reported, in characters.
const SAID_CHARS_MAX: usize = 200;

/// The numbers of one vector.
pub(crate) type VectorRow = Vec<f32>;

#[derive(Deserialize)]
struct OllamaForm {
    embeddings: Vec<VectorRow>,
}

#[derive(Deserialize)]
struct OpenAiForm {
    data: Vec<OpenAiRow>,
}

#[derive(Deserialize)]
struct OpenAiRow {
    /// Which text it is of; in the order of the texts where it does not say.
    index: Option<usize>,
    embedding: VectorRow,
}

/// Reads the vectors of a response, in the order of the texts.
pub(crate) fn rows(api: EmbeddingApi, body: &[u8]) -> Result<Vec<VectorRow>, EndpointFault> {
    let unread = |error: serde_json::Error| EndpointFault::NotVectors(error.to_string());
    match api {
        EmbeddingApi::Ollama => {
            Ok(serde_json::from_slice::<OllamaForm>(body).map_err(unread)?.embeddings)
        }
        EmbeddingApi::OpenAi => {
            let data = serde_json::from_slice::<OpenAiForm>(body).map_err(unread)?.data;
            in_order(data)
        }
    }
}

fn in_order(data: Vec<OpenAiRow>) -> Result<Vec<VectorRow>, EndpointFault> {
    let count = data.len();
    let mut rows: Vec<Option<VectorRow>> = vec![None; count];
    for (at, OpenAiRow { index, embedding }) in data.into_iter().enumerate() {
        let place = rows.get_mut(index.unwrap_or(at)).filter(|place| place.is_none());
        let place = place.ok_or_else(|| {
            EndpointFault::NotVectors("an `index` is used twice or too large".to_owned())
        })?;
        *place = Some(embedding);
    }
    Ok(rows.into_iter().flatten().collect())
}

/// Holds vectors to how many and how long they are to be.
pub(crate) fn vectors(
    rows: &[VectorRow],
    texts: usize,
    expected: Option<usize>,
) -> Result<Vec<MeaningVector>, EndpointFault> {
    if rows.len() != texts {
        return Err(EndpointFault::OtherNumber { made: rows.len(), texts });
    }
    let expected = expected.or(rows.first().map(Vec::len)).unwrap_or_default();
    if let Some(row) = rows.iter().find(|row| row.len() != expected) {
        return Err(EndpointFault::OtherLength { made: row.len(), expected });
    }
    if expected > DIMENSIONS_MAX {
        return Err(EndpointFault::OtherLength { made: expected, expected: DIMENSIONS_MAX });
    }
    let vector = |row: &VectorRow| MeaningVector::of(row).ok_or(EndpointFault::NoDirection);
    rows.iter().map(vector).collect()
}

/// How what an endpoint says of its failure begins, in one line.
pub(crate) fn said(body: &[u8]) -> String {
    let head = &body[..body.len().min(SAID_CHARS_MAX * 4)];
    let text = String::from_utf8_lossy(head);
    let plain = text.chars().map(|c| if is_deceptive(c) { ' ' } else { c });
    let cut: String = plain.take(SAID_CHARS_MAX).collect();
    cut.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    use EmbeddingApi::{Ollama, OpenAi};

    #[test]
    fn vectors_are_read_in_the_order_of_their_texts() {
        let ollama = br#"{"model":"m","embeddings":[[1,0],[0,1.5e0]],"total_duration":1}"#;
        assert_eq!(rows(Ollama, ollama).unwrap(), [[1.0, 0.0], [0.0, 1.5]]);
        let openai = br#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[1,0]}]}"#;
        assert_eq!(rows(OpenAi, openai).unwrap(), [[1.0, 0.0], [0.0, 2.0]]);
        let unnumbered = br#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#;
        assert_eq!(rows(OpenAi, unnumbered).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn what_is_not_of_the_api_is_refused() {
        for body in [
            "",
            "no",
            "{}",
            "[]",
            r#"{"embeddings":[[1,null]]}"#,
            r#"{"embeddings":[[NaN]]}"#,
            r#"{"embeddings":[["1"]]}"#,
            r#"{"embeddings":[[1"#,
            r#"{"embeddings":[1]}"#,
            r#"{"embeddings":[[1e999]]}"#,
        ] {
            let refused = rows(Ollama, body.as_bytes());
            assert!(matches!(refused, Err(EndpointFault::NotVectors(_))), "{body}: {refused:?}");
        }
        for body in [
            r#"{"embeddings":[[1]]}"#,
            r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
            r#"{"data":[{"index":7,"embedding":[1]}]}"#,
            r#"{"data":[{"index":-1,"embedding":[1]}]}"#,
            r#"{"data":[{"index":0,"embedding":"AAAA"}]}"#,
        ] {
            let refused = rows(OpenAi, body.as_bytes());
            assert!(matches!(refused, Err(EndpointFault::NotVectors(_))), "{body}: {refused:?}");
        }
    }

    #[test]
    fn all_vectors_are_as_many_and_as_long_as_they_are_to_be() {
        let held = |rows: &[VectorRow], texts, expected| {
            vectors(rows, texts, expected).map(|vectors| vectors.len())
        };
        let two = [vec![1.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(held(&two, 2, None), Ok(2));
        assert_eq!(held(&two, 2, Some(2)), Ok(2));
        assert_eq!(held(&two, 3, None), Err(EndpointFault::OtherNumber { made: 2, texts: 3 }));
        let other = |made, expected| Err(EndpointFault::OtherLength { made, expected });
        assert_eq!(held(&two, 2, Some(3)), other(2, 3));
        assert_eq!(held(&[vec![1.0, 0.0], vec![1.0]], 2, None), other(1, 2));
        let long = vec![1.0; DIMENSIONS_MAX + 1];
        assert_eq!(held(&[long], 1, None), other(DIMENSIONS_MAX + 1, DIMENSIONS_MAX));
        for row in [vec![], vec![0.0, 0.0], vec![f32::INFINITY, 1.0]] {
            assert_eq!(held(&[row], 1, None), Err(EndpointFault::NoDirection));
        }
    }

    #[test]
    fn what_it_says_is_one_short_line() {
        assert_eq!(said(b" model\n\x1b[2J not found "), "model  [2J not found");
        assert_eq!(said("a\u{202e}b\u{34f}".as_bytes()), "a b");
        assert_eq!(said("é".repeat(1000).as_bytes()).chars().count(), SAID_CHARS_MAX);
    }
}
