//! What holds for every request to a chat model that can be read, and for every one that cannot.

mod made;

use std::collections::BTreeSet;

use moss_model_bridge::{
    Api, Conversation, Message, NoteCode, ToolChoice, conversation_key, normalize,
};

/// Reads a body in an API and checks what comes out. What is no JSON says how to make a body.
pub fn check(api: Api, data: &[u8]) {
    let body = serde_json::from_slice(data).unwrap_or_else(|_| made::body(data));
    let normalized = match normalize(api, body.clone()) {
        Ok(normalized) => normalized,
        Err(error) => {
            let start = error.param.as_deref().unwrap_or("the body");
            assert!(error.message.starts_with(start), "{error}");
            return;
        }
    };
    let orphans = normalized.notes.iter().filter(|note| note.code == NoteCode::ResultOrphaned);
    let orphans = orphans.map(|note| note.count).sum();
    let names = check_tools(&normalized.conversation);
    assert!(normalized.free_form.iter().all(|name| names.contains(name.as_str())));
    check_messages(&normalized.conversation, orphans);
    normalized.conversation.state();
    let again = normalize(api, body).expect("it was read before");
    assert_eq!(conversation_key(&again.conversation), conversation_key(&normalized.conversation));
    assert_eq!(again, normalized);
}

/// Tools have names of their own, and a choice is one of them.
fn check_tools(conversation: &Conversation) -> BTreeSet<&str> {
    let names: BTreeSet<&str> = conversation.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), conversation.tools.len(), "a tool twice");
    assert!(conversation.tools.iter().all(|tool| tool.parameters.is_object()));
    match &conversation.choice {
        ToolChoice::Tool(name) => assert!(names.contains(name.as_str())),
        ToolChoice::Any => assert!(!names.is_empty()),
        ToolChoice::Auto | ToolChoice::None => {}
    }
    names
}

/// Nothing is empty, calls have ids of their own, and results repeat them or are told to be orphans.
fn check_messages(conversation: &Conversation, orphans: usize) {
    let (mut ids, mut strays, mut follows_model) = (BTreeSet::new(), 0, false);
    for message in &conversation.messages {
        match message {
            Message::System(text) => assert!(!text.is_empty()),
            Message::User(parts) => assert!(!parts.is_empty()),
            Message::Assistant { text, calls } => {
                assert!(!text.is_empty() || !calls.is_empty());
                assert!(!follows_model, "two turns of the model");
                for call in calls {
                    assert!(!call.id.is_empty() && !call.name.trim().is_empty());
                    assert!(ids.insert(call.id.as_str()), "an id twice");
                }
            }
            Message::Result(result) => {
                assert!(!result.call_id.is_empty());
                strays += usize::from(!ids.contains(result.call_id.as_str()));
            }
        }
        follows_model = matches!(message, Message::Assistant { .. });
    }
    assert_eq!(strays, orphans, "results without calls");
}
