//! Attacks on an encrypted port: another server under a name, older protocols, certificates without
//! a token, files that change while the daemon serves.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::harness::BOUND;
use crate::remote::{Certificates, READ, assert_refused, encrypted, run};

/// A fatal alert, `protocol_version`, in a record of TLS.
const PROTOCOL_REFUSED: [u8; 2] = [2, 70];

/// The first message of a client that speaks no TLS after this one: 0x0302 is 1.1, 0x0303 is 1.2.
fn hello(version: u16) -> Vec<u8> {
    let version = version.to_be_bytes();
    let mut body = version.to_vec();
    body.extend([7; 32]);
    // No session; ECDHE with AES-128-GCM by ECDSA and by RSA, AES-128-CBC; no compression.
    body.extend([0, 0, 6, 0xc0, 0x2b, 0xc0, 0x2f, 0, 0x2f, 1, 0]);
    // The group x25519, uncompressed points, signatures by ECDSA and RSA with SHA-256.
    let extensions = [
        [0, 10, 0, 4, 0, 2, 0, 29].as_slice(),
        &[0, 11, 0, 2, 1, 0],
        &[0, 13, 0, 6, 0, 4, 4, 3, 4, 1],
    ]
    .concat();
    body.extend(u16::try_from(extensions.len()).unwrap().to_be_bytes());
    body.extend(extensions);
    let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_be_bytes();
    let message = [[1, 0].as_slice(), &length(&body), &body].concat();
    [[22, 3, 1].as_slice(), &length(&message), &message].concat()
}

#[test]
fn who_speaks_no_tls_1_3_is_refused_and_gets_no_further() {
    let (site, certificates) = encrypted(false);
    let daemon = site.serve();
    for version in [0x0301, 0x0302, 0x0303] {
        let mut stream = TcpStream::connect(("127.0.0.1", daemon.port())).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.write_all(&hello(version)).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        // One record, and it is the alert.
        assert_eq!((answer[0], answer.len()), (21, 7), "{version:x}: {answer:?}");
        assert_eq!(answer[5..], PROTOCOL_REFUSED, "{version:x}: {answer:?}");
    }
    assert_eq!(run(&site, &daemon, &certificates.client(None), &READ).code, Some(0));
    // Nor do they fill the log.
    let log = daemon.log();
    assert_eq!(log.matches("a TLS handshake failed").count(), 1, "{log}");
    daemon.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_under_a_name_that_its_certificate_lacks_is_not_believed() {
    let (mut site, certificates) = encrypted(false);
    // All of 127.0.0.0/8 is this machine, and the certificate has 127.0.0.1 of it.
    site.argument("--listen").argument("tcp:127.0.0.2:0");
    let daemon = site.serve();
    let log = daemon.log();
    let (_, port) = log.split_once("tcp:127.0.0.2:").unwrap();
    let port: String = port.chars().take_while(char::is_ascii_digit).collect();
    let server = format!("tcp:127.0.0.2:{port}");
    let client = certificates.client(None);
    let words = ["--server", &server].into_iter().chain(client.iter().map(String::as_str));
    let words: Vec<&str> = words.chain(READ).collect();
    assert_refused(&site.run(&words), 5, &["127.0.0.2", "moss certificate new --host"]);
    assert_eq!(run(&site, &daemon, &certificates.client(None), &READ).code, Some(0));
    daemon.stop();
}

#[test]
fn a_certificate_does_not_stand_for_the_token() {
    let (site, certificates) = encrypted(true);
    let other = Certificates::new(&site, "other", &[]);
    let daemon = site.serve();
    let mut client = certificates.client(Some("client"));
    client[1] = other.path("caller.token");
    assert_refused(&run(&site, &daemon, &client, &READ), 5, &["credential is not known"]);
    daemon.stop();
}

#[test]
fn files_that_are_swapped_while_it_serves_count_from_the_next_start_on() {
    let (site, certificates) = encrypted(true);
    let daemon = site.serve();
    let old = Certificates::new(&site, "old", &[]);
    let names = ["ca.crt", "server.crt", "server.key", "client.crt", "client.key", "caller.token"];
    for name in names {
        let (here, aside) = (certificates.path(name), old.path(name));
        std::fs::rename(&here, site.outside("swap")).unwrap();
        std::fs::rename(&aside, &here).unwrap();
        std::fs::rename(site.outside("swap"), &aside).unwrap();
    }
    let reads =
        |daemon, files: &Certificates| run(&site, daemon, &files.client(Some("client")), &READ);
    // What it was started with, as a whole: neither half of the new files is taken.
    assert_eq!(reads(&daemon, &old).code, Some(0));
    assert_refused(&reads(&daemon, &certificates), 5, &["not of the authority"]);
    // Nor does one that is broken end it.
    std::fs::write(certificates.path("server.crt"), "nonsense").unwrap();
    assert_eq!(reads(&daemon, &old).code, Some(0));
    daemon.stop();
    assert_refused(&site.serve_refused(), 1, &["server.crt", "has no certificate"]);
}
