//! What a result shows beside its output: read from the wire, shown to people, printed as JSON.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use moss_plugin_list::units;
use moss_proto::v1::{self, content_part::Part};
use moss_sdk::ToolError;
use moss_sdk::content::{ContentImage, ContentLink, ContentPart};
use serde_json::{Value, json};

use crate::text;
use crate::ui::{Ui, dim};

/// Reads a part. What a newer daemon shows, or one shows that is no such thing, is said to be missing.
pub(crate) fn of_proto(part: v1::ContentPart) -> ContentPart {
    let read = match part.part {
        Some(Part::Text(text)) => Ok(ContentPart::Text(text)),
        Some(Part::Json(json)) => serde_json::from_str(&json)
            .map(ContentPart::Json)
            .map_err(|error| format!("a value that is no JSON: {error}")),
        Some(Part::Image(image)) => {
            ContentImage::new(image.data).map(ContentPart::Image).map_err(message)
        }
        Some(Part::Link(link)) => {
            ContentLink::new(link.uri, link.name).map(ContentPart::Link).map_err(message)
        }
        None => Err("something that this version of moss does not know: update it".to_owned()),
    };
    read.unwrap_or_else(|why| ContentPart::Text(format!("(not shown: {why})")))
}

fn message(error: ToolError) -> String {
    error.message
}

/// A part as `--json` prints it.
pub(crate) fn view(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({ "kind": "text", "text": text }),
        ContentPart::Json(value) => json!({ "kind": "json", "value": value }),
        ContentPart::Image(image) => {
            let (width, height) = image.size_px();
            json!({
                "kind": "image",
                "media_type": image.kind().media_type(),
                "width": width,
                "height": height,
                "data": BASE64_STANDARD.encode(image.data()),
            })
        }
        ContentPart::Link(link) => {
            json!({ "kind": "link", "uri": link.uri(), "name": link.name() })
        }
    }
}

/// Shows a part to a person, beside the output: that alone is the result that programs read.
pub(crate) fn note(ui: &Ui, part: &ContentPart) {
    match part {
        ContentPart::Text(shown) => ui.note(&text::lines(shown)),
        ContentPart::Json(value) => ui.note(&text::json(&format!("{value:#}"))),
        ContentPart::Image(image) => {
            let size = units::about(image.data().len());
            let shown = (ui.wording().effect.shows_image)(
                image.kind().media_type(),
                image.size_px(),
                &size,
            );
            ui.note(&dim(shown));
        }
        ContentPart::Link(link) => {
            ui.note(&format!("{}: {}", text::line(link.name()), text::line(link.uri())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIF: &[u8] = b"GIF89a\x03\0\x02\0\0\0\0";

    #[test]
    fn parts_are_read_and_printed() {
        let image = v1::ContentImage { data: GIF.to_vec(), ..Default::default() };
        let link = v1::ContentLink { uri: "https://a.example/".into(), name: "a page".into() };
        for (part, printed) in [
            (Part::Text("a".into()), json!({ "kind": "text", "text": "a" })),
            (Part::Json("{\"a\":1}".into()), json!({ "kind": "json", "value": { "a": 1 } })),
            (
                Part::Image(image),
                json!({
                    "kind": "image", "media_type": "image/gif", "width": 3, "height": 2,
                    "data": "R0lGODlhAwACAAAAAA==",
                }),
            ),
            (
                Part::Link(link),
                json!({ "kind": "link", "uri": "https://a.example/", "name": "a page" }),
            ),
        ] {
            assert_eq!(view(&of_proto(v1::ContentPart { part: Some(part) })), printed);
        }
    }

    #[test]
    fn what_cannot_be_shown_is_named() {
        let link = v1::ContentLink { uri: "javascript:0".into(), name: "a page".into() };
        for part in [
            None,
            Some(Part::Json("{".into())),
            Some(Part::Image(v1::ContentImage { data: b"<svg>".to_vec(), ..Default::default() })),
            Some(Part::Link(link)),
        ] {
            let ContentPart::Text(text) = of_proto(v1::ContentPart { part }) else {
                panic!("it is replaced by a text")
            };
            assert!(text.starts_with("(not shown: "), "{text}");
        }
    }
}
