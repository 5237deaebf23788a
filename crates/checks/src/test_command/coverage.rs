//! What measures which lines run: where it is there, where it writes, and what would bring it.

use crate::framework::TestFramework;
use crate::project::{ProjectDirectory, ProjectFiles};
use crate::run::FinishedRun;

/// Manifests that name what Python needs.
const REQUIREMENTS: &[&str] = &[
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "requirements.txt",
    "requirements-dev.txt",
    "dev-requirements.txt",
];
/// Most modules of a Maven project whose reports are looked for.
const MODULES_MAX: usize = 50;

// === impl TestFramework ===

impl TestFramework {
    /// Whether coverage is asked for in a directory: what measures it is there, as far as manifests say.
    pub(super) fn measures(self, directory: &ProjectDirectory) -> bool {
        let lists = |names: &[&str], text: &str| {
            let mut manifests = directory.manifests.iter();
            manifests
                .any(|(name, content)| names.contains(&name.as_str()) && content.contains(text))
        };
        match self {
            Self::Pytest => lists(REQUIREMENTS, "pytest-cov"),
            Self::Vitest => lists(&["package.json"], "@vitest/coverage"),
            Self::Rspec => lists(&["Gemfile"], "simplecov") || directory.has_file(&[".simplecov"]),
            Self::Maven => lists(&["pom.xml"], "jacoco-maven-plugin"),
            // What they do without it is said once they ran: `nothing_measured`.
            Self::Cargo
            | Self::Jest
            | Self::Node
            | Self::Go
            | Self::Bun
            | Self::Deno
            | Self::Phpunit
            | Self::Gradle
            | Self::Dotnet => true,
            _ => false,
        }
    }

    /// Whether coverage is asked for in one of the directories: as far as manifests say, or because what measures it lies in
    /// an environment of the project. Of pytest-cov that shows its dependency, which has a program.
    pub(super) fn measures_in(self, files: &ProjectFiles, directory: usize) -> bool {
        let is_installed =
            || self == Self::Pytest && files.program(directory, "coverage").is_some();
        self.measures(&files.directories[directory]) || is_installed()
    }

    /// Says that nothing is measured, and what would bring what measures it. moss does not run that.
    pub(super) fn unmeasured(self) -> String {
        let next = match self {
            Self::Pytest => {
                "pytest-cov is neither among the requirements of the project nor in its `.venv`: add it to those, in \
                 pyproject.toml or requirements.txt, and `python3 -m pip install pytest-cov` in its environment"
            }
            Self::Vitest => {
                "@vitest/coverage-v8 is not in package.json: `npm install --save-dev @vitest/coverage-v8`"
            }
            Self::Rspec => "simplecov is not in the Gemfile: `bundle add simplecov --group test`",
            Self::Maven => {
                "jacoco-maven-plugin is not in pom.xml: it needs its goals `prepare-agent` and `report`"
            }
            Self::Gradle => "`plugins { id 'jacoco' }` in the build file measures it",
            Self::Dotnet => "`dotnet add package coverlet.collector` in the project of the tests",
            Self::Phpunit => {
                "a driver and what to measure: `apt install php-pcov` or `pecl install pcov`, and `<source>` (before \
                 PHPUnit 10 `<coverage>`) in phpunit.xml"
            }
            Self::Nextest => "`framework` `cargo` measures it with cargo-llvm-cov",
            Self::Cargo => "`cargo install cargo-llvm-cov --locked`",
            _ => "moss has no way to measure it with this framework",
        };
        format!("coverage of {} was not measured: {next}", self.name())
    }

    /// What is to be said of a run that was to measure which lines run, and wrote nothing of it.
    pub fn nothing_measured(self, finished: &FinishedRun<'_>) -> String {
        let said = format!("{}\n{}", finished.stdout, finished.stderr);
        let reasons = [
            "No code coverage driver",
            "No filter is configured",
            "Unable to find a datacollector",
            "Skipping JaCoCo execution",
        ];
        let is_reason = |line: &&str| reasons.iter().any(|reason| line.contains(reason));
        match (said.lines().find(is_reason), self) {
            (Some(line), _) => format!("{} ({})", self.unmeasured(), line.trim()),
            (None, Self::Phpunit | Self::Gradle | Self::Dotnet) => self.unmeasured(),
            (None, _) => {
                format!("coverage of {} was not measured: it wrote no profile", self.name())
            }
        }
    }

    /// Where the tool writes reports of its own, relative to the workspace root.
    pub(super) fn report_directories(
        self,
        directory: &ProjectDirectory,
        coverage: bool,
    ) -> Vec<String> {
        let base = match directory.path.as_str() {
            "" => String::new(),
            path => format!("{path}/"),
        };
        match self {
            Self::Maven => maven_reports(directory, &base, coverage && self.measures(directory)),
            Self::Rspec if coverage && self.measures(directory) => vec![format!("{base}coverage")],
            _ => Vec::new(),
        }
    }
}

/// Where Maven writes reports: beneath the project and each of its modules.
fn maven_reports(directory: &ProjectDirectory, base: &str, coverage: bool) -> Vec<String> {
    let manifest = directory.manifest("pom.xml").unwrap_or_default();
    let modules =
        manifest.split("<module>").skip(1).filter_map(|rest| rest.split("</module>").next());
    let is_inside = |module: &&str| !module.starts_with('/') && !module.contains("..");
    let modules = modules.map(str::trim).filter(is_inside).take(MODULES_MAX);
    let all = std::iter::once(base.to_owned()).chain(modules.map(|one| format!("{base}{one}/")));
    let written: &[&str] =
        if coverage { &["surefire-reports", "site/jacoco"] } else { &["surefire-reports"] };
    all.flat_map(|of| written.iter().map(move |name| format!("{of}target/{name}"))).collect()
}
