//! What a result shows beside its output, on the wire.

use moss_proto::v1::{self, content_part::Part};
use moss_sdk::content::ContentPart;

pub(super) fn to_proto(part: ContentPart) -> v1::ContentPart {
    let part = match part {
        ContentPart::Text(text) => Part::Text(text),
        ContentPart::Json(value) => Part::Json(value.to_string()),
        ContentPart::Image(image) => {
            let (width, height) = image.size_px();
            let media_type = image.kind().media_type().to_owned();
            Part::Image(v1::ContentImage { media_type, width, height, data: image.into_data() })
        }
        ContentPart::Link(link) => {
            let (uri, name) = (link.uri().to_owned(), link.name().to_owned());
            Part::Link(v1::ContentLink { uri, name })
        }
    };
    v1::ContentPart { part: Some(part) }
}
