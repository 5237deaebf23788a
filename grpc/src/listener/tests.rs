//! Tests of the module `listener`.

use std::os::unix::fs::symlink;

use jiff::Timestamp;
use moss_workspace::own::OwnDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Semaphore;

use super::connection::{CREDENTIAL_WAIT_MAX, PREFACE_BYTES, PREFACE_WAIT_MAX};
use super::peer::Peers;
use super::permits::RESERVE;
use super::unix::bind;
use super::*;
use moss_dispatch::{Caller, Role};

/// A peer of a socket of its own.
fn peer(is_remote: bool) -> Peer {
    Arc::new(Peers::new(1)).came(is_remote, false)
}

/// Both ends of a connection, where there is a slot for it.
fn connected(places: &Arc<Semaphore>, peer: Peer) -> Option<(UnixStream, Connection)> {
    let (client, stream) = UnixStream::pair().unwrap();
    let accepted = AcceptedStream::Unix(stream);
    let counted = moss_daemon::metrics::Metrics::default().connections("unix").open();
    let place = Arc::clone(places).try_acquire_owned().ok()?;
    let place = ConnectionPermit { _permit: place, _counted: counted };
    let AcceptedStream::Unix(stream) = accepted else { unreachable!() };
    Some((client, Connection::new(Box::new(stream), peer, place)))
}

