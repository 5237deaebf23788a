//! How commands end: with their leader, with all that it left running, and with moss itself.

use std::process::{Command, Stdio};
use std::time::Duration;

use moss_sandbox::{
    CommandLimit, EndCause, ProcessExit, SandboxError, SandboxedCommand, Stopper, Tier,
};

use tokio::sync::mpsc;

use crate::harness::{
    KEEPER, PATIENCE, Place, WAYS, Way, alive, dead, eventually, marker, run, sandbox,
    side_by_side, start, try_run,
};

/// Ways in which a process leaves its parent, its group, its session and its streams.
const LEFTOVERS: &[(&str, &str)] = &[
    ("a child", "sleep MARKER & echo ok"),
    ("a session of its own", "setsid sleep MARKER & echo ok"),
    ("nohup", "nohup sleep MARKER >/dev/null 2>&1 & echo ok"),
    ("disowned", "sleep MARKER & disown; echo ok"),
    ("closed streams", "setsid sleep MARKER <&- >&- 2>&- & echo ok"),
    ("a double fork", "(setsid sh -c '(sleep MARKER </dev/null >/dev/null 2>&1 &) &' &); echo ok"),
    ("deaf to signals", "(trap '' TERM HUP INT; setsid sleep MARKER) & echo ok"),
    (
        "cloned without a signal for its end",
        "/usr/bin/python3 -c 'import ctypes, os, time\n\
         clone = 56 if os.uname().machine == \"x86_64\" else 220\n\
         if ctypes.CDLL(None).syscall(clone, 0, 0, 0, 0, 0): os._exit(0)\n\
         time.sleep(600)' MARKER & wait; echo ok",
    ),
    (
        "a first thread that has ended",
        "/usr/bin/python3 -c 'import ctypes, os, threading, time\n\
         if os.fork(): os._exit(0)\n\
         os.setsid()\n\
         threading.Thread(target=time.sleep, args=(600,)).start()\n\
         ctypes.CDLL(None).syscall(60 if os.uname().machine == \"x86_64\" else 93, 0)' MARKER; echo ok",
    ),
    ("a chain of parents", "sh -c 'sh -c \"sleep MARKER & exec sleep MARKER\" &' ; echo ok"),
];

#[test]
fn a_command_that_stops_itself_ends_where_nobody_continues_it() {
    side_by_side(&WAYS, ends_unless_continued);
}

async fn ends_unless_continued(way: Way) {
    let place = Place::new();
    let mut command = place.shell("sh -c 'kill -STOP $$' & kill -STOP $$; echo never");
    command.limits.timeout = Some(Duration::from_secs(60));
    let ran = run(way, command).await;
    let limit = EndCause::Limit(CommandLimit::Standstill);
    assert_eq!((ran.end.cause, ran.stdout.as_str()), (limit, ""), "{way}: {:?}", ran.end);
    let ran = run(way, place.shell("(sleep 3; kill -CONT $$) & kill -STOP $$; echo on")).await;
    assert_eq!((ran.end.cause, ran.stdout.as_str()), (EndCause::Ended, "on\n"), "{way}");
}

#[tokio::test]
async fn a_call_ends_with_its_leader_and_nothing_is_left_alive() {
    for way in WAYS {
        for (leaving, script) in LEFTOVERS {
            let (place, marker) = (Place::new(), marker());
            // Its leader ends when the others have begun.
            let wait = format!("{script}; sleep 0.02");
            let ran = run(way, place.shell(&wait.replace("MARKER", &marker))).await;
            assert_eq!(ran.end.exit, ProcessExit::Exited(0), "{way}, {leaving}: {ran:?}");
            assert_eq!(
                (ran.stdout.as_str(), ran.end.cause),
                ("ok\n", EndCause::Ended),
                "{leaving}"
            );
            let listed = ran.end.left_running.iter().any(|left| left.command.contains(&marker));
            assert!(listed, "{way}, {leaving}: {:?}", ran.end);
            assert!(ran.end.left_running_count >= 1 && !ran.end.is_output_cut, "{way}, {leaving}");
            dead(&marker).await;
        }
    }
}

#[tokio::test]
async fn what_starts_another_and_ends_at_once_is_not_left_alive() {
    // Each has a session of its own and lives for less time than it takes to find it. They give up in the end, so
    // that a failed test leaves nothing for ever.
    let chain = "test -x /usr/bin/perl || exit; /usr/bin/perl -e 'use POSIX; my $until = time() + 45;\n\
                 while (time() < $until) { if (fork()) { POSIX::_exit(0) } POSIX::setsid() }' MARKER & sleep 0.3; echo ok";
    for way in WAYS {
        let (place, marker) = (Place::new(), marker());
        let ran = run(way, place.shell(&chain.replace("MARKER", &marker))).await;
        assert_eq!((ran.stdout.as_str(), ran.end.may_run_on), ("ok\n", false), "{way}: {ran:?}");
        dead(&marker).await;
    }
}

