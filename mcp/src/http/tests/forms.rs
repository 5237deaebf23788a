//! Forms over HTTP: those of sessions, answered by whose they are alone, and those of single requests.

use crate::clarify;
use crate::tests::forms::{again, alone};

use super::*;

/// A response that is still being read.
struct Events(Response<Incoming>, String);

impl HttpClient {
    /// A second connection of the same session.
    async fn beside(&self, server: &Server) -> Self {
        let mut other = server.client(self.credential.unwrap()).await;
        other.session.clone_from(&self.session);
        other.revision = self.revision;
        other
    }

    /// Sends a request whose response is read event by event.
    async fn begin(&mut self, message: &Value) -> Events {
        let request = self.request("POST").body(Full::from(message.to_string())).unwrap();
        self.sender.ready().await.unwrap();
        Events(self.sender.send_request(request).await.unwrap(), String::new())
    }
}

impl Events {
    async fn next(&mut self) -> Value {
        let read = async {
            loop {
                while let Some((line, rest)) = self.1.split_once('\n') {
                    let data = line.strip_prefix("data:").map(|data| data.trim().to_owned());
                    self.1 = rest.to_owned();
                    if let Some(data) = data.filter(|data| !data.is_empty()) {
                        return serde_json::from_str(&data).unwrap();
                    }
                }
                let frame = self.0.body_mut().frame().await.expect("one more event").unwrap();
                self.1 += std::str::from_utf8(frame.data_ref().unwrap()).unwrap();
            }
        };
        tokio::time::timeout(WAIT_MAX, read).await.expect("an event in time")
    }
}

/// A client with a session and forms.
async fn with_forms(server: &Server, credential: &'static str) -> HttpClient {
    let mut client = server.client(credential).await;
    let mut hello = initialize("2025-11-25");
    hello["params"]["capabilities"] = json!({ "elicitation": {} });
    let opened = client.post(hello.to_string()).await;
    client.session = Some(opened.head[sessions::SESSION_HEADER].to_str().unwrap().to_owned());
    client.revision = Some("2025-11-25");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(client.post(initialized.to_string()).await.status, 202);
    client
}

fn answer(form: &Value, said: &str) -> String {
    let result = json!({ "action": "accept", "content": { "answer": said } });
    json!({ "jsonrpc": "2.0", "id": form["id"], "result": result }).to_string()
}

#[tokio::test]
async fn a_question_is_a_form_of_its_own_session() {
    let server = Server::new();
    let mut alice = with_forms(&server, "alice").await;
    let mut hers = alice.beside(&server).await;
    let mut second = with_forms(&server, "alice").await;
    let mut bob = with_forms(&server, "bob").await;
    let params = json!({ "name": clarify::TOOL, "arguments": { "question": "Tabs?" } });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let mut events = alice.begin(&call).await;
    let form = events.next().await;
    assert_eq!(form["method"], "elicitation/create", "{form}");
    assert_eq!(form["params"]["message"], "Tabs?");
    // An answer in another session is for nobody, whoever has it; nor may others use the session.
    second.post(answer(&form, "from another session")).await;
    bob.post(answer(&form, "from another caller")).await;
    bob.session.clone_from(&hers.session);
    assert_eq!(bob.post(answer(&form, "from a thief")).await.status, 404);
    assert_eq!(hers.post(answer(&form, "spaces")).await.status, 202);
    let ended = events.next().await;
    assert_eq!(ended["result"]["structuredContent"]["answer"], "spaces", "{ended}");
    // Over HTTP no form decides about an effect.
    assert!(server.backend.uses.lock().unwrap().iter().all(|one| !one.decides_by_form));
}

#[tokio::test]
async fn the_state_of_a_request_opens_for_its_caller_and_set_alone_and_once() {
    let server = Server::new();
    let mut alice = server.client("alice").await;
    let mut bob = server.client("bob").await;
    let asked = alice.ask_as_it_is(alone()).await;
    assert_eq!(asked["inputRequests"]["answer"]["method"], "elicitation/create", "{asked}");
    let stolen = bob.refusal_of(again(&asked, "accept")).await;
    assert!(stolen.contains("request_state_invalid"), "{stolen}");
    alice.path = "/mcp/all";
    let elsewhere = alice.refusal_of(again(&asked, "accept")).await;
    assert!(elsewhere.contains("request_state_invalid"), "{elsewhere}");
    alice.path = PATH;
    let said = alice.ask_as_it_is(again(&asked, "accept")).await;
    assert_eq!(said["structuredContent"]["answer"], "spaces", "{said}");
    let replayed = alice.ask_as_it_is(again(&asked, "accept")).await;
    assert!(replayed.to_string().contains("used before"), "{replayed}");
}

impl HttpClient {
    /// Calls a tool with parameters that have all that a single request needs.
    async fn ask_as_it_is(&mut self, params: Value) -> Value {
        self.response_as_it_is(params).await["result"].clone()
    }

    /// The error of the protocol that such a call ends with.
    async fn refusal_of(&mut self, params: Value) -> String {
        let response = self.response_as_it_is(params).await;
        assert_eq!(response["error"]["code"], -32602, "{response}");
        response["error"]["message"].to_string()
    }

    async fn response_as_it_is(&mut self, params: Value) -> Value {
        let request = self
            .request("POST")
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", params["name"].as_str().unwrap())
            .header("MCP-Protocol-Version", "2026-07-28");
        let message = self.message("tools/call", params).to_string();
        let got = self.send(request.body(Full::from(message)).unwrap()).await;
        got.message()
    }
}
