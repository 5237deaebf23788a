//! The registry of editors: whose text counts, who is asked, and its bounds.

use std::time::Duration;

use moss_sdk::editor::UserQuestion;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn registry(limits: moss_config::EditorsConfig) -> Arc<EditorRegistry> {
    static IDS: AtomicUsize = AtomicUsize::new(0);
    EditorRegistry::new(limits, || format!("question {}", IDS.fetch_add(1, Ordering::Relaxed)))
}

fn limits() -> moss_config::EditorsConfig {
    moss_config::Config::default().editors
}

fn hello(name: &str, capabilities: &[EditorCapability]) -> Hello {
    Hello {
        name: name.into(),
        version: String::new(),
        capabilities: capabilities.to_vec(),
        instance: None,
    }
}

fn rel(path: &str) -> RelPath {
    RelPath::parse(path).unwrap()
}

fn buffer(path: &str, version: u64, text: Option<&str>) -> Buffer {
    buffer_of(path, "a", version, text)
}

fn buffer_of(path: &str, real: &str, version: u64, text: Option<&str>) -> Buffer {
    let held = text.map_or(BufferState::Saved, |text| BufferState::Text(text.into()));
    Buffer { path: rel(path), real: rel(real), version, held, told_at: 0 }
}

fn clarify() -> EditorQuestion {
    EditorQuestion::Clarify(UserQuestion { question: "Why?".into(), choices: Vec::new() })
}

