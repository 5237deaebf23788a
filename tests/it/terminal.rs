//! A person at a terminal: the diff in colours, the question, the decision.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use moss_proto::v1;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::consent::{asked, long};
use crate::harness::guests::zoo;
use crate::harness::{BOUND, Ended, Site, output};

/// A command on a terminal.
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<(Mutex<Vec<u8>>, Condvar)>,
    reader: JoinHandle<()>,
}

// === impl Terminal ===

impl Terminal {
    pub(crate) fn start(mut command: Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || -> OwnedFd {
            let mut options = File::options();
            options.read(true).write(true).open(name.to_str().unwrap()).unwrap().into()
        };
        let child = command
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::from(open()))
            .spawn()
            .unwrap();
        drop(command);
        let master = File::from(master);
        let keyboard = master.try_clone().unwrap();
        let screen = Arc::new((Mutex::default(), Condvar::new()));
        let of_thread: Arc<(Mutex<Vec<u8>>, Condvar)> = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut master = master;
            let mut buffer = [0; 4096];
            // Ends with an error when the command, which has the other side, is gone.
            while let Ok(count @ 1..) = master.read(&mut buffer) {
                of_thread.0.lock().unwrap().extend(&buffer[..count]);
                of_thread.1.notify_all();
            }
        });
        Self { child, keyboard, screen, reader }
    }

    /// Waits until the screen shows something.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_for_times(text, 1);
    }

    /// Waits until the screen shows something for the second time.
    fn wait_for_again(&self, text: &str) {
        self.wait_for_times(text, 2);
    }

    fn wait_for_times(&self, text: &str, times: usize) {
        let (bytes, changed) = &*self.screen;
        let lacks =
            |bytes: &mut Vec<u8>| String::from_utf8_lossy(bytes).matches(text).count() < times;
        let guard = bytes.lock().unwrap();
        let (guard, waited) = changed.wait_timeout_while(guard, BOUND, lacks).unwrap();
        assert!(!waited.timed_out(), "no `{text}` in {}", String::from_utf8_lossy(&guard));
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits for the end; returns the exit code and everything that was shown.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        self.reader.join().unwrap();
        let bytes = self.screen.0.lock().unwrap();
        (code, String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn edit(site: &Site, old: &str) -> Command {
    let old = format!("oldText={old}");
    site.command(["call", "replace_text", "path=a.txt", &old, "newText=1"])
}

fn site() -> Site {
    let site = Site::new();
    site.write("a.txt", "one\ntwo\n");
    site
}

#[test]
fn person_with_a_chinese_terminal_is_asked_and_told_in_chinese() {
    let site = site();
    let mut command = edit(&site, "one");
    command.env("LANG", "zh_CN.UTF-8");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("要修改 1 个文件");
    terminal.wait_for("规则： 默认：没有规则允许");
    terminal.wait_for("应用此更改？ [y] 是 / [n] 否");
    terminal.type_in("是\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("已修改 a.txt (+1 -1)"), "{screen}");
    // Errors and help are for everybody who helps: English.
    let mut command = site.command(["call", "read_file", "path=none.txt"]);
    command.env("LANG", "zh_CN.UTF-8").stdout(Stdio::piped()).stderr(Stdio::piped());
    let refused = Ended::of(&mut command);
    assert!(refused.stderr.contains("error: ") && refused.stderr.is_ascii(), "{refused:?}");
}

#[test]
fn a_person_sees_the_diff_and_says_yes() {
    for served in [false, true] {
        let site = site();
        let _daemon = served.then(|| site.serve());
        let mut terminal = Terminal::start(edit(&site, "one"));
        terminal.wait_for("apply?");
        assert_eq!(site.read("a.txt"), "one\ntwo\n");
        terminal.type_in("y\n");
        let (code, screen) = terminal.end();
        assert_eq!(code, Some(0), "{screen}");
        assert_eq!(site.read("a.txt"), "1\ntwo\n");
        assert!(screen.contains("\u{1b}[31m-one") && screen.contains("\u{1b}[32m+1"), "{screen:?}");
    }
}

#[test]
fn a_person_says_no_and_why() {
    let site = site();
    let mut terminal = Terminal::start(edit(&site, "one"));
    terminal.wait_for("apply?");
    terminal.type_in("n use two in its place\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(3), "{screen}");
    assert!(screen.contains("denied by a person: use two in its place"), "{screen}");
    assert_eq!(site.read("a.txt"), "one\ntwo\n");
}

#[test]
fn what_is_no_answer_is_asked_again_and_is_never_a_yes() {
    let site = site();
    let mut terminal = Terminal::start(edit(&site, "one"));
    terminal.wait_for("apply?");
    terminal.type_in("perhaps\n\nyes but\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(4), "{screen}");
    assert_eq!(screen.matches("apply?").count(), 3, "{screen}");
    assert_eq!(site.read("a.txt"), "one\ntwo\n");

    // The end of the input.
    let mut terminal = Terminal::start(edit(&site, "one"));
    terminal.wait_for("apply?");
    terminal.type_in("\u{4}");
    assert_eq!(terminal.end().0, Some(4));
    assert_eq!(site.read("a.txt"), "one\ntwo\n");
}

#[test]
fn a_person_sees_what_is_compiled_and_no_more_of_it_in_the_end() {
    let site = Site::new();
    let file = site.outside("zoo.wasm");
    std::fs::write(&file, zoo("polite")).unwrap();
    let check = || Terminal::start(site.command(["plugin", "check", file.to_str().unwrap()]));
    let terminal = check();
    terminal.wait_for("compiling zoo (");
    terminal.wait_for("this is done once, its code is cached 0s");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    let (_, last) = screen.rsplit_once("0s").unwrap();
    assert!(last.contains("\u{1b}[2K") && last.contains("0 errors"), "{screen:?}");
    let (code, screen) = check().end();
    assert_eq!((code, screen.contains("compiling")), (Some(0), false), "{screen}");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let site = site();
    let mut terminal = Terminal::start(edit(&site, "one"));
    terminal.type_in("y\n");
    terminal.wait_for("apply?");
    terminal.type_in("n\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(3), "{screen}");
    assert_eq!(site.read("a.txt"), "one\ntwo\n");
}

#[test]
fn no_color_is_honoured() {
    let site = site();
    let mut command = edit(&site, "one");
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(command);
    terminal.wait_for("apply?");
    terminal.type_in("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains('\u{1b}'), "{screen:?}");
}

#[test]
fn a_file_cannot_speak_to_the_terminal() {
    let site = Site::new();
    site.write("a.txt", "one \u{1b}]0;owned\u{7}\u{1b}[2J\u{202e} end\ntwo\n");
    let mut terminal = Terminal::start(edit(&site, "one"));
    terminal.wait_for("apply?");
    terminal.type_in("n\n");
    let (_, screen) = terminal.end();
    for evil in ["\u{1b}]0;", "\u{1b}[2J", "\u{202e}"] {
        assert!(!screen.contains(evil), "{screen:?}");
    }
    assert!(screen.contains("owned"), "{screen:?}");
}

#[test]
fn a_person_allows_a_rule_for_always_after_reading_it() {
    let site = site();
    let mut terminal = Terminal::start(edit(&site, "one"));
    terminal.wait_for("/ [a]lways:");
    // What was typed before the rule was shown does not agree to it.
    terminal.type_in("a\ny\n");
    terminal.wait_for("without asking?");
    terminal.type_in("n\n");
    terminal.wait_for_again("apply?");
    assert_eq!(site.read("a.txt"), "one\ntwo\n");
    terminal.type_in("always\n");
    terminal.wait_for_again("without asking?");
    terminal.type_in("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    // No daemon serves: there is no session that could last.
    assert!(!screen.contains("[s]ession"), "{screen}");
    for line in ["tools = [\"replace_text\"]", "paths = [\"a.txt\"]", "decision = \"allow\""] {
        assert!(screen.contains(line), "{line} is not in {screen}");
    }
    assert!(screen.contains("revokes it"), "{screen}");
    assert_eq!(site.read("a.txt"), "1\ntwo\n");

    // The next call is not asked about, another path is, and after the revocation all are.
    let again = ["call", "replace_text", "path=a.txt", "oldText=two", "newText=2"];
    assert_eq!(site.run(&again).code, Some(0));
    site.write("b.txt", "two\n");
    let other = ["call", "replace_text", "path=b.txt", "oldText=two", "newText=2"];
    assert_eq!(site.run(&other).code, Some(4));
    let listed = site.run(&["approvals", "list"]).stdout;
    assert!(listed.contains("used 1 time,") && listed.contains("\"a.txt\""), "{listed}");
    assert_eq!(site.run(&["approvals", "revoke", "--all"]).code, Some(0));
    let back = ["call", "replace_text", "path=a.txt", "oldText=2", "newText=two"];
    assert_eq!(site.run(&back).code, Some(4));
}

#[test]
fn a_person_allows_a_rule_for_a_session() {
    let site = site();
    let _daemon = site.serve();
    let mut command = edit(&site, "one");
    command.args(["--session", "s"]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for("for the [s]ession / [a]lways:");
    terminal.type_in("s\n");
    terminal.wait_for("without asking?");
    terminal.type_in("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    let again = ["call", "replace_text", "path=a.txt", "oldText=two", "newText=2"];
    assert_eq!(site.run(&again).code, Some(4));
    assert_eq!(site.run(&[&again[..], &["--session", "t"]].concat()).code, Some(4));
    assert_eq!(site.run(&[&again[..], &["--session", "s"]].concat()).code, Some(0));
    assert!(site.run(&["approvals", "list"]).stdout.contains("session s"));
}

#[test]
fn a_person_sees_the_lines_that_are_not_as_the_edit_says() {
    let site = Site::allowing();
    let lines = |y| format!("func a() {{\n\tx := 1\n\ty := {y}\n\tz := 3\n\treturn\n}}\n");
    site.write("a.go", lines(2));
    let edit = serde_json::json!({
        "path": "a.go", "old_string": lines(99), "new_string": lines(100),
    });
    let mut terminal =
        Terminal::start(site.command(["call", "patch", "--args", &edit.to_string()]));
    terminal.wait_for("apply?");
    assert_eq!(site.read("a.go"), lines(2));
    terminal.type_in("y\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(site.read("a.go"), lines(100));
    let place = |text: &str| screen.find(text).unwrap_or_else(|| panic!("no {text} in {screen}"));
    let places = ["line 3", "expected: \\ty := 99", "found:    \\ty := 2", "@@", "apply?"];
    assert!(places.map(place).is_sorted(), "{screen}");
    assert!(!screen.contains("[a]lways"), "{screen}");
}

#[test]
fn who_cannot_answer_is_not_asked_and_waits_for_the_approver() {
    let mut site = site();
    for (name, token) in [("token", "c0ffee1234567890"), ("approver", "deadbeef12345678")] {
        let path = site.outside(name);
        std::fs::write(&path, token.repeat(2)).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let option = if name == "token" { "--token-file" } else { "--approver-token-file" };
        site.argument(option).argument(path.to_str().unwrap());
    }
    site.argument("--listen").argument("tcp:127.0.0.1:0");
    let daemon = site.serve();
    let over_port = |tokens: &[&str], old: &str| {
        let mut command = edit(&site, old);
        command.args(["--server", &format!("tcp:127.0.0.1:{}", daemon.port())]);
        for (option, name) in ["--token-file", "--approver-token-file"].iter().zip(tokens) {
            command.arg(option).arg(site.outside(name));
        }
        Terminal::start(command)
    };
    let terminal = over_port(&["token"], "one");
    terminal.wait_for("waiting for `moss confirm approve");
    assert_eq!(site.read("a.txt"), "one\ntwo\n");
    let listed: Value =
        serde_json::from_str(&site.run(&["confirm", "list", "--json"]).stdout).unwrap();
    let id = listed["confirmations"][0]["id"].as_str().unwrap();
    assert_eq!(site.run(&["confirm", "approve", id]).code, Some(0));
    let (code, screen) = terminal.end();
    assert_eq!(code, Some(0), "{screen}");
    assert_eq!(site.read("a.txt"), "1\ntwo\n");
    assert!(!screen.contains("apply?") && screen.contains("--approver-token-file"), "{screen}");
    assert!(screen.contains(id), "{screen}");
    // Who has the approver's token as well is asked.
    let mut terminal = over_port(&["token", "approver"], "two");
    terminal.wait_for("apply?");
    terminal.type_in("y\n");
    let (code, screen) = terminal.end();
    assert_eq!((code, site.read("a.txt").as_str()), (Some(0), "1\n1\n"), "{screen}");
}

#[tokio::test]
async fn what_a_person_did_not_page_through_does_not_count_as_shown() {
    let site = site();
    let daemon = site.serve();
    let caller = daemon.caller().await;
    let (events, question) = asked(&caller, "create_file", long()).await;
    let show = || Terminal::start(site.command(["confirm", "show", &question.id, "--full"]));
    let screens = "[enter] next screen";
    // Every page as a preview, which is what a pager asks for before the person reads it.
    let mut page_token = String::new();
    loop {
        let request =
            v1::ShowConfirmationRequest { id: question.id.clone(), page_token, preview: true };
        let approver = daemon.approver().await;
        let page = approver.confirmations().show_confirmation(request).await.unwrap().into_inner();
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let refused = || {
        let refused = site.run(&["confirm", "approve", &question.id]);
        assert!(refused.code != Some(0) && refused.stderr.contains("--full"), "{refused:?}");
    };
    refused();
    let mut first = show();
    first.wait_for(screens);
    first.type_in("\n");
    first.wait_for_again(screens);
    first.type_in("q\n");
    let (code, screen) = first.end();
    assert_eq!(code, Some(130), "{screen:.300}");
    assert!(screen.contains("the rest was not shown") && !screen.contains("+the end"));
    refused();
    let mut whole = show();
    whole.wait_for(screens);
    whole.type_in("a\n");
    let (code, screen) = whole.end();
    assert_eq!(code, Some(0), "{screen:.300}");
    assert!(screen.contains("+the end"));
    assert_eq!(site.run(&["confirm", "approve", &question.id]).code, Some(0));
    output(&events.end().await.unwrap());
}

#[test]
fn question_of_clarify_is_put_to_the_person_at_the_terminal() {
    for served in [false, true] {
        let site = site();
        let _daemon = served.then(|| site.serve());
        let choices = "choices=[\"tabs\",\"spaces\"]";
        let words = ["call", "clarify", "question=Tabs or spaces?", choices, "--json"];
        let mut terminal = Terminal::start(site.command(words));
        terminal.wait_for("a number, your own words");
        terminal.type_in("2\n");
        let (code, screen) = terminal.end();
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("1. tabs"), "{screen}");
        assert!(screen.contains("\"answer\": \"spaces\""), "{screen}");
    }
}
