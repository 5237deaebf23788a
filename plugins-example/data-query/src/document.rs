//! Files of data as JSON values.

use moss::guest::serde_json::{self, Map, Value};
use moss::{ErrorCode, ToolError};

/// What a file is.
#[moss::data]
#[derive(Copy, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// `.json`
    Json,
    /// `.yaml`, `.yml`
    Yaml,
    /// `.toml`, and `Cargo.lock` and the like.
    Toml,
}

/// Reads a text.
pub(crate) fn parse(path: &str, format: Format, text: &str) -> Result<Value, ToolError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = match format {
        Format::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
        Format::Yaml => yaml(text),
        Format::Toml => toml(text),
    };
    parsed.map_err(|why| {
        let message = format!("{path}: not {}: {why}", format.name());
        ToolError::new(ErrorCode::InvalidArguments, message)
            .hint("correct the file, or say with `format` what it is")
    })
}

/// Aliases, depth and sizes are bounded by the reader.
fn yaml(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! { with_snippet: false };
    let mut documents: Vec<Value> = serde_saphyr::from_multiple_with_options(text, options)
        .map_err(|error| error.to_string())?;
    Ok(match documents.len() {
        0 => Value::Null,
        1 => documents.remove(0),
        _ => Value::Array(documents),
    })
}

fn toml(text: &str) -> Result<Value, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| text[..span.start].lines().count().max(1));
        let line = line.map(|line| format!(" in line {line}")).unwrap_or_default();
        format!("{}{line}", error.message())
    })?;
    Ok(of_toml(toml::Value::Table(table)))
}

/// Dates become texts; numbers that JSON does not have become null.
fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(of_toml).collect(),
        toml::Value::Table(table) => {
            let entries = table.into_iter().map(|(key, value)| (key, of_toml(value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

// === impl Format ===

impl Format {
    /// Reports by the extension of a file what it is.
    pub(crate) fn of(path: &str) -> Result<Self, ToolError> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match (extension.to_ascii_lowercase().as_str(), name) {
            ("json" | "geojson" | "ipynb" | "webmanifest", _) => Ok(Self::Json),
            ("yaml" | "yml", _) => Ok(Self::Yaml),
            ("toml", _) | (_, "Cargo.lock" | "poetry.lock" | "uv.lock") => Ok(Self::Toml),
            _ => {
                let message = format!("{path}: its name does not say what it is");
                Err(ToolError::new(ErrorCode::InvalidArguments, message)
                    .hint("give `format`: `json`, `yaml` or `toml`"))
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        }
    }
}

#[cfg(test)]
mod tests {
    use moss::json;

    use super::*;

    #[test]
    fn every_format_becomes_the_same_values() {
        for (format, text) in [
            (Format::Json, r#"{ "a": [1, 2.5, true], "b": { "c": "x" } }"#),
            (Format::Yaml, "a: [1, 2.5, true]\nb:\n  c: x\n"),
            (Format::Toml, "a = [1, 2.5, true]\n[b]\nc = \"x\"\n"),
        ] {
            let value = parse("file", format, text).unwrap();
            assert_eq!(value, json!({ "a": [1, 2.5, true], "b": { "c": "x" } }), "{text}");
        }
    }

    #[test]
    fn what_json_lacks_has_a_form() {
        let value = parse("a", Format::Toml, "at = 1979-05-27\nn = nan\n").unwrap();
        assert_eq!(value, json!({ "at": "1979-05-27", "n": null }));
        let value = parse("a", Format::Yaml, "1: one\n").unwrap();
        assert_eq!(value, json!({ "1": "one" }));
        let value = parse("a", Format::Yaml, "a: &x [1]\nb: *x\n").unwrap();
        assert_eq!(value, json!({ "a": [1], "b": [1] }));
        let value = parse("a", Format::Yaml, "--- 1\n--- 2\n").unwrap();
        assert_eq!(value, json!([1, 2]));
        assert_eq!(parse("a", Format::Yaml, "").unwrap(), json!(null));
    }

    #[test]
    fn broken_files_are_reported_where() {
        for (format, text, why) in [
            (Format::Json, "{", "line 1 column 1"),
            (Format::Yaml, "a: [1\nb: 2", "not YAML"),
            (Format::Toml, "a = 1\nb = \n", "in line 2"),
        ] {
            let error = parse("file", format, text).unwrap_err();
            assert!(error.message.contains(why), "{error}");
        }
    }

    #[test]
    fn a_small_file_does_not_grow_without_bound() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..10 {
            let item = format!("*a{}", level - 1);
            bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [item.as_str(); 10].join(", ")));
        }
        let error = parse("bomb.yaml", Format::Yaml, &bomb).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArguments, "{error}");
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        for format in [Format::Json, Format::Yaml, Format::Toml] {
            let text = if format == Format::Toml { format!("a = {deep}") } else { deep.clone() };
            assert!(parse("deep", format, &text).is_err(), "{format:?}");
        }
    }

    #[test]
    fn names_say_what_files_are() {
        for (path, format) in [
            ("a/b.JSON", Format::Json),
            (".github/ci.yml", Format::Yaml),
            ("x/Cargo.toml", Format::Toml),
            ("Cargo.lock", Format::Toml),
        ] {
            assert_eq!(Format::of(path).unwrap(), format, "{path}");
        }
        assert!(Format::of("json").is_err());
    }
}
