//! The official conformance suite of the Model Context Protocol against moss's own HTTP front, with a
//! backend that has the tools of the suite, and a script for what no tool of moss is like. What fails for a
//! reason is in `exceptions-REVISION.yaml`; what
//! fails besides, and what passes although it is in there, ends this program with an error.
//!
//! `MOSS_TEST_CONFORMANCE` is the directory of the suite's package, `MOSS_TEST_NODE` a Node of version 22.

mod backend;
mod rounds;
mod script;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use moss_mcp::{
    HttpCaller, HttpDoor, HttpFront, NotAdmitted, ProtocolFixtures, ReachableNames, ToolSet,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::backend::SuiteOpener;
use self::script::SuiteScript;

/// The revisions that the suite has requirements of.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Lets everybody in: the suite shows no credential.
#[derive(Debug)]
struct OpenDoor {
    opener: SuiteOpener,
    fixtures: Arc<ProtocolFixtures>,
}

impl HttpDoor for OpenDoor {
    fn admit(&self, _: Option<&str>, _: Option<&str>) -> Result<HttpCaller, NotAdmitted> {
        let (name, workspace) = ("suite".to_owned(), String::new());
        Ok(HttpCaller { name, workspace, opener: Arc::new(self.opener.clone()) })
    }

    fn tool_set(&self, name: &str) -> Option<ToolSet> {
        ToolSet::built_in(name)
    }

    fn fixtures(&self) -> Option<Arc<ProtocolFixtures>> {
        Some(Arc::clone(&self.fixtures))
    }
}

fn variable(name: &str) -> PathBuf {
    let value = std::env::var_os(name);
    value.unwrap_or_else(|| panic!("{name} is not set: see the head of this file")).into()
}

/// Runs the suite against a port, in a directory where it leaves its results.
fn run(revision: &str, port: u16, directory: &Path) -> bool {
    let exceptions =
        format!("{}/conformance/exceptions-{revision}.yaml", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(variable("MOSS_TEST_NODE"));
    command
        .arg(variable("MOSS_TEST_CONFORMANCE").join("dist/index.js"))
        .args(["server", "--url", &format!("http://127.0.0.1:{port}/mcp/all")])
        .args(["--requirements", revision, "--expected-failures", &exceptions])
        .current_dir(directory);
    command.status().expect("node starts").success()
}

async fn serve(listener: TcpListener) {
    let front = HttpFront::new(ReachableNames::new([]), CancellationToken::new());
    let fixtures = ProtocolFixtures::new(SuiteScript);
    let door = Arc::new(OpenDoor { opener: SuiteOpener::default(), fixtures: Arc::new(fixtures) });
    while let Ok((stream, _)) = listener.accept().await {
        let (front, door) = (front.clone(), Arc::clone(&door));
        tokio::spawn(async move { front.serve(stream, door).await });
    }
}

fn main() -> ExitCode {
    let directory = tempfile::tempdir().expect("there is room for results");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    runtime.spawn(serve(listener));
    let ended = REVISIONS.map(|revision| run(revision, port, directory.path()));
    if ended.iter().all(|is_fine| *is_fine) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
