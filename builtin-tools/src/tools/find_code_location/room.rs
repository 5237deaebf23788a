//! What of all that was found fits in a response: first where it is, then what stands there.

use serde::Serialize;

use super::location::{CodeLocation, FileUses};

/// Most bytes of all that is found, as it is returned: about 5,000 tokens.
const FOUND_BYTES_MAX: usize = 20_000;
/// Most bytes of the places of uses among them.
const USES_BYTES_MAX: usize = 8_000;
/// What the name of a field takes.
const KEY_BYTES: usize = 18;

/// How many bytes are left.
struct ByteRoom(usize);

// === impl ByteRoom ===

impl ByteRoom {
    /// Takes room for some bytes; `false` where there is too little.
    fn takes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.0;
        self.0 -= if fits { bytes } else { 0 };
        fits
    }

    /// Keeps the first values that there is room for without their texts.
    fn keep<T: Serialize>(&mut self, values: &mut Vec<T>, texts: impl Fn(&T) -> usize) {
        let has_room = |value: &&T| self.takes(written(*value).saturating_sub(texts(value)));
        let count = values.iter().take_while(has_room).count();
        values.truncate(count);
    }
}

/// How many bytes a value takes with the name of its field.
fn written(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(FOUND_BYTES_MAX, |text| text.len() + KEY_BYTES)
}

fn text_bytes(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, written)
}

/// Leaves out what has no room: places behind the others, then lines and documentation. Returns whether a line or
/// documentation of a place that is shown is left out.
pub(super) fn fit(locations: &mut Vec<CodeLocation>, uses: &mut Vec<FileUses>) -> bool {
    let mut room = ByteRoom(FOUND_BYTES_MAX);
    room.keep(locations, |one| text_bytes(&one.text) + text_bytes(&one.documentation));
    let places = room.0.min(USES_BYTES_MAX);
    let mut of_uses = ByteRoom(places);
    for file in uses.iter_mut() {
        match of_uses.takes(written(&file.path)) {
            true => of_uses.keep(&mut file.uses, |used| text_bytes(&used.text)),
            false => file.uses.clear(),
        }
    }
    uses.retain(|file| !file.uses.is_empty());
    room.0 -= places - of_uses.0;
    let (mut texts, mut documents) = (Vec::new(), Vec::new());
    for one in locations {
        texts.push(&mut one.text);
        documents.push(&mut one.documentation);
    }
    texts.append(&mut documents);
    texts.extend(uses.iter_mut().flat_map(|file| &mut file.uses).map(|used| &mut used.text));
    let mut lacks_any = false;
    for text in texts {
        if !room.takes(text_bytes(text)) {
            (*text, lacks_any) = (None, true);
        }
    }
    lacks_any
}
