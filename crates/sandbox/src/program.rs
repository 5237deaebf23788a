//! A program that the person at the terminal asked for, with their rights and environment: a build.
//! What it says goes to standard error as it comes; its standard output is kept where it is wanted.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::Stdio;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::worker::{Owned, ProcessExit, read_bounded};

/// A program and how it is run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program: a path, or a name that is looked up as a shell does.
    pub program: OsString,
    /// Without its name, which comes first by itself.
    pub arguments: Vec<OsString>,
    /// The directory in which it runs.
    pub directory: PathBuf,
    /// All variables that it has; none for those of this process.
    pub environment: Option<Vec<(OsString, OsString)>>,
}

// === impl Program ===

impl Program {
    /// Runs it to its end and shows all that it says on standard error. Dropping the future ends it,
    /// with all that it started.
    ///
    /// # Errors
    ///
    /// Where it cannot be started: `NotFound` where there is no such program.
    pub async fn show(&self) -> io::Result<ProcessExit> {
        let mut command = self.command()?;
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
        let mut owned = Owned(command.spawn()?);
        Ok(ProcessExit::of(owned.0.wait().await?))
    }

    /// As [`Program::show`], and returns what it writes on standard output, if that is not more than
    /// `bytes_max`.
    ///
    /// # Errors
    ///
    /// As [`Program::show`], and where it writes more.
    pub async fn output(&self, bytes_max: usize) -> io::Result<(ProcessExit, Vec<u8>)> {
        let mut command = self.command()?;
        command.stdout(Stdio::piped());
        let mut owned = Owned(command.spawn()?);
        let stdout = owned.0.stdout.take().ok_or_else(|| io::Error::other("a pipe is missing"))?;
        let output = read_bounded(stdout, bytes_max).await?;
        let output = output
            .ok_or_else(|| io::Error::other(format!("it wrote more than {bytes_max} bytes")))?;
        Ok((ProcessExit::of(owned.0.wait().await?), output))
    }

    /// As [`Program::output`], for a program that is given something to read and then nothing more.
    ///
    /// # Errors
    ///
    /// As [`Program::output`].
    pub async fn exchange(
        &self,
        input: &[u8],
        bytes_max: usize,
    ) -> io::Result<(ProcessExit, Vec<u8>)> {
        let mut command = self.command()?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut owned = Owned(command.spawn()?);
        let missing = || io::Error::other("a pipe is missing");
        let mut stdin = owned.0.stdin.take().ok_or_else(missing)?;
        let stdout = owned.0.stdout.take().ok_or_else(missing)?;
        let write = async {
            // A program that ends before it has read all of it says so by what it writes.
            let _ = stdin.write_all(input).await;
            drop(stdin);
        };
        let ((), output) = tokio::join!(write, read_bounded(stdout, bytes_max));
        let output = output?
            .ok_or_else(|| io::Error::other(format!("it wrote more than {bytes_max} bytes")))?;
        Ok((ProcessExit::of(owned.0.wait().await?), output))
    }

    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stderr(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?))
            .process_group(0)
            .kill_on_drop(true);
        if let Some(environment) = &self.environment {
            command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program {
            program: "sh".into(),
            arguments: vec!["-c".into(), script.into()],
            directory: "/".into(),
            environment: None,
        }
    }

    #[tokio::test]
    async fn a_program_runs_in_the_given_directory_and_its_output_is_kept() {
        let (ending, output) = shell("pwd; exit 3").output(100).await.unwrap();
        assert_eq!((ending, output.as_slice()), (ProcessExit::Exited(3), &b"/\n"[..]));
        assert!(shell("echo too much").output(3).await.is_err());
        assert!(shell("exit 0").show().await.unwrap().is_success());
        let mut bare = shell("echo $GIVEN$CARGO_MANIFEST_DIR");
        bare.environment = Some(vec![("GIVEN".into(), "this".into())]);
        assert_eq!(bare.output(100).await.unwrap().1, b"this\n");
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_distinguished_from_one_that_fails() {
        let mut program = shell("");
        program.program = "no-such-program-anywhere".into();
        assert_eq!(program.show().await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
