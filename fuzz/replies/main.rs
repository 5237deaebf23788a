//! Whatever a model writes: it is read alike however it is cut, calls come whole and in order, and
//! what is no call is text.

#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use moss_model_bridge::{Finish, ParseOptions, Parser, Registry, Reply, ReplyEvent};
use serde_json::{Map, Value};

static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let tools = r#"[
        {"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"},
            "start_line":{"type":"integer"}},"required":["path"],"additionalProperties":false}},
        {"name":"create_file","parameters":{"type":"object","properties":{"path":{"type":"string"},
            "content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}},
        {"name":"run_tests","parameters":{"type":"object","properties":{}}}
    ]"#;
    Arc::new(Registry::from_json(tools).expect("the tools above are a registry"))
});

// The first byte says how long the pieces are.
fuzz_target!(|data: &[u8]| {
    let Some((length, reply)) = data.split_first() else { return };
    let whole = read([reply]);
    let pieces = reply.chunks(usize::from(*length).max(1));
    assert_eq!(read(pieces), whole, "cut into pieces of {length}");
    let Ok(text) = std::str::from_utf8(reply) else { return };
    let is_marked = ["<think>", "<thinking>", "<chat>"].iter().any(|mark| text.contains(mark));
    if whole.calls.is_empty() && !is_marked {
        assert_eq!(whole.text, text);
    }
});

fn read<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Reply {
    let mut parser = Parser::new(Arc::clone(&REGISTRY), ParseOptions::default());
    let mut events: Vec<ReplyEvent> =
        pieces.into_iter().flat_map(|piece| parser.feed(piece)).collect();
    events.extend(parser.finish(Finish::Stop));
    check(&events);
    Reply::collect(events)
}

/// Calls follow each other, and the fragments of each say what its end says.
fn check(events: &[ReplyEvent]) {
    let mut open: Option<(usize, String)> = None;
    let mut next = 0;
    for event in events {
        match event {
            ReplyEvent::CallStart { index, .. } => {
                assert!(open.is_none() && *index == next);
                next += 1;
                open = Some((*index, String::new()));
            }
            ReplyEvent::ArgumentFragment { index, fragment } => {
                let (begun, text) = open.as_mut().expect("fragments stand in a call");
                assert_eq!(begun, index);
                text.push_str(fragment);
            }
            ReplyEvent::CallEnd { arguments, .. } => {
                let (_, text) = open.take().expect("what ends has begun");
                let said: Map<String, Value> =
                    serde_json::from_str(&text).expect("fragments are JSON");
                assert_eq!(said, *arguments);
            }
            ReplyEvent::CallAbandoned { .. } => assert!(open.take().is_some()),
            _ => {}
        }
    }
    assert!(open.is_none());
}