#[tokio::test]
async fn what_ends_by_itself_just_after_its_leader_is_not_listed() {
    for way in WAYS {
        let place = Place::new();
        let ran = run(way, place.shell("sleep 0.01 & echo ok")).await;
        assert_eq!((ran.stdout.as_str(), ran.end.left_running_count), ("ok\n", 0), "{way}");
    }
}

#[tokio::test]
async fn exit_codes_signals_and_both_streams_arrive() {
    for way in WAYS {
        let place = Place::new();
        let ran = run(way, place.shell("echo out; echo err >&2; exit 3")).await;
        assert_eq!(ran.end.exit, ProcessExit::Exited(3), "{way}");
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out\n", "err\n"), "{way}");
        assert_eq!((ran.end.stdout_bytes, ran.end.stderr_bytes), (4, 4), "{way}");
        let ran = run(way, place.shell("kill -KILL $$")).await;
        assert_eq!(ran.end.exit, ProcessExit::Killed(9), "{way}");
        let ran = run(way, place.shell("cat; echo end")).await;
        assert_eq!(ran.stdout, "end\n", "{way}: its input is empty");
        let arguments = ["sh", "-c", "printf '%s|' \"$@\"", "sh", "a b", "", "$HOME"];
        let ran = run(way, SandboxedCommand::new(place.root.clone(), arguments)).await;
        assert_eq!(ran.stdout, "a b||$HOME|", "{way}");
    }
}

#[tokio::test]
async fn a_command_reads_what_is_written_to_its_input_until_that_is_closed() {
    for way in WAYS {
        let place = Place::new();
        let mut command = place.shell("read line; echo first $line > a; cat > b; echo end >> b");
        command.has_input = true;
        let mut running = start(way, command).await;
        let input = running.take_input().unwrap();
        assert!(running.take_input().is_none());
        for text in ["one\n", "two\n"] {
            let mut left = text.as_bytes();
            while !left.is_empty() {
                input.write_some(&mut left).await.unwrap();
            }
        }
        eventually("it has read", || place.root.join("b").exists()).await;
        drop(input);
        let end = running.wait().await.unwrap();
        assert_eq!(end.exit, ProcessExit::Exited(0), "{way}");
        assert_eq!((place.read("a"), place.read("b")), ("first one\n".into(), "two\nend\n".into()));
    }
}

#[tokio::test]
async fn a_command_has_a_terminal_of_its_own_where_it_is_wanted() {
    for way in WAYS {
        let place = Place::new();
        let script = "test -t 0 && test -t 1 && test -t 2 && echo terminal; stty size; echo named > /dev/stdout; \
                      printf 'name? '; read name; echo \"hello $name\"; echo own; cat; echo over";
        let mut command = place.shell(script);
        command.has_terminal = true;
        command.tier_min = way.tier();
        let (sender, mut chunks) = mpsc::channel(16);
        let mut running = sandbox(way).await.start(command, sender).await.unwrap();
        let input = running.take_input().unwrap();
        let mut text = String::new();
        let mut is_typed = false;
        let mut input = Some(input);
        while let Some(chunk) = chunks.recv().await {
            text.push_str(&String::from_utf8_lossy(&chunk.bytes));
            if !is_typed && text.contains("name? ") {
                is_typed = true;
                let mut left: &[u8] = b"you\n";
                while !left.is_empty() {
                    input.as_ref().unwrap().write_some(&mut left).await.unwrap();
                }
            }
            // The end of the input is typed when it is dropped.
            if text.contains("own\n") {
                input = None;
            }
        }
        let end = running.wait().await.unwrap();
        assert_eq!(end.exit.to_string(), "ended with status 0", "{way}: {text}");
        for part in ["terminal\n", "24 80\n", "named\n", "hello you\n", "own\n", "over\n"] {
            assert!(text.contains(part), "{way}: {part:?} in {text:?}");
        }
    }
    // Without one there is none.
    let place = Place::new();
    let ran = run(Way::Bubblewrap, place.shell("test -t 0 || test -t 1 || echo none")).await;
    assert_eq!(ran.stdout, "none\n", "{ran:?}");
}

#[tokio::test]
async fn a_timeout_ends_all_of_it_and_more_firmly_where_it_does_not_listen() {
    for way in WAYS {
        for script in ["sleep MARKER", "trap '' TERM; while :; do sleep MARKER; done"] {
            let (place, marker) = (Place::new(), marker());
            let mut command =
                place.shell(&format!("echo begun; {}", script.replace("MARKER", &marker)));
            command.limits.timeout = Some(Duration::from_millis(300));
            command.limits.grace = Duration::from_millis(100);
            let ran = run(way, command).await;
            assert_eq!(ran.end.cause, EndCause::Timeout, "{way}");
            assert!(matches!(ran.end.exit, ProcessExit::Killed(15 | 9)), "{way}: {:?}", ran.end);
            assert_eq!(ran.stdout, "begun\n", "{way}");
            dead(&marker).await;
        }
    }
}

