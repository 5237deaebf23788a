//! A client in Python, generated from the `.proto` files: what another language sees of moss.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::editor::PATIENT;
use crate::guide;
use crate::harness::{Ended, Site, binary};

pub(crate) const NO_PYTHON: &str = "MOSS_TEST_PYTHON is not set: it names a Python with \
                         tests/clients/requirements.txt; run `cargo xtask test`";

fn tests() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs the client against a daemon and returns its report.
fn report(site: &Site) -> Value {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(NO_PYTHON);
    let tests = tests();
    let generated = site.outside("generated");
    std::fs::create_dir(&generated).unwrap();
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(tests.join("clients/python/client.py"))
        .arg("--socket")
        .arg(site.socket())
        .arg("--state")
        .arg(site.state())
        .arg("--workspace")
        .arg(site.workspace())
        .arg("--protos")
        .arg(tests.join("../proto"))
        .arg("--generated")
        .arg(&generated)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ended = Ended::of(&mut command);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn editor_of_the_guide_in_python_is_asked_and_answers() {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(NO_PYTHON);
    let site = Site::new();
    let generated = site.outside("generated");
    std::fs::create_dir(&generated).unwrap();
    std::fs::write(generated.join("example_editor.py"), guide::code("python")).unwrap();
    guide::check(&site, |site| {
        let mut command = Command::new(&python);
        command.arg("-B").arg(tests().join("clients/python/attach.py"));
        command.arg("--socket").arg(site.socket()).arg("--state").arg(site.state());
        command.arg("--protos").arg(tests().join("../proto")).arg("--generated").arg(&generated);
        command
    });
}

#[test]
fn editor_of_the_guide_in_python_starts_its_daemon_and_leaves_none_behind() {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(NO_PYTHON);
    let site = Site::new();
    site.config(PATIENT);
    site.write("a.txt", "saved\n");
    let generated = site.outside("generated");
    std::fs::create_dir(&generated).unwrap();
    let code = guide::code("python") + &guide::code_below("\nWhat starts it: ", "python");
    std::fs::write(generated.join("example_editor.py"), code).unwrap();
    let mut command = Command::new(python);
    let environment = site.command::<&str>([]);
    command.env_clear();
    command.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.arg("-B").arg(tests().join("clients/python/start.py"));
    command.arg("--moss").arg(binary()).arg("--workspace").arg(site.workspace());
    command.arg("--protos").arg(tests().join("../proto")).arg("--generated").arg(&generated);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Ended::of(&mut command);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["read"], "     1\tunsaved");
    assert_eq!(report["exit_code"], 0);
}

#[test]
fn agent_of_the_guide_has_a_model_call_tools_and_sends_it_the_results() {
    let python = std::env::var_os("MOSS_TEST_PYTHON").expect(NO_PYTHON);
    let site = Site::allowing();
    site.write("a.txt", "first ``` second\n");
    let daemon = site.serve();
    let generated = site.outside("generated");
    std::fs::create_dir(&generated).unwrap();
    let code = guide::code_below("\n## Talking to models yourself\n", "python");
    std::fs::write(generated.join("example_agent.py"), code).unwrap();
    let mut command = Command::new(&python);
    command.arg("-B").arg(tests().join("clients/python/agent.py"));
    command.arg("--socket").arg(site.socket()).arg("--state").arg(site.state());
    command.arg("--protos").arg(tests().join("../proto")).arg("--generated").arg(&generated);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Ended::of(&mut command);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let chat = report["chat"].as_array().unwrap();
    let said: Vec<&str> = chat.iter().map(|turn| turn["content"].as_str().unwrap()).collect();
    assert_eq!(chat.len(), 9, "{said:?}");
    assert!(said[0].contains("read_file(path!"), "{}", said[0]);
    assert!(
        said[3].starts_with("Tool result of call call_2_0 (read_file): ok\n````\n{"),
        "{said:?}"
    );
    assert!(said[3].contains("first ``` second"), "{said:?}");
    assert!(said[5].contains("call_4_0 (create_file): ok"), "{said:?}");
    assert!(said[5].contains("call_4_1 (read_file): ERROR"), "{said:?}");
    assert!(said[5].contains("none.txt"), "{said:?}");
    let wrong =
        "ERROR, a call was not made: there is no tool `read_fil`; did you mean `read_file`?";
    assert!(said[7].starts_with(wrong), "{said:?}");
    assert_eq!(site.read("b.txt"), "new\n");
    let shown = report["shown"].as_str().unwrap();
    assert!(shown.contains("I look.") && shown.contains("It is done."), "{shown}");
    assert!(!shown.contains("parameters"), "{shown}");
    daemon.stop();
}

