//! Images that models and clients read. What an image is follows from its bytes, never from a name or
//! from what somebody says of it; of the bytes only the header is looked at.

use std::fmt;

use crate::error::{ErrorCode, ToolError};

/// An image of a known kind.
#[derive(Clone, PartialEq, Eq)]
pub struct ContentImage {
    kind: ImageKind,
    width: u32,
    height: u32,
    data: Vec<u8>,
}

/// A kind of image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// PNG, `image/png`.
    Png,
    /// JPEG, `image/jpeg`.
    Jpeg,
    /// GIF, `image/gif`.
    Gif,
    /// WebP, `image/webp`.
    Webp,
}

/// The kind and the size in pixels, as the header says them; none where it is no such image.
fn header(data: &[u8]) -> Option<(ImageKind, u32, u32)> {
    let (kind, (width, height)) = match data {
        [
            0x89,
            b'P',
            b'N',
            b'G',
            b'\r',
            b'\n',
            0x1a,
            b'\n',
            _,
            _,
            _,
            _,
            b'I',
            b'H',
            b'D',
            b'R',
            ..,
        ] => (ImageKind::Png, (big(data.get(16..20)?), big(data.get(20..24)?))),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => {
            (ImageKind::Gif, (little(data.get(6..8)?), little(data.get(8..10)?)))
        }
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
            (ImageKind::Webp, webp_size(data.get(12..)?)?)
        }
        [0xff, 0xd8, 0xff, ..] => (ImageKind::Jpeg, jpeg_size(&data[2..])?),
        _ => return None,
    };
    (width > 0 && height > 0).then_some((kind, width, height))
}

/// The size of the first chunk of a WebP file.
fn webp_size(chunk: &[u8]) -> Option<(u32, u32)> {
    let body = chunk.get(8..)?;
    match chunk.get(..4)? {
        b"VP8 " => {
            let [0x9d, 0x01, 0x2a] = body.get(3..6)? else { return None };
            Some((little(body.get(6..8)?) & 0x3fff, little(body.get(8..10)?) & 0x3fff))
        }
        b"VP8L" => {
            let [0x2f] = body.get(..1)? else { return None };
            let bits = little(body.get(1..5)?);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(body.get(4..7)?) + 1, little(body.get(7..10)?) + 1)),
        _ => None,
    }
}

/// The size in the first frame header of a JPEG file, of which the segments are given.
fn jpeg_size(mut segments: &[u8]) -> Option<(u32, u32)> {
    loop {
        match segments {
            // Fill bytes may stand before a marker.
            [0xff, 0xff, ..] => segments = &segments[1..],
            // Start of frame, but for the tables among these numbers.
            [0xff, 0xc0..=0xcf, rest @ ..] if !matches!(segments[1], 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(rest.get(5..7)?), big(rest.get(3..5)?)));
            }
            // The image itself, without a frame before it.
            [0xff, 0xd8..=0xda, ..] => return None,
            [0xff, _, rest @ ..] => {
                let length = usize::try_from(big(rest.get(..2)?)).ok()?;
                segments = rest.get(length.max(2)..)?;
            }
            _ => return None,
        }
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

// === impl ContentImage ===

impl ContentImage {
    /// Largest image that is shown, in bytes: clients and APIs take it with the result around it.
    pub const BYTES_MAX: usize = 3 << 20;

    /// Makes an image of the bytes of a PNG, JPEG, GIF or WebP file.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` for other bytes, `TooLarge` for more than [`ContentImage::BYTES_MAX`].
    pub fn new(data: Vec<u8>) -> Result<Self, ToolError> {
        if data.len() > Self::BYTES_MAX {
            let (size, most) = (data.len(), Self::BYTES_MAX);
            let what = format!("the image has {size} bytes; the limit is {most}");
            return Err(
                ToolError::new(ErrorCode::TooLarge, what).hint("show a smaller version of it")
            );
        }
        let (kind, width, height) = header(&data).ok_or_else(|| {
            let what = "the bytes are no image that is shown: PNG, JPEG, GIF and WebP are";
            ToolError::new(ErrorCode::InvalidArguments, what)
                .hint("convert it, or return it as something else")
        })?;
        Ok(Self { kind, width, height, data })
    }