#[tokio::test]
async fn only_a_socket_is_removed() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("run/moss.sock");
    drop(bind(&path).unwrap());
    assert!(!path.exists());
    // What a dead daemon leaves.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    drop(bind(&path).unwrap());
    std::fs::write(temp.path().join("file"), "1").unwrap();
    for link in [false, true] {
        if link {
            symlink(temp.path().join("file"), &path).unwrap();
        } else {
            std::fs::write(&path, "1").unwrap();
        }
        let error = bind(&path).unwrap_err();
        assert!(matches!(&error, BindError::InTheWay(_)), "{error}");
        assert!(error.to_string().starts_with(path.to_str().unwrap()), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "1");
        std::fs::remove_file(&path).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn who_sends_nothing_or_too_little_loses_the_slot() {
    let places = Arc::new(Semaphore::new(1));
    for said in [0, PREFACE_BYTES - 1] {
        let (mut client, mut connection) = connected(&places, peer(false)).unwrap();
        assert!(connected(&places, peer(false)).is_none());
        client.write_all(&vec![b'P'; said]).await.unwrap();
        let error = connection.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(connection);
        assert_eq!(places.available_permits(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_said_the_preface_may_stay_idle() {
    let places = Arc::new(Semaphore::new(1));
    let (mut client, mut connection) = connected(&places, peer(false)).unwrap();
    client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
    connection.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
    let silence = tokio::time::timeout(PREFACE_WAIT_MAX * 100, connection.read_u8()).await;
    assert!(silence.is_err());
}

#[tokio::test(start_paused = true)]
async fn who_shows_no_credential_over_the_network_loses_the_slot() {
    let places = Arc::new(Semaphore::new(1));
    for talks in [false, true] {
        let (mut client, mut connection) = connected(&places, peer(true)).unwrap();
        client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
        connection.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
        let talking = async {
            while talks && client.write_all(b"x").await.is_ok() {
                tokio::time::advance(PREFACE_WAIT_MAX / 5).await;
            }
            std::future::pending::<()>().await;
        };
        let mut heard = Vec::new();
        let error = tokio::select! {
            () = talking => unreachable!(),
            read = connection.read_to_end(&mut heard) => read.unwrap_err(),
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}

#[tokio::test(start_paused = true)]
async fn who_has_shown_a_credential_may_stay_idle() {
    let places = Arc::new(Semaphore::new(1));
    let caller = peer(true);
    let (mut client, mut connection) = connected(&places, caller.clone()).unwrap();
    client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
    connection.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
    caller.vouch(Some(&Role::Caller.into()), false).unwrap();
    let silence = tokio::time::timeout(CREDENTIAL_WAIT_MAX * 100, connection.read_u8()).await;
    assert!(silence.is_err());
}

#[tokio::test(start_paused = true)]
async fn idle_strangers_make_room_the_first_first_and_who_is_known_stays() {
    let places = Arc::new(Semaphore::new(3));
    let peers = Arc::new(Peers::new(1));
    let mut open = Vec::new();
    for _ in 0..3 {
        let peer = peers.came(true, false);
        open.push((connected(&places, peer.clone()).unwrap(), peer));
    }
    open[0].1.vouch(Some(&Role::Caller.into()), false).unwrap();
    assert!(peers.send_away(false));
    let ((_, mut second), _) = open.remove(1);
    let error = second.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(second);
    assert_eq!(places.available_permits(), 1);
    assert!(peers.send_away(false), "the third is there");
    assert!(!peers.send_away(false), "the first is known");
    let ((client, mut first), _) = open.remove(0);
    drop(client);
    assert_eq!(first.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn slots_beyond_the_limit_are_kept_by_approvers_alone() {
    let places = ConnectionPermits::new(1);
    let (caller, approver) = (Caller::from(Role::Caller), Caller::from(Role::Approver));
    let (first, permit) = places.admit(false).unwrap();
    first.vouch(Some(&caller), false).unwrap();
    let mut kept = vec![(first, permit.await.unwrap())];
    for number in 0..RESERVE {
        let (peer, permit) = places.admit(false).unwrap();
        peer.vouch(Some(&caller), false).unwrap_err();
        peer.vouch(None, false).unwrap_err();
        // Also who shows the approver's credential beside the caller's.
        peer.vouch(Some(if number == 0 { &caller } else { &approver }), number == 0).unwrap();
        kept.push((peer, permit.await.unwrap()));
    }
    assert!(places.admit(false).is_none());
}

#[tokio::test(start_paused = true)]
async fn who_is_idle_or_refused_beyond_the_limit_makes_room_there() {
    let places = ConnectionPermits::new(1);
    let caller = Caller::from(Role::Caller);
    let mut kept = Vec::new();
    for _ in 0..=RESERVE {
        let (peer, permit) = places.admit(false).unwrap();
        kept.push((peer, permit.await.unwrap()));
    }
    // A silent one on a slot for everybody may stay on a Unix socket.
    for gone in [1, 1] {
        let (peer, permit) = kept.remove(gone);
        if kept.len() == RESERVE {
            peer.vouch(Some(&caller), false).unwrap_err();
            peer.dismiss();
        }
        let (next, place) = places.admit(false).unwrap();
        peer.leaves().await;
        drop(permit);
        kept.push((next, place.await.unwrap()));
    }
    let (mut client, mut connection) =
        connected(&Arc::new(Semaphore::new(1)), kept.pop().unwrap().0).unwrap();
    client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
    let error = connection.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn a_named_token_gets_its_share_and_loses_it_when_it_is_revoked() {
    let temp = tempfile::tempdir().unwrap();
    let directory = OwnDir::create(&temp.path().join("state")).unwrap();
    let credentials = Credentials::load_or_create(&directory).unwrap();
    let tokens = Arc::new(Tokens::open(directory));
    let access = Access::local(credentials).and_named(Arc::clone(&tokens));
    let create = |name| {
        let (_, secret) = tokens.create(name, Timestamp::now()).unwrap();
        access.caller_of(&secret).unwrap()
    };
    let (ci, other) = (create("ci"), create("other"));
    let peers = Arc::new(Peers::new(2));
    let came: Vec<_> = (0..4).map(|_| peers.came(false, false)).collect();
    for peer in &came[..2] {
        peer.vouch(Some(&ci), false).unwrap();
        peer.vouch(Some(&ci), false).unwrap();
    }
    let full = came[2].vouch(Some(&ci), false).unwrap_err();
    assert!(full.to_string().contains("`ci`") && full.to_string().contains("connections_max"));
    came[2].vouch(Some(&other), false).unwrap();
    assert!(!peers.send_away(false));
    tokens.revoke("ci").unwrap();
    assert!(came[0].is_out_of_place() && !came[2].is_out_of_place());
    assert!(peers.send_away(false) && peers.send_away(false) && !peers.send_away(false));
    came[3].vouch(Some(&create("ci")), false).unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_is_sent_away_while_it_waits_takes_no_slot_from_those_behind_it() {
    let places = ConnectionPermits::new(1);
    let (_first, place) = places.admit(false).unwrap();
    let _open = place.await.unwrap();
    let mut held = Vec::new();
    for _ in 0..RESERVE {
        let (peer, place) = places.admit(false).unwrap();
        held.push((peer, place.await.unwrap()));
    }
    // Each sends one away: the holders, then the first of those who wait.
    let mut waiting: Vec<_> = (0..=RESERVE).map(|_| places.admit(false)).collect();
    let (_, first) = waiting.remove(0).unwrap();
    let (_, second) = waiting.remove(0).unwrap();
    held.pop();
    let (first, second) = tokio::join!(first, second);
    assert!(first.is_none() && second.is_some());
}