#[tokio::test]
async fn a_command_at_a_terminal_of_its_own_that_does_not_listen_is_killed_however_it_is_ended() {
    type Stop = fn(&Stopper);
    let stops: [(&str, Stop); 3] = [
        ("it asks", Stopper::terminate_at_terminal),
        ("it is stopped", Stopper::terminate),
        ("its call is cancelled", Stopper::kill),
    ];
    for (way, (why, stop)) in WAYS.iter().flat_map(|&way| stops.map(|stop| (way, stop))) {
        let (place, marker) = (Place::new(), marker());
        let waits = format!("touch begun; while :; do sleep {marker}; done");
        let makes = "python3 -c 'import pty, sys\npty.spawn([\"sh\", \"-c\", sys.argv[1]])'";
        // On the tier without mounts a command makes no terminal: it has one that moss gives it.
        let is_given = way == Way::Landlock;
        let waits = if is_given { waits } else { format!("{makes} '{waits}'; sleep {marker}") };
        let mut command = place.shell(&format!("trap '' TERM HUP; {waits}"));
        command.has_terminal = is_given;
        command.limits.timeout = None;
        command.limits.grace = Duration::from_millis(100);
        let running = start(way, command).await;
        let begun = place.root.join("begun");
        eventually("it is at its terminal", || begun.exists()).await;
        stop(&running.stopper());
        let ended = tokio::time::timeout(PATIENCE, running.wait()).await;
        let end = ended.unwrap_or_else(|_| panic!("{way}, {why}: it runs on")).unwrap();
        let cause = match why {
            "it asks" => EndCause::Limit(CommandLimit::Input),
            _ => EndCause::Stopped,
        };
        assert_eq!((end.cause, end.exit), (cause, ProcessExit::Killed(9)), "{way}, {why}");
        dead(&marker).await;
    }
}

#[tokio::test]
async fn a_command_that_cleans_up_has_the_time_for_it() {
    for way in WAYS {
        let place = Place::new();
        let script =
            "trap 'echo clean > done; exit 7' TERM; touch begun; while :; do sleep 0.01; done";
        let running = start(way, place.shell(script)).await;
        let stopper = running.stopper();
        let begun = place.root.join("begun");
        eventually("it begins", || begun.exists()).await;
        stopper.terminate();
        let end = running.wait().await.unwrap();
        assert_eq!((end.cause, end.exit), (EndCause::Stopped, ProcessExit::Exited(7)), "{way}");
        assert_eq!(place.read("done"), "clean\n", "{way}");
    }
}

#[tokio::test]
async fn dropping_a_command_kills_all_of_it() {
    for way in WAYS {
        let (place, marker) = (Place::new(), marker());
        let script = format!("setsid sleep {marker} & sleep {marker}");
        let running = start(way, place.shell(&script)).await;
        eventually("both begin", || alive(&marker).len() == 2).await;
        drop(running);
        dead(&marker).await;
    }
}

#[tokio::test]
async fn nothing_outlives_a_killed_moss() {
    for way in WAYS {
        let (place, marker) = (Place::new(), marker());
        let script = format!("setsid sleep {marker} & (sleep {marker} &) ; exec sleep {marker}");
        let mut host = Command::new(KEEPER)
            .args(["host", place.root.to_str().unwrap(), &way.to_string(), &script, "20"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        eventually("20 commands of three processes", || alive(&marker).len() == 60).await;
        host.kill().unwrap();
        host.wait().unwrap();
        dead(&marker).await;
    }
}

#[tokio::test]
async fn what_cannot_be_run_is_an_error_that_says_why() {
    for way in WAYS {
        let place = Place::new();
        let error = |command| async { try_run(way, command).await.unwrap_err() };
        let new = |words: &[&str]| {
            let mut command = SandboxedCommand::new(place.root.clone(), words);
            command.tier_min = way.tier();
            command
        };
        let missing = error(new(&["no-such-program-anywhere"])).await;
        assert!(matches!(missing, SandboxError::Program { .. }), "{way}: {missing}");
        let (long, many) = ("x".repeat(200 << 10), "x".repeat(100 << 10));
        let together = vec![many.as_str(); 30];
        for words in [&[][..], &[""], &["a\0b"], &["true", &long], &together[..]] {
            let refused = error(new(words)).await;
            assert!(matches!(refused, SandboxError::Arguments(_)), "{way}: {refused}");
        }
        for directory in ["/", "/usr", "relative"] {
            let mut command = new(&["true"]);
            command.directory = directory.into();
            let refused = error(command).await;
            assert!(matches!(refused, SandboxError::Directory { .. }), "{way}: {refused}");
        }
        let mut command = new(&["true"]);
        command.directory = place.root.join("missing");
        let refused = error(command).await;
        assert!(matches!(refused, SandboxError::Directory { .. }), "{way}: {refused}");
    }
    let place = Place::new();
    let mut command = place.shell("true");
    command.tier_min = Tier::Full;
    let refused = try_run(Way::Landlock, command).await.unwrap_err();
    assert!(matches!(refused, SandboxError::Tier { .. }), "{refused}");
}