    /// Returns the file format of the image.
    pub fn kind(&self) -> ImageKind {
        self.kind
    }

    /// Returns width and height in pixels.
    pub fn size_px(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// Returns the bytes of the file.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the bytes of the file.
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }
}

/// Shows kind and sizes, not the bytes.
impl fmt::Debug for ContentImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, width, height, data } = self;
        write!(f, "ContentImage({} {width}x{height}, {} bytes)", kind.media_type(), data.len())
    }
}

// === impl ImageKind ===

impl ImageKind {
    /// Returns the media type, for example `image/png`.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::content) const GIF: &[u8] = b"GIF89a\x03\0\x02\0\0\0\0";

    fn png() -> Vec<u8> {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        png.extend([0, 0, 1, 0, 0, 0, 0, 2, 8, 6, 0, 0, 0]);
        png
    }

    fn jpeg() -> Vec<u8> {
        let mut jpeg = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, b'J', b'F', 0xff, 0xc4, 0, 2];
        jpeg.extend([0xff, 0xff, 0xc2, 0, 17, 8, 0x01, 0x02, 0x03, 0x04, 3]);
        jpeg
    }

    fn webp(chunk: &[u8]) -> Vec<u8> {
        [b"RIFF\0\0\0\0WEBP", chunk].concat()
    }

    fn all() -> Vec<(Vec<u8>, &'static str, (u32, u32))> {
        let simple = webp(b"VP8 \0\0\0\0\x30\x01\0\x9d\x01\x2a\x05\x40\x06\x80");
        let lossless = webp(b"VP8L\0\0\0\0\x2f\x04\x40\x01\0");
        let extended = webp(b"VP8X\0\0\0\0\0\0\0\0\x04\0\0\x05\0\0");
        vec![
            (png(), "image/png", (256, 2)),
            (jpeg(), "image/jpeg", (0x304, 0x102)),
            (GIF.to_vec(), "image/gif", (3, 2)),
            (simple, "image/webp", (5, 6)),
            (lossless, "image/webp", (5, 6)),
            (extended, "image/webp", (5, 6)),
        ]
    }

    #[test]
    fn kind_and_size_are_those_of_the_header() {
        for (data, media_type, size) in all() {
            let image = ContentImage::new(data.clone()).unwrap();
            assert_eq!(
                (image.kind().media_type(), image.size_px()),
                (media_type, size),
                "{image:?}"
            );
            assert_eq!(image.into_data(), data);
        }
    }

    #[test]
    fn what_is_cut_or_nothing_is_no_image() {
        for (data, _, _) in all() {
            for end in 0..data.len() {
                // A header may be whole before the file is.
                let _ = ContentImage::new(data[..end].to_vec());
            }
        }
        let flat = {
            let mut png = png();
            png[16..20].fill(0);
            png
        };
        let endless = [&[0xff, 0xd8][..], &[0xff; 64]].concat();
        let scanned = vec![0xff, 0xd8, 0xff, 0xda, 0, 4, 0, 0];
        for data in [
            Vec::new(),
            b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(),
            b"\x89PNG\x01\x02\xff".to_vec(),
            b"\x89PNG\r\n\x1a\n".to_vec(),
            b"GIF89a".to_vec(),
            webp(b""),
            webp(b"VP8 "),
            flat,
            endless,
            scanned,
        ] {
            let error = ContentImage::new(data.clone()).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArguments, "{data:?}");
        }
        let error = ContentImage::new(vec![0; ContentImage::BYTES_MAX + 1]).unwrap_err();
        assert_eq!(error.code, ErrorCode::TooLarge);
    }
}
