//! What a query matches in a document, up to the bounds. Pure.

use moss::guest::serde_json::Value;
use moss::{ErrorCode, ToolError};
use serde_json_path::JsonPath;

use crate::Match;

/// Most bytes of all results together.
const RESULT_BYTES_MAX: usize = 256 << 10;

/// Reads a query.
pub(crate) fn parse(query: &str) -> Result<JsonPath, ToolError> {
    JsonPath::parse(query).map_err(|error| {
        let message = format!(
            "the query is not JSONPath: it cannot be read from its character {} on",
            error.position() + 1
        );
        ToolError::new(ErrorCode::InvalidArguments, message)
            .hint("queries look like `$.a.b`, `$.a[0]`, `$..name` or `$.a[?@.b == 1]`")
    })
}

/// Returns how many locations match, and the first of them.
pub(crate) fn select(
    path: &JsonPath,
    document: &Value,
    results_max: usize,
) -> Result<(usize, Vec<Match>), ToolError> {
    let found = path.query_located(document);
    let mut results = Vec::new();
    let mut bytes = 0;
    for place in found.iter().take(results_max) {
        let at = place.location().to_string();
        bytes += at.len() + place.node().to_string().len();
        if bytes > RESULT_BYTES_MAX {
            if results.is_empty() {
                return Err(too_large(&at, place.node()));
            }
            break;
        }
        results.push(Match { at, value: place.node().clone() });
    }
    Ok((found.len(), results))
}

fn too_large(at: &str, value: &Value) -> ToolError {
    let what = match value {
        Value::Object(entries) => format!("an object of {} keys", entries.len()),
        Value::Array(items) => format!("an array of {} items", items.len()),
        _ => "a text".to_owned(),
    };
    let message = format!("`{at}` is {what}, larger than {RESULT_BYTES_MAX} bytes");
    ToolError::new(ErrorCode::TooLarge, message)
        .hint("ask for a part of it, such as `$.a` or `$[0]`")
}

#[cfg(test)]
mod tests {
    use moss::json;

    use super::*;

    #[test]
    fn queries_find_locations_in_order() {
        let document = json!({ "a": [{ "n": 1 }, { "n": 2 }, { "m": "xyz" }], "n": "x" });
        for (query, expected) in [
            ("$.a[*].n", json!([["$['a'][0]['n']", 1], ["$['a'][1]['n']", 2]])),
            ("$.a[?@.n > 1]", json!([["$['a'][1]", { "n": 2 }]])),
            ("$.a[?search(@.m, 'y')].m", json!([["$['a'][2]['m']", "xyz"]])),
            ("$.n", json!([["$['n']", "x"]])),
            ("$.none", json!([])),
        ] {
            let (matches, results) = select(&parse(query).unwrap(), &document, 10).unwrap();
            let found: Vec<_> = results.into_iter().map(|found| (found.at, found.value)).collect();
            assert_eq!(json!(found), expected, "{query}");
            assert_eq!(matches, found.len());
        }
    }

    #[test]
    fn results_have_bounds() {
        let document = json!(vec!["x".repeat(100 << 10); 5]);
        let every = parse("$[*]").unwrap();
        let (matches, results) = select(&every, &document, 10).unwrap();
        assert_eq!((matches, results.len()), (5, 2));
        assert_eq!(select(&every, &document, 1).unwrap().1.len(), 1);
        let error = select(&parse("$").unwrap(), &document, 10).unwrap_err();
        assert!(error.message.contains("`$` is an array of 5 items"), "{error}");
    }

    #[test]
    fn a_query_that_is_none_is_explained() {
        let error = parse("a.b").unwrap_err();
        assert!(error.message.starts_with("the query is not JSONPath: "), "{error}");
    }
}