#[test]
fn a_python_client_calls_confirms_and_undoes() {
    let site = Site::new();
    site.write("greeting.txt", "hello world\n");
    let _daemon = site.serve();
    let report = report(&site);

    let services = report["reflection"]["services"].as_array().unwrap();
    for service in
        ["Tool", "Confirmation", "Editor", "History", "Index", "Job", "Policy", "Plugin", "Status"]
    {
        let name = json!(format!("moss.v1.{service}Service"));
        assert!(services.contains(&name), "{name} is not in {services:?}");
    }
    assert!(services.contains(&json!("grpc.health.v1.Health")), "{services:?}");
    assert_eq!(report["reflection"]["methods_match"], true);

    assert_eq!(report["without_credential"], "UNAUTHENTICATED");
    assert!(report["tools"].as_array().unwrap().contains(&json!("replace_text")));
    assert_eq!(report["read"]["content"], "     1\thello world");

    let edit = &report["edit"];
    assert_eq!(edit["question"]["state"], "CONFIRMATION_STATE_PENDING");
    assert_eq!(edit["question"]["tool"], "replace_text");
    assert_eq!(edit["question"]["paths"], json!(["greeting.txt"]));
    let diff = edit["question"]["diff"].as_str().unwrap();
    assert!(diff.contains("-hello world\n+good morning world\n"), "{diff}");
    assert_eq!(edit["caller_resolves"], "PERMISSION_DENIED");
    assert_eq!(edit["caller_watches"], "PERMISSION_DENIED");
    assert_eq!(edit["before"], "hello world\n");
    assert_eq!(edit["resolved"], "CONFIRMATION_STATE_APPROVED");
    assert_eq!(edit["events"], json!(["started", "confirmation_needed", "result"]));
    assert_eq!(edit["resolved_again"], "FAILED_PRECONDITION");
    assert_eq!(edit["after"], "good morning world\n");

    let undo = &report["undo"];
    assert_eq!(undo["entry"], json!({"tool": "replace_text", "paths": ["greeting.txt"]}));
    assert_eq!((&undo["outcome"], &undo["text"]), (&json!("OUTCOME_OK"), &json!("hello world\n")));
    assert_eq!(report["late"], json!({"code": "DEADLINE_EXCEEDED", "exists": true}));
    assert_eq!(site.read("greeting.txt"), "hello world\n");
}

#[test]
fn the_channel_of_the_guide_reaches_an_encrypted_port() {
    let mut site = Site::new();
    let certificates = site.outside("certs");
    let made = site.run(&["certificate", "new", "--dir", certificates.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let at = |name: &str| certificates.join(name).display().to_string();
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    for (option, name) in [
        ("--token-file", "caller.token"),
        ("--tls-cert", "server.crt"),
        ("--tls-key", "server.key"),
        ("--tls-ca", "ca.crt"),
    ] {
        site.argument(option).argument(&at(name));
    }
    let daemon = site.serve();
    let guide = tests().join("../docs/admins.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, code) = guide.split_once("\n```python\n").expect("the guide has code");
    let (code, _) = code.split_once("\n```").expect("the code ends");
    let code = code.replace("build.example:4333", &format!("127.0.0.1:{}", daemon.port()));
    // Health in a form that needs no stubs: an empty message asks for all of the daemon.
    let asking = "
check = channel.unary_unary('/grpc.health.v1.Health/Check')
print(check(b'', timeout=60).hex())
";
    let mut command = Command::new(std::env::var_os("MOSS_TEST_PYTHON").expect(NO_PYTHON));
    command.args(["-B", "-c", &(code + asking)]).current_dir(certificates.parent().unwrap());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = Ended::of(&mut command);
    assert_eq!((ended.code, ended.stdout.trim()), (Some(0), "0801"), "{}", ended.stderr);
}
