//! What commands may use at most, and what moss holds of what they write.

use std::fs;

use moss_sandbox::{CommandLimit, EndCause, OUTPUT_CHUNK_BYTES_MAX, Profile};
use tokio::sync::mpsc;

use crate::harness::{FULL, Place, WAYS, Way, dead, marker, run, sandbox};

/// More output than moss may hold in memory, in bytes.
const MUCH: u64 = 1 << 30;
/// How much more of memory moss may have used for it, in bytes.
const GROWTH_MAX: u64 = 16 << 20;

#[tokio::test]
async fn a_gigabyte_of_output_passes_through_bounded_memory() {
    let place = Place::new();
    let sandbox = sandbox(Way::Bubblewrap).await;
    let before = peak_bytes();
    let (sender, mut chunks) = mpsc::channel(16);
    let command = place.shell(&format!("head -c {MUCH} /dev/zero"));
    let running = sandbox.start(command, sender).await.unwrap();
    let listen = async {
        let mut total = 0;
        while let Some(chunk) = chunks.recv().await {
            assert!((1..=OUTPUT_CHUNK_BYTES_MAX).contains(&chunk.bytes.len()));
            total += chunk.bytes.len() as u64;
        }
        total
    };
    let (total, end) = tokio::join!(listen, running.wait());
    assert_eq!((total, end.unwrap().stdout_bytes), (MUCH, MUCH));
    let growth = peak_bytes().saturating_sub(before);
    assert!(growth < GROWTH_MAX + OTHERS, "{growth} bytes more at the peak");
}

/// What the other tests of this process use meanwhile, in bytes.
const OTHERS: u64 = 48 << 20;

/// The most memory that this process ever had.
fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn output_that_nobody_wants_does_not_hold_a_command_up() {
    let (sender, chunks) = mpsc::channel(1);
    drop(chunks);
    let place = Place::new();
    let command = place.shell("head -c 10000000 /dev/zero; exit 4");
    let running = sandbox(Way::Bubblewrap).await.start(command, sender).await.unwrap();
    let end = running.wait().await.unwrap();
    assert_eq!(
        (end.exit.to_string().as_str(), end.stdout_bytes),
        ("ended with status 4", 10_000_000)
    );
}

#[tokio::test]
async fn limits_end_a_command_and_say_which_it_was() {
    for way in WAYS {
        let place = Place::new();
        let mut command = place.shell("while :; do :; done");
        command.limits.cpu_seconds = 1;
        let ran = run(way, command).await;
        assert_eq!(ran.end.cause, EndCause::Limit(CommandLimit::Cpu), "{way}: {:?}", ran.end);

        let mut command = place.shell("exec head -c 2000000 /dev/zero > large");
        command.limits.file_bytes_max = 1_000_000;
        let ran = run(way, command).await;
        assert_eq!(ran.end.cause, EndCause::Limit(CommandLimit::FileSize), "{way}: {:?}", ran.end);
        assert_eq!(fs::metadata(place.root.join("large")).unwrap().len(), 1_000_000);

        let marker = marker();
        let hog = format!("x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep {marker}");
        let mut command = place.shell(&hog);
        command.limits.memory_bytes_max = 100 << 20;
        let ran = run(way, command).await;
        assert_eq!(ran.end.cause, EndCause::Limit(CommandLimit::Memory), "{way}: {:?}", ran.end);
        dead(&marker).await;

        let ran = run(way, place.shell("ulimit -n; ulimit -c; ulimit -Hn")).await;
        assert_eq!(ran.stdout, "4096\n0\n4096\n", "{way}");
    }
}

#[tokio::test]
async fn a_temporary_directory_on_the_disk_is_bounded_in_bytes_and_files() {
    let (bytes, files) =
        (CommandLimit::TemporaryBytes(64 << 20), CommandLimit::TemporaryFiles(16 << 10));
    for (script, limit) in [
        ("head -c 100000000 /dev/zero > $TMPDIR/x", bytes),
        (
            "mkdir -p $TMPDIR/a/b; for i in 1 2 3 4; do head -c 25000000 /dev/zero > $TMPDIR/a/b/$i; done",
            bytes,
        ),
        ("exec 3<>$TMPDIR/x; rm $TMPDIR/x; head -c 100000000 /dev/zero >&3", bytes),
        ("cd $TMPDIR; seq 20000 | xargs touch", files),
    ] {
        let (place, marker) = (Place::new(), marker());
        let mut command = place.shell(&format!("{script}; exec sleep {marker}"));
        command.limits.memory_bytes_max = 64 << 20;
        let end = run(Way::Landlock, command).await.end;
        assert_eq!(end.cause, EndCause::Limit(limit), "{script}: {end:?}");
        dead(&marker).await;
    }
    let said = bytes.to_string();
    assert!(said.contains("more than 64 MiB") && said.contains("TMPDIR"), "{said}");
    // What is within the bound, and what lies elsewhere, ends nothing.
    let place = Place::new();
    let script =
        "head -c 50000000 /dev/zero > $TMPDIR/x; head -c 100000000 /dev/zero > y; sleep 1.5";
    let mut command = place.shell(script);
    command.limits.memory_bytes_max = 64 << 20;
    let end = run(Way::Landlock, command).await.end;
    assert_eq!(end.cause, EndCause::Ended, "{end:?}");
}

