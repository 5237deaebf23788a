//! Texts that are written to commands and typed in their terminals: whole, or not at all.

use std::fs;
use std::time::Duration;

use moss_sandbox::{CommandInput, InputError, RunningCommand, TERMINAL_LINE_BYTES_MAX, WholeInput};

use crate::harness::{PATIENCE, Place, Way, eventually, start};

/// Starts a command that copies what it reads into the file `got`, once it is there.
async fn copying(place: &Place, has_terminal: bool) -> (RunningCommand, CommandInput) {
    let script = match has_terminal {
        true => "stty -echo; touch ready; cat > got",
        false => "touch ready; until test -e go; do sleep 0.02; done; cat > got",
    };
    let mut command = place.shell(script);
    (command.has_input, command.has_terminal) = (!has_terminal, has_terminal);
    let mut running = start(Way::Own, command).await;
    let input = running.take_input().unwrap();
    eventually("it is ready", || place.root.join("ready").exists()).await;
    (running, input)
}

#[tokio::test]
async fn a_terminal_keeps_lines_up_to_the_limit_and_cuts_longer_ones() {
    for (bytes, is_whole) in [(TERMINAL_LINE_BYTES_MAX, true), (TERMINAL_LINE_BYTES_MAX + 1, false)]
    {
        let place = Place::new();
        let (running, input) = copying(&place, true).await;
        let line = format!("{}\n", "x".repeat(bytes));
        let mut left = line.as_bytes();
        while !left.is_empty() {
            input.write_some(&mut left).await.unwrap();
        }
        drop(input);
        running.wait().await.unwrap();
        assert_eq!(place.read("got") == line, is_whole, "{bytes}");
        assert!(place.read("got").ends_with("x\n"), "the line break is never dropped");
    }
}

#[tokio::test]
async fn a_line_that_a_terminal_would_cut_is_refused_before_it_is_typed() {
    let place = Place::new();
    let (running, input) = copying(&place, true).await;
    let input = WholeInput::new(Some(input));
    let of = |bytes: usize| "x".repeat(bytes);
    let long = |text: String| input.check(&text).err();
    let type_in = async |text: String| input.write(&text, false, PATIENCE).await;
    assert_eq!(long(of(4_095)), None);
    assert_eq!(long(format!("{}\n{}\r{}\n", of(4_095), of(4_095), of(9))), None);
    assert_eq!(long(format!("ls\n{}\n", of(4_096))), Some(InputError::LongLine(4_096)));
    // What was typed before it is of the same line.
    type_in(of(4_000)).await.unwrap();
    assert_eq!(long(of(95)), None);
    assert_eq!(long(format!("{}\n", of(96))), Some(InputError::LongLine(4_096)));
    type_in(of(90)).await.unwrap();
    assert_eq!(type_in(of(6)).await, Err(InputError::LongLine(4_096)));
    type_in("\nab".to_owned()).await.unwrap();
    assert_eq!(long(of(4_093)), None);
    assert_eq!(long(of(4_094)), Some(InputError::LongLine(4_096)));
    input.write("\n", true, PATIENCE).await.unwrap();
    running.wait().await.unwrap();
    assert_eq!(place.read("got"), format!("{}\nab\n", of(4_090)));
    assert_eq!(type_in("x".to_owned()).await, Err(InputError::Closed));
}

#[tokio::test]
async fn a_text_that_is_read_late_is_whole_before_the_next_one() {
    let place = Place::new();
    let (running, input) = copying(&place, false).await;
    let input = WholeInput::new(Some(input));
    let first = "first ".repeat(100_000);
    assert_eq!(input.check(&first), Ok(()), "a pipe has no lines");
    // Its reader waits, so that neither ends by itself.
    let moment = Duration::from_millis(300);
    let late = input.write(&first, false, moment).await.unwrap_err();
    let InputError::Late { written, bytes } = late else { panic!("{late:?}") };
    assert!(written > 0 && written < bytes && bytes == first.len(), "{written}");
    assert_eq!(input.write("never", false, moment).await, Err(InputError::Unread));
    tokio::time::timeout(moment, input.write_rests()).await.unwrap_err();
    fs::write(place.root.join("go"), "").unwrap();
    // Its rest is written without another text.
    let has_all = || place.root.join("got").metadata().is_ok_and(|got| got.len() == bytes as u64);
    tokio::select! {
        never = input.write_rests() => match never {},
        () = eventually("the rest is read", has_all) => {}
    }
    input.write("second", true, PATIENCE).await.unwrap();
    running.wait().await.unwrap();
    assert_eq!(place.read("got"), first + "second");
}

#[tokio::test]
async fn an_input_is_closed_behind_a_text_that_is_read_late() {
    let place = Place::new();
    let (running, input) = copying(&place, false).await;
    let input = WholeInput::new(Some(input));
    let text = "text ".repeat(100_000);
    let late = input.write(&text, true, Duration::from_millis(300)).await;
    assert!(matches!(late, Err(InputError::Late { .. })), "{late:?}");
    assert_eq!(input.write("never", false, PATIENCE).await, Err(InputError::Closed));
    fs::write(place.root.join("go"), "").unwrap();
    tokio::select! {
        never = input.write_rests() => match never {},
        // It reads to the end.
        ended = running.wait() => drop(ended.unwrap()),
    }
    assert_eq!(place.read("got"), text);
}

#[tokio::test]
async fn a_terminal_that_is_read_byte_by_byte_takes_long_lines() {
    let place = Place::new();
    let mut command =
        place.shell("stty raw -echo; touch ready; head -c 6000 > got; stty cooked; cat");
    command.has_terminal = true;
    let mut running = start(Way::Own, command).await;
    let input = WholeInput::new(running.take_input());
    eventually("it is ready", || place.root.join("ready").exists()).await;
    let text = "x".repeat(6_000);
    input.write(&text, false, PATIENCE).await.unwrap();
    eventually("it is read", || {
        place.root.join("got").metadata().is_ok_and(|got| got.len() == text.len() as u64)
    })
    .await;
    eventually("lines are read", || input.check(&text) == Err(InputError::LongLine(6_000))).await;
    input.close().await;
    running.wait().await.unwrap();
    assert_eq!(place.read("got"), text);
}
