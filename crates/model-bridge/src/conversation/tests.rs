//! Tests of where a conversation stands.

use super::*;

fn call(id: &str) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "read_file".to_owned(), arguments: Map::new() }
}

fn model(ids: &[&str]) -> Message {
    let calls: Vec<ToolCall> = ids.iter().map(|id| call(id)).collect();
    let text = if calls.is_empty() { "Done." } else { "" };
    Message::Assistant { text: text.to_owned(), calls }
}

fn result(id: &str) -> Message {
    Message::Result(ToolResult {
        call_id: id.to_owned(),
        name: None,
        content: Vec::new(),
        is_error: false,
    })
}

fn user() -> Message {
    Message::User(vec![MessagePart::Text("Continue.".to_owned())])
}

fn system() -> Message {
    Message::System("Be brief.".to_owned())
}

#[test]
fn the_messages_alone_say_where_a_conversation_stands() {
    use HistoryState::{AwaitingDecision, AwaitingResult, CallIssued, Finished, ResultReceived};
    for (messages, expected) in [
        (vec![], AwaitingDecision),
        (vec![system()], AwaitingDecision),
        (vec![user()], AwaitingDecision),
        (vec![system(), user(), system()], AwaitingDecision),
        (vec![user(), model(&[])], Finished),
        (vec![user(), model(&[]), system()], Finished),
        (vec![user(), model(&["a"])], CallIssued),
        (vec![user(), model(&["a", "b"]), system()], CallIssued),
        (vec![user(), model(&["a", "b"]), result("b")], AwaitingResult),
        (vec![user(), model(&["a", "b"]), result("a"), result("a")], AwaitingResult),
        (vec![user(), model(&["a"]), result("other")], CallIssued),
        (vec![user(), model(&["a"]), result("a")], ResultReceived),
        (vec![user(), model(&["a", "b"]), result("b"), system(), result("a")], ResultReceived),
        (vec![user(), model(&["a"]), result("a"), model(&["b"])], CallIssued),
        (vec![user(), model(&["a"]), result("a"), model(&["b"]), result("b")], ResultReceived),
        (vec![user(), model(&["a"]), result("a"), model(&[])], Finished),
        // What came before the model's last words answers nothing of them.
        (vec![user(), result("b"), model(&["b"])], CallIssued),
        // A history whose beginning was cut away.
        (vec![result("a")], ResultReceived),
        (vec![user(), model(&[]), result("a")], ResultReceived),
    ] {
        let conversation = Conversation { messages: messages.clone(), ..Default::default() };
        assert_eq!(conversation.state(), expected, "{messages:?}");
    }
}

#[test]
fn past_calls_do_not_ask_for_new_ones() {
    let past = [user(), model(&["a", "b"]), result("a"), result("b")];
    for (after, expected) in [
        (vec![user()], HistoryState::AwaitingDecision),
        (vec![model(&[]), user()], HistoryState::AwaitingDecision),
        (vec![model(&[])], HistoryState::Finished),
    ] {
        let messages = past.iter().cloned().chain(after).collect();
        let conversation = Conversation { messages, ..Default::default() };
        assert_eq!(conversation.state(), expected);
        assert_eq!(conversation.choice, ToolChoice::Auto);
    }
    // A call that the user spoke over is none to wait for.
    let messages = vec![user(), model(&["a"]), user()];
    let conversation = Conversation { messages, ..Default::default() };
    assert_eq!(conversation.state(), HistoryState::AwaitingDecision);
}
