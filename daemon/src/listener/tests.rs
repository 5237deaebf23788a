//! Tests of the module `listener`.

use std::os::unix::fs::symlink;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

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
        let (mut client, stream) = UnixStream::pair().unwrap();
        let mut connection = admit(stream, &places).unwrap();
        assert!(admit(UnixStream::pair().unwrap().0, &places).is_none());
        client.write_all(&vec![b'P'; said]).await.unwrap();
        let error = connection.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(connection);
        assert_eq!(places.available_permits(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn who_said_the_preface_may_be_silent() {
    let (mut client, stream) = UnixStream::pair().unwrap();
    let mut connection = admit(stream, &Arc::new(Semaphore::new(1))).unwrap();
    client.write_all(&[b'P'; PREFACE_BYTES]).await.unwrap();
    connection.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
    let silence = tokio::time::timeout(PREFACE_WAIT_MAX * 100, connection.read_u8()).await;
    assert!(silence.is_err());
}