fn asked(message: Option<ToEditor>) -> String {
    match message {
        Some(ToEditor::Asked { id, .. }) => id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn newest_text_of_a_file_counts_and_goes_with_its_editor() {
    let editors = registry(limits());
    let (one, _from_one) = editors.attach(hello("one", &[])).unwrap();
    let (two, _from_two) = editors.attach(hello("two", &[EditorCapability::ApplyEdit])).unwrap();
    let file = rel("a");
    assert!(editors.unsaved_buffer(&file).is_none());
    two.hold(buffer("a", 1, Some("of two"))).unwrap();
    one.hold(buffer("link", 1, Some("of one"))).unwrap();
    let newest = editors.unsaved_buffer(&file).unwrap();
    assert_eq!((&*newest.text, newest.path.as_str()), ("of one", "link"));
    assert_eq!((newest.takes_edits, newest.contested_by.as_deref()), (false, Some("two")));
    two.hold(buffer("a", 2, Some("of one"))).unwrap();
    let same = editors.unsaved_buffer(&file).unwrap();
    assert_eq!((same.name.as_str(), same.contested_by), ("two", None));
    drop(two);
    assert_eq!(editors.unsaved_buffer(&file).unwrap().name, "one");
    one.hold(buffer("link", 2, None)).unwrap();
    assert!(editors.unsaved_buffer(&file).is_none());
    one.hold(buffer("link", 3, Some("again"))).unwrap();
    one.close(&rel("link"));
    assert!(editors.unsaved_buffer(&file).is_none());
    assert_eq!(editors.unsaved.load(Ordering::Relaxed), 0);
}

#[test]
fn text_of_a_name_that_leads_elsewhere_by_now_does_not_stay_behind() {
    let editors = registry(limits());
    let (one, _from_one) = editors.attach(hello("one", &[])).unwrap();
    one.hold(buffer_of("link", "a", 1, Some("of a"))).unwrap();
    one.hold(buffer_of("link", "b", 2, Some("of b"))).unwrap();
    assert!(editors.unsaved_buffer(&rel("a")).is_none());
    assert_eq!(&*editors.unsaved_buffer(&rel("b")).unwrap().text, "of b");
    assert_eq!(editors.unsaved.load(Ordering::Relaxed), 1);
}

#[test]
fn applied_edit_is_known_before_the_editor_reports_it() {
    let editors = registry(limits());
    let (one, _from_one) = editors.attach(hello("one", &[EditorCapability::ApplyEdit])).unwrap();
    let file = rel("a");
    one.hold(buffer("a", 1, Some("before"))).unwrap();
    let asked = editors.unsaved_buffer(&file).unwrap();
    editors.note_applied(&asked, 2, "after");
    let known = || editors.unsaved_buffer(&file).map(|held| (held.version, held.text.to_string()));
    assert_eq!(known(), Some((2, "after".into())));
    // The person typed on: that is newer.
    one.hold(buffer("a", 4, Some("after and more"))).unwrap();
    editors.note_applied(&asked, 3, "after");
    assert_eq!(known(), Some((4, "after and more".into())));
    // Saved meanwhile: the answer makes no buffer.
    one.hold(buffer("a", 5, None)).unwrap();
    editors.note_applied(&asked, 6, "after");
    assert_eq!(known(), None);
    // Closed meanwhile, and opened again: versions count anew.
    one.close(&file);
    one.hold(buffer("a", 1, Some("opened again"))).unwrap();
    editors.note_applied(&asked, 7, "after");
    assert_eq!(known(), Some((1, "opened again".into())));
}

#[test]
fn last_used_editor_is_the_active_one() {
    let editors = registry(limits());
    assert!(editors.active().is_none());
    let (one, _from_one) = editors.attach(hello("one", &[])).unwrap();
    let (two, _from_two) = editors.attach(hello("two", &[])).unwrap();
    assert_eq!(editors.active().unwrap().name, "two");
    one.look(None);
    assert_eq!(editors.active().unwrap().name, "one");
    drop(one);
    assert_eq!(editors.active().unwrap().name, "two");
    drop(two);
    assert!(editors.active().is_none());
}

#[tokio::test(start_paused = true)]
async fn nobody_is_waited_for_who_is_not_there() {
    let editors = registry(limits());
    let ask =
        async || editors.ask((Some("me"), Whom::Person), clarify(), SECOND).await.unwrap_err();
    assert_eq!(ask().await, NoReply::Nobody);
    let (_cannot, _told) =
        editors.attach(hello("cannot", &[EditorCapability::Definitions])).unwrap();
    assert_eq!(ask().await, NoReply::Nobody);
    let (can, mut told) = editors.attach(hello("can", &[EditorCapability::Clarify])).unwrap();
    assert_eq!(ask().await, NoReply::Silent { editor: "can".into(), timeout: SECOND });
    let id = asked(told.recv().await);
    assert!(matches!(told.recv().await, Some(ToEditor::Over { end: QuestionEnd::Expired, .. })));
    let late = can.reply(&id, EditorReply::Clarified("x".into()));
    assert_eq!(late, Err(EditorRefusal::QuestionOver(id)));
    let (answer, ()) =
        tokio::join!(editors.ask((Some("me"), Whom::Person), clarify(), SECOND), async {
            told.recv().await;
            drop(can);
        });
    assert_eq!(answer.unwrap_err(), NoReply::Gone("can".into()));
}

#[tokio::test(start_paused = true)]
async fn a_caller_has_its_share_of_the_questions_and_the_approver_always_asks() {
    let editors = registry(limits());
    let questions_max = limits().questions_max;
    let (_can, mut told) = editors.attach(hello("can", &[EditorCapability::Clarify])).unwrap();
    let put = |asker| editors.put((asker, Whom::Person), clarify(), SECOND);
    let mut open: Vec<_> = (0..questions_max).map(|_| put(Some("one")).unwrap()).collect();
    assert_eq!(put(Some("one")).err(), Some(NoReply::TooMany(questions_max)));
    open.push(put(Some("other")).unwrap());
    assert_eq!(put(Some("other")).err(), Some(NoReply::TooMany(1)));
    while told.try_recv().is_ok() {}
    open.clear();
    while told.try_recv().is_ok() {}
    open.push(put(Some("other")).unwrap());
    open.extend((0..questions_max / 2).map(|_| put(Some("one")).unwrap()));
    assert_eq!(put(Some("one")).err(), Some(NoReply::TooMany(questions_max / 2)));
    open.extend((1..questions_max / 2).map(|_| put(Some("other")).unwrap()));
    open.push(put(Some("late")).unwrap());
    assert_eq!(put(Some("late")).err(), Some(NoReply::TooMany(1)));
    open.push(put(None).unwrap());
    while told.try_recv().is_ok() {}
    open.clear();
    assert!(put(Some("late")).is_ok());
}

#[tokio::test(start_paused = true)]
async fn editor_that_has_the_file_open_is_asked_about_it() {
    let editors = registry(limits());
    let can = [EditorCapability::DocumentSymbols];
    let (one, mut to_one) = editors.attach(hello("one", &can)).unwrap();
    let (two, mut to_two) = editors.attach(hello("two", &can)).unwrap();
    let file = rel("a");
    let ask = async || {
        let question = EditorQuestion::Symbols { path: file.clone() };
        editors.ask((Some("me"), Whom::Knowing(&file)), question, SECOND).await
    };
    assert!(ask().await.is_err());
    assert!(to_one.is_empty() && !to_two.is_empty(), "the one that was used last");
    one.hold(buffer("a", 1, None)).unwrap();
    let (answer, ()) = tokio::join!(ask(), async {
        let id = asked(to_one.recv().await);
        one.reply(&id, EditorReply::Symbols(Vec::new())).unwrap();
    });
    assert_eq!(answer.unwrap(), (EditorReply::Symbols(Vec::new()), "one".to_owned()));
    drop(two);
    while to_two.recv().await.is_some() {}
}

#[test]
fn bounds_hold_over_all_files_of_an_editor() {
    let bounds = moss_config::EditorsConfig {
        buffers_max: 2,
        unsaved_bytes_max: 10,
        diagnostics_max: 3,
        ..limits()
    };
    let editors = registry(bounds);
    let (one, _told) = editors.attach(hello("one", &[])).unwrap();
    let hold =
        |path: &str, version, text: &str| one.hold(buffer_of(path, path, version, Some(text)));
    hold("a", 1, "12345").unwrap();
    hold("b", 1, "12345").unwrap();
    assert_eq!(hold("c", 1, ""), Err(EditorRefusal::TooManyBuffers(2)));
    assert_eq!(hold("a", 2, "123456"), Err(EditorRefusal::TooMuchUnsaved(10)));
    // What was known of it is no longer true, and nobody may write the file.
    assert!(editors.unsaved_buffer(&rel("a")).is_none());
    assert!(editors.holds(&rel("a")) && editors.holds(&rel("c")) && !editors.holds(&rel("d")));
    assert!(editors.unsaved_buffer(&rel("b")).is_some());
    let said = |count| {
        let one = Diagnostic {
            span: Default::default(),
            severity: moss_sdk::editor::Severity::Error,
            message: String::new(),
            source: String::new(),
            code: String::new(),
        };
        vec![one; count]
    };
    one.diagnose(rel("a"), said(2)).unwrap();
    assert_eq!(one.diagnose(rel("b"), said(2)), Err(EditorRefusal::TooManyDiagnostics(3)));
    one.diagnose(rel("a"), said(3)).unwrap();
    one.diagnose(rel("a"), said(0)).unwrap();
    one.diagnose(rel("b"), said(3)).unwrap();
}
