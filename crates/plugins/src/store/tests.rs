//! Tests of the module `plugin_store`.

use std::os::unix::fs::PermissionsExt as _;

use tempfile::TempDir;

use super::*;

const ROOM: u64 = 1 << 20;

fn owner(plugin: &str, origin: &str) -> StoreOwner {
    StoreOwner { plugin: plugin.to_owned(), origin: origin.to_owned() }
}

fn stores(state: &TempDir) -> PluginStores {
    PluginStores::open(state.path()).unwrap()
}

#[test]
fn what_is_kept_is_there_for_the_next_process_and_for_nobody_else() {
    let state = TempDir::new().unwrap();
    let (mine, others) = (owner("a", "/x/a.wasm"), owner("a", "/y/a.wasm"));
    let first = stores(&state);
    first.set(&mine, "k", b"\0\xff", ROOM).unwrap();
    first.set(&mine, "k", b"v", ROOM).unwrap();
    first.set(&mine, "", b"", ROOM).unwrap();
    let second = stores(&state);
    assert_eq!(second.get(&mine, "k").unwrap().as_deref(), Some(&b"v"[..]));
    assert_eq!(second.get(&others, "k").unwrap(), None);
    assert_eq!(second.get(&owner("b", "/x/a.wasm"), "k").unwrap(), None);
    assert!(second.delete(&mine, "k").unwrap());
    assert!(!second.delete(&mine, "k").unwrap());
    assert!(!second.delete(&others, "").unwrap());
    assert_eq!(first.keys(&mine, "").unwrap(), [""]);
    let mode = std::fs::metadata(state.path().join(FILE_NAME)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn keys_come_in_the_order_of_their_bytes() {
    let state = TempDir::new().unwrap();
    let (stores, owner) = (stores(&state), owner("a", "a"));
    for key in ["b", "ä", "a%", "a", "B", "a_", "a\0b"] {
        stores.set(&owner, key, key.as_bytes(), ROOM).unwrap();
    }
    assert_eq!(stores.keys(&owner, "").unwrap(), ["B", "a", "a\0b", "a%", "a_", "b", "ä"]);
    assert_eq!(stores.keys(&owner, "a").unwrap(), ["a", "a\0b", "a%", "a_"]);
    assert_eq!(stores.keys(&owner, "a_").unwrap(), ["a_"]);
    assert_eq!(stores.get(&owner, "a\0b").unwrap().as_deref(), Some(&b"a\0b"[..]));
}

#[test]
fn a_store_has_the_room_that_was_granted() {
    let state = TempDir::new().unwrap();
    let (stores, owner) = (stores(&state), owner("a", "a"));
    stores.set(&owner, "key", &[1; 7], 10).unwrap();
    let error = stores.set(&owner, "b", b"", 10).unwrap_err();
    assert_eq!(error.code, ErrorCode::TooLarge);
    assert_eq!(error.message, "the store would have 11 bytes; 10 were granted");
    // What replaces something needs only the difference.
    stores.set(&owner, "key", &[2; 6], 10).unwrap();
    stores.set(&owner, "b", b"", 10).unwrap();
    assert_eq!(stores.set(&owner, "ä", b"", 11).unwrap_err().code, ErrorCode::TooLarge);
    stores.set(&owner, "ä", b"", 12).unwrap();
    assert_eq!(stores.get(&owner, "key").unwrap().as_deref(), Some(&[2; 6][..]));
    assert_eq!(check_room(KEYS_MAX, 0, 0), Ok(()));
    assert_eq!(check_room(KEYS_MAX + 1, 0, 0).unwrap_err().code, ErrorCode::LimitExceeded);
}

#[test]
fn what_is_forgotten_is_forgotten_of_every_source() {
    let state = TempDir::new().unwrap();
    let stores = stores(&state);
    for (plugin, origin) in [("a", "x"), ("a", "y"), ("b", "x")] {
        stores.set(&owner(plugin, origin), "k", b"v", ROOM).unwrap();
    }
    assert_eq!(stores.count("a").unwrap(), 2);
    assert_eq!(stores.forget("a").unwrap(), 2);
    assert_eq!(stores.count("a").unwrap(), 0);
    assert_eq!(stores.forget("a").unwrap(), 0);
    assert_eq!(stores.get(&owner("a", "x"), "k").unwrap(), None);
    assert_eq!(stores.keys(&owner("b", "x"), "").unwrap(), ["k"]);
}

#[test]
fn processes_that_write_at_once_lose_nothing_and_do_not_pass_the_limit() {
    let state = TempDir::new().unwrap();
    let owner = owner("a", "a");
    let kept: usize = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                // A handle each, as processes have.
                let (stores, owner) = (stores(&state), &owner);
                threads.spawn(move || {
                    let set =
                        |n: &usize| stores.set(owner, &format!("{writer}{n}"), b"12345678", 100);
                    (0..5).filter(|n| set(n).is_ok()).count()
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    // Of ten bytes each.
    assert_eq!(kept, 10);
    assert_eq!(stores(&state).keys(&owner, "").unwrap().len(), 10);
}

#[test]
fn there_are_only_so_many_stores() {
    let state = TempDir::new().unwrap();
    let stores = stores(&state);
    stores
        .with(|begun| {
            for n in 0..STORES_MAX {
                begun.execute(
                    "INSERT INTO stores (plugin, origin) VALUES ('p', ?1)",
                    [n.to_string()],
                )?;
            }
            Ok(())
        })
        .unwrap();
    let error = stores.set(&owner("q", "q"), "k", b"", ROOM).unwrap_err();
    assert_eq!(error.code, ErrorCode::LimitExceeded);
    stores.set(&owner("p", "0"), "k", b"", ROOM).unwrap();
}

#[test]
fn a_broken_file_is_not_written_over() {
    let state = TempDir::new().unwrap();
    let file = state.path().join(FILE_NAME);
    let text = "not a database, but long enough to be looked at as if it were one".repeat(20);
    std::fs::write(&file, &text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let stores = stores(&state);
    for error in [
        stores.get(&owner("a", "a"), "k").unwrap_err(),
        stores.set(&owner("a", "a"), "k", b"v", ROOM).unwrap_err(),
    ] {
        assert_eq!(error.code, ErrorCode::Io);
        assert!(error.message.contains("plugins.sqlite cannot be used"), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_plugin_waits_for_one_call_of_another_and_not_for_all() {
    let state = TempDir::new().unwrap();
    let stores = stores(&state);
    let (busy, other) = (owner("busy", "/a"), owner("other", "/b"));
    let first = stores.turn(&busy).await;
    let mut more: Vec<_> = (0..3).map(|_| Box::pin(stores.turn(&busy))).collect();
    let mut others = Box::pin(stores.turn(&other));
    for waiting in more.iter_mut().chain([&mut others]) {
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx)));
        assert!(polled.await.is_pending());
    }
    drop(first);
    drop(others.await);
    for turn in more {
        drop(turn.await);
    }
}