#[tokio::test]
async fn a_fork_bomb_ends_and_leaves_nothing() {
    for way in WAYS {
        let (place, marker) = (Place::new(), marker());
        // Each makes two more, up to a bound that is far beyond the limit.
        let bomb = "f() { [ $1 -gt 0 ] || { sleep MARKER; return; }; f $(($1 - 1)) & f $(($1 - 1)) & wait; }; f 12";
        let mut command = place.shell(&bomb.replace("MARKER", &marker));
        command.limits.processes_max = 50;
        let ran = run(way, command).await;
        // The kernel counts for ordinary users, the keeper for everybody.
        let is_refused = ran.stderr.contains("Resource temporarily unavailable");
        let is_ended = ran.end.cause == EndCause::Limit(CommandLimit::Processes);
        assert!(is_refused || is_ended, "{way}: {ran:?}");
        dead(&marker).await;
    }
}

#[tokio::test]
async fn memory_that_programs_share_by_names_is_bounded_and_nothing_is_made_beside_it() {
    for way in FULL {
        let place = Place::new();
        let script = "echo $(($(stat -f -c '%b * %S' /dev/shm) >> 20)); echo x > /dev/shm/a && echo made; \
                      echo x > /dev/b || echo refused";
        let mut command = place.shell(script);
        command.limits.memory_bytes_max = 64 << 20;
        let ran = run(way, command).await;
        assert_eq!(ran.stdout, "64\nmade\nrefused\n", "{way}: {ran:?}");
    }
}

#[tokio::test]
async fn memory_that_programs_share_by_numbers_is_bounded_where_root_may_say_so() {
    // More than the limit at once, more than half of it, and that again.
    let script = "getconf PAGESIZE; uname -r; cat /proc/sys/kernel/shmall; /usr/bin/python3 -c 'import ctypes\nlibc = ctypes.CDLL(None)\n\
                  for megabytes in [80, 40, 40]: print(libc.shmget(0, ctypes.c_size_t(megabytes << 20), 0o1600) >= 0)'";
    let place = Place::new();
    let mut command = place.shell(script);
    command.limits.memory_bytes_max = 64 << 20;
    let ran = run(Way::Own, command).await;
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let [page_bytes, release, pages, made @ ..] = &lines[..] else { panic!("{ran:?}") };
    let bound = (64 << 20) / page_bytes.parse::<u64>().unwrap();
    let is_bound = *pages == bound.to_string();
    let expected = if is_bound { ["False", "True", "False"] } else { ["True"; 3] };
    assert_eq!(made, expected, "{ran:?}");
    // The kernel lets root alone say so, and that of containers only where it is newer.
    let version: Vec<u32> = release.split('.').map_while(|part| part.parse().ok()).collect();
    let may_bind = rustix::process::getuid().is_root() && version[..2] >= [6, 9][..];
    assert!(is_bound || !may_bind, "{ran:?}");
}

#[tokio::test]
async fn a_command_is_what_the_kernel_ends_first_and_it_cannot_change_that() {
    for way in WAYS {
        for profile in [Profile::ReadOnly, Profile::WorkspaceWrite] {
            let script = "echo 0 > /proc/self/oom_score_adj; (cat /proc/self/oom_score_adj)";
            let place = Place::new();
            let mut command = place.shell(script);
            command.profile = profile;
            let ran = run(way, command).await;
            assert_eq!(ran.stdout, "1000\n", "{way}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn private_directories_have_no_more_files_than_they_have_room_for() {
    let place = Place::new();
    let mut command = place.shell("stat -f -c %c /tmp ~ /dev/shm");
    command.limits.memory_bytes_max = 64 << 20;
    let ran = run(Way::Own, command).await;
    assert_eq!(ran.stdout, "16384\n".repeat(3), "{ran:?}");
}

#[tokio::test]
async fn half_of_what_the_kernel_counts_for_a_user_is_left_to_others() {
    let of_user = |name: &str| {
        let text = fs::read_to_string(format!("/proc/sys/fs/inotify/max_user_{name}")).unwrap();
        text.trim().parse::<u64>().unwrap()
    };
    let script = "cd /proc/sys/user; cat max_inotify_instances max_inotify_watches; \
                  /usr/bin/python3 -c 'import ctypes\nlibc, count = ctypes.CDLL(None), 0\n\
                  while libc.inotify_init() >= 0: count += 1\nprint(count)'";
    let place = Place::new();
    let ran = run(Way::Own, place.shell(script)).await;
    let numbers: Vec<u64> = ran.stdout.lines().map(|line| line.parse().unwrap()).collect();
    let (instances, watches) = (of_user("instances") / 2, of_user("watches") / 2);
    assert_eq!(numbers[..2], [instances, watches], "{ran:?}");
    assert!((1..=instances).contains(&numbers[2]), "{ran:?}");
}

#[tokio::test]
async fn memory_that_processes_share_counts_once() {
    let script = |more: &str| {
        format!(
            "import mmap, os, time\nm = mmap.mmap(-1, 40 << 20)\nm.write(b'x' * len(m))\np = b'x' * len(m)\n\
             {more}\nfor one in range(3):\n if os.fork() == 0: sum(m[::4096]); time.sleep(0.7); os._exit(0)\n\
             sum(m[::4096]); time.sleep(0.7)\nprint('ok')"
        )
    };
    let more = "n = mmap.mmap(-1, 60 << 20)\nn.write(b'x' * len(n))\ntime.sleep(20)";
    for way in WAYS {
        for (more, cause) in [("", EndCause::Ended), (more, EndCause::Limit(CommandLimit::Memory))]
        {
            let place = Place::new();
            place.write("share.py", &script(more));
            let mut command = place.shell("exec /usr/bin/python3 share.py");
            // Four processes with twice 40 MiB that all of them have, and some of their own.
            command.limits.memory_bytes_max = 140 << 20;
            let ran = run(way, command).await;
            assert_eq!(ran.end.cause, cause, "{way}: {ran:?}");
        }
    }
}
