//! How what is tested is compiled: with which features, and whether clippy lints it on the way.

use std::ffi::OsStr;
use std::process::Command;

use anyhow::{Result, bail};

use crate::child;
use crate::clippy_compiler::ClippyCompiler;
use crate::layout::Layout;

/// Says what compiles: `clippy` lints what is tested while it is compiled, with warnings as errors. Continuous
/// integration asks for it, since nothing is compiled once to lint and once to test then; what a person built before
/// would be compiled again.
const COMPILER: &str = "MOSS_TEST_COMPILER";

/// What the workspace tests besides: programs that are not built with it, and the side of plugins in the SDK.
const FEATURES: &str = "moss-xtask/bench,moss-xtask/quality,moss-xtask/dist,moss-sdk/http";
/// That, and the languages that released binaries have and builds of every day do not.
const FEATURES_OF_ALL: &str =
    "moss-xtask/bench,moss-xtask/quality,moss-xtask/dist,moss-sdk/http,moss/lang-extra";

/// How much is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestExtent {
    /// What `.ci/run` tests.
    Usual,
    /// That, and more of what takes long.
    Everything,
}

/// How what is tested is compiled.
#[derive(Debug)]
pub(crate) struct TestBuild {
    /// The features of the workspace.
    pub(crate) features: &'static str,
    /// What compiles in place of rustc.
    clippy: Option<ClippyCompiler>,
}

// === impl TestBuild ===

impl TestBuild {
    /// As the environment asks for it.
    ///
    /// # Errors
    ///
    /// Where it asks for something else than `rustc` or `clippy`, or for clippy where there is none.
    pub(crate) fn new(extent: TestExtent) -> Result<Self> {
        let asked = std::env::var_os(COMPILER);
        let clippy = match asked.as_deref().and_then(OsStr::to_str) {
            None if asked.is_none() => None,
            Some("rustc") => None,
            Some("clippy") => Some(ClippyCompiler::find()?),
            _ => bail!("{COMPILER} says what compiles: `rustc` or `clippy`"),
        };
        Ok(Self { features: features(extent), clippy })
    }

    /// Whether what is compiled is linted, too.
    pub(crate) fn lints(&self) -> bool {
        self.clippy.is_some()
    }

    /// `cargo SUBCOMMAND`, which compiles like this.
    pub(crate) fn cargo(&self, layout: &Layout, subcommand: &str) -> Command {
        let mut cargo = child::cargo();
        cargo.current_dir(&layout.root).arg(subcommand);
        if let Some(clippy) = &self.clippy {
            clippy.compile(&mut cargo);
        }
        cargo
    }
}

fn features(extent: TestExtent) -> &'static str {
    match extent {
        TestExtent::Usual => FEATURES,
        TestExtent::Everything => FEATURES_OF_ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::BuildProfile;

    #[test]
    fn everything_is_tested_with_the_languages_of_released_binaries() {
        let released = BuildProfile::Release.features()[1];
        let all = features(TestExtent::Everything);
        assert!(all.split(',').any(|feature| feature == format!("moss/{released}")), "{all}");
        assert!(all.starts_with(features(TestExtent::Usual)), "{all}");
    }
}
