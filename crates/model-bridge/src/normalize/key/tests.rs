//! Tests of what a conversation is remembered by.

use serde_json::json;

use super::*;
use crate::api::Api;
use crate::normalize::tests::read;

fn key(api: Api, body: serde_json::Value) -> u128 {
    conversation_key(&read(api, body).conversation)
}

#[test]
fn the_key_is_the_same_on_every_machine_and_day() {
    let nothing = Conversation::default();
    assert_eq!(conversation_key(&nothing), OFFSET);
    // FNV-1a of one byte, from the list of test values of the specification.
    let mut hash = Fnv(OFFSET);
    hash.bytes(b"a");
    assert_eq!(hash.0, 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
}

#[test]
fn what_a_turn_adds_does_not_matter() {
    let turns = [
        json!({ "role": "system", "content": "S" }),
        json!({ "role": "user", "content": "x" }),
        json!({ "role": "assistant", "content": "y" }),
        json!({ "role": "user", "content": "z" }),
    ];
    let first = key(Api::OpenAiChat, json!({ "model": "m", "messages": turns[..2] }));
    let later = key(Api::Ollama, json!({ "model": "n", "messages": turns }));
    assert_eq!(first, later);
    let other = key(Api::OpenAiChat, json!({ "messages": turns[1..] }));
    assert_ne!(first, other);
}

#[test]
fn texts_are_distinguished_by_their_bounds_and_marks_that_move_do_not_matter() {
    let parts = |parts: serde_json::Value| {
        key(Api::AnthropicMessages, json!({ "messages": [{ "role": "user", "content": parts }] }))
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_ne!(parts(json!([text("ab"), text("c")])), parts(json!([text("a"), text("bc")])));
    let image = json!({ "type": "image", "source": { "data": "x" } });
    let marked = json!({ "type": "image", "source": { "data": "x" }, "cache_control": {} });
    let other = json!({ "type": "image", "source": { "data": "y" } });
    assert_eq!(parts(json!([image])), parts(json!([marked])));
    assert_ne!(parts(json!([image])), parts(json!([other])));
}
