//! Tests of the module `user_prompt`: what is written, what is refused, what comes back.

use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::*;

fn dirs(temp: &TempDir) -> Dirs {
    Dirs::beneath(temp.path())
}

fn open(dirs: &Dirs) -> UserPrompt {
    UserPrompt::open(dirs, &Config::default()).unwrap()
}

fn append(text: &str) -> PromptChange {
    PromptChange::Append(text.to_owned())
}

fn replace(text: &str) -> PromptChange {
    PromptChange::Replace(text.to_owned())
}

fn commit(dirs: &Dirs, plan: &Plan) -> Result<u64, ToolError> {
    let origin = Origin {
        call_id: "1".into(),
        tool: "t".into(),
        caller: "caller".into(),
        summary: String::new(),
    };
    open(dirs).commit(plan, &origin)
}

fn done(dirs: &Dirs, change: &PromptChange) -> u64 {
    commit(dirs, &open(dirs).plan(change).unwrap()).unwrap()
}

#[test]
fn a_prompt_is_private_and_its_changes_come_back() {
    let temp = TempDir::new().unwrap();
    let dirs = dirs(&temp);
    assert_eq!(read(&dirs).unwrap(), None);
    let plan = open(&dirs).plan(&append("Use tabs.")).unwrap();
    assert!(plan.files()[0].diff.contains("+Use tabs.\n"), "{}", plan.files()[0].diff);
    assert_eq!(read(&dirs).unwrap(), None, "a plan writes nothing");
    let first = commit(&dirs, &plan).unwrap();
    let mode = std::fs::metadata(file(&dirs)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = done(&dirs, &append("Answer in German."));
    assert_eq!(read(&dirs).unwrap().as_deref(), Some("Use tabs.\nAnswer in German.\n"));
    let (undone, plan) = open(&dirs).plan_undo(None).unwrap();
    assert_eq!(undone, second);
    commit(&dirs, &plan).unwrap();
    assert_eq!(read(&dirs).unwrap().as_deref(), Some("Use tabs.\n"));
    let (_, plan) = open(&dirs).plan_undo(Some(first)).unwrap();
    commit(&dirs, &plan).unwrap();
    assert_eq!(read(&dirs).unwrap(), None);
    let numbers: Vec<_> = open(&dirs).list(10).unwrap().iter().map(|entry| entry.number).collect();
    assert_eq!(numbers.len(), 4);
}

#[test]
fn an_edit_by_hand_after_the_question_wins() {
    let temp = TempDir::new().unwrap();
    let dirs = dirs(&temp);
    done(&dirs, &replace("one"));
    let plan = open(&dirs).plan(&append("two")).unwrap();
    std::fs::write(file(&dirs), "by hand\n").unwrap();
    assert_eq!(commit(&dirs, &plan).unwrap_err().code, ErrorCode::Conflict);
    assert_eq!(read(&dirs).unwrap().as_deref(), Some("by hand\n"));
    done(&dirs, &append("two"));
    assert_eq!(read(&dirs).unwrap().as_deref(), Some("by hand\ntwo\n"));
}

#[test]
fn what_deceives_a_reader_is_refused() {
    let temp = TempDir::new().unwrap();
    let prompt = open(&dirs(&temp));
    for deceptive in [
        "a\0b",
        "a\rb",
        "\u{1b}[2J",
        "\u{202e}x",
        "a\u{200b}",
        "\u{e0041}",
        "\u{feff}a",
        "a\u{fe01}",
        "字\u{e0100}\u{e0101}",
        "a\u{34f}",
        "\u{115f}",
        "\u{3164}",
        "\u{ffa0}",
        "\u{2800}",
        "字\u{200c}\u{200d}字",
    ] {
        let error = prompt.plan(&append(&format!("plain\n{deceptive}"))).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArguments, "{deceptive:?}");
        assert!(error.message.starts_with("line 2 has the character U+"), "{error}");
    }
    for plain in ["a\tb\nc", "می\u{200c}خواهم", "👩\u{200d}💻", "用中文回答"] {
        prompt.plan(&append(plain)).unwrap();
    }
}

#[test]
fn a_prompt_has_an_end_and_a_change_changes_something() {
    let temp = TempDir::new().unwrap();
    let dirs = dirs(&temp);
    let bytes_max = Config::default().user_prompt.bytes_max;
    let error = open(&dirs).plan(&append(&"x".repeat(bytes_max))).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge, "with the end of its line");
    assert_eq!(open(&dirs).plan(&replace("")).unwrap_err().code, ErrorCode::NoChange);
    assert_eq!(open(&dirs).plan_undo(None).unwrap_err().code, ErrorCode::NotFound);
    done(&dirs, &append(&"x".repeat(bytes_max - 1)));
    assert_eq!(open(&dirs).plan(&append("x")).unwrap_err().code, ErrorCode::TooLarge);
    done(&dirs, &replace(""));
    assert_eq!(read(&dirs).unwrap().as_deref(), Some(""));
    assert_eq!(open(&dirs).plan(&replace("")).unwrap_err().code, ErrorCode::NoChange);
}

#[test]
fn a_file_that_is_not_the_users_text_is_left_alone() {
    let temp = TempDir::new().unwrap();
    let dirs = dirs(&temp);
    let prompt = open(&dirs);
    std::fs::write(file(&dirs), b"\xff\xfea\0").unwrap();
    assert_eq!(prompt.plan(&replace("x")).unwrap_err().code, ErrorCode::Encoding);
    std::fs::write(file(&dirs), "x\n").unwrap();
    std::fs::set_permissions(file(&dirs), std::fs::Permissions::from_mode(0o666)).unwrap();
    let error = prompt.plan(&append("y")).unwrap_err();
    assert!(error.message.contains("can be written by other users"), "{error}");
    std::fs::remove_file(file(&dirs)).unwrap();
    std::fs::write(temp.path().join("elsewhere"), "x\n").unwrap();
    std::os::unix::fs::symlink(temp.path().join("elsewhere"), file(&dirs)).unwrap();
    assert_eq!(prompt.plan(&append("y")).unwrap_err().code, ErrorCode::OutsideWorkspace);
    assert_eq!(std::fs::read_to_string(temp.path().join("elsewhere")).unwrap(), "x\n");
}
