//! Tests of the module `listener`.

use std::os::unix::fs::symlink;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::connection::{CREDENTIAL_WAIT_MAX, PREFACE_BYTES, PREFACE_WAIT_MAX};
use super::unix::bind;
use super::*;

/// Both ends of a connection, where there is a place for it.
fn connected(places: &Arc<Semaphore>, peer: Peer) -> Option<(UnixStream, Connection)> {
    let (client, stream) = UnixStream::pair().unwrap();
    let accepted = Accepted::Unix(stream);
    let counted = crate::metrics::Metrics::default().connections("unix").open();
    let place = Arc::clone(places).try_acquire_owned().ok()?;
    let place = Place { _permit: place, _counted: counted };
    let Accepted::Unix(stream) = accepted else { unreachable!() };
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
async fn who_says_nothing_or_too_little_loses_the_place() {
    let places = Arc::new(Semaphore::new(1));
    for said in [0, PREFACE_BYTES - 1] {
        let (mut client, mut connection) = connected(&places, Peer::new(false)).unwrap();
        assert!(connected(&places, Peer::new(false)).is_none());
        client.write_all(&vec![b'P'; said]).await.unwrap();
        let error = connection.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(connection);
        assert_eq!(places.available_permits(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_said_the_preface_may_be_silent() {
    let places = Arc::new(Semaphore::new(1));
    let (mut client, mut connection) = connected(&places, Peer::new(false)).unwrap();
    client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
    connection.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
    let silence = tokio::time::timeout(PREFACE_WAIT_MAX * 100, connection.read_u8()).await;
    assert!(silence.is_err());
}

#[tokio::test(start_paused = true)]
async fn who_shows_no_credential_over_the_network_loses_the_place() {
    let places = Arc::new(Semaphore::new(1));
    for talks in [false, true] {
        let (mut client, mut connection) = connected(&places, Peer::new(true)).unwrap();
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
async fn who_has_shown_a_credential_may_be_silent() {
    let places = Arc::new(Semaphore::new(1));
    let peer = Peer::new(true);
    let (mut client, mut connection) = connected(&places, peer.clone()).unwrap();
    client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
    connection.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
    peer.vouch();
    let silence = tokio::time::timeout(CREDENTIAL_WAIT_MAX * 100, connection.read_u8()).await;
    assert!(silence.is_err());
}

#[tokio::test(start_paused = true)]
async fn silent_strangers_make_room_the_first_first_and_who_is_known_stays() {
    let places = Arc::new(Semaphore::new(3));
    let strangers = Strangers::default();
    let mut open = Vec::new();
    for _ in 0..3 {
        let peer = Peer::new(true);
        strangers.came(&peer);
        open.push((connected(&places, peer.clone()).unwrap(), peer));
    }
    open[0].1.vouch();
    assert!(strangers.send_away());
    let ((_, mut second), _) = open.remove(1);
    let error = second.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop(second);
    assert_eq!(places.available_permits(), 1);
    assert!(strangers.send_away(), "the third is there");
    assert!(!strangers.send_away(), "the first is known");
    let ((client, mut first), _) = open.remove(0);
    drop(client);
    assert_eq!(first.read_to_end(&mut Vec::new()).await.unwrap(), 0);
}
