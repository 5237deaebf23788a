//! Maven and Gradle.

use super::Words;
use crate::bash_word::{joined, quoted};
use crate::framework::TestFramework;
use crate::jvm_names;
use crate::project::ProjectDirectory;

// === impl Words ===

impl Words<'_> {
    pub(super) fn maven(&self) -> Vec<String> {
        let program = self.wrapper("mvnw", "mvn");
        let classes: Vec<String> = self.choice.files.iter().map(|file| class_of(file)).collect();
        let chosen = match (self.ids(), self.pattern(), classes.is_empty()) {
            (Some(ids), ..) => ids.to_vec(),
            // A class with a method, or one of those: it is all that counts.
            (_, Some(pattern), is_open)
                if is_open || pattern.contains('#') || names_one(pattern, &classes) =>
            {
                vec![pattern.to_owned()]
            }
            (_, Some(pattern), _) => {
                classes.iter().map(|class| format!("{class}#{pattern}")).collect()
            }
            (None, None, _) => classes,
        };
        let chosen = selectors(TestFramework::Maven, &chosen).join(",");
        let chosen = match chosen.as_str() {
            "" => String::new(),
            chosen => format!("-Dtest={}", quoted(chosen)),
        };
        // Maven stops at the first module with a failure, and would call one without a match a failure.
        let always = "-o -B -ntp --fail-at-end -Dsurefire.failIfNoSpecifiedTests=false";
        // Its version is that of the project.
        let goals = match self.measures(TestFramework::Maven) {
            true => "test org.jacoco:jacoco-maven-plugin:report",
            false => "test",
        };
        vec![program, always.to_owned(), chosen, goals.to_owned()]
    }

    pub(super) fn gradle(&self) -> Vec<String> {
        let program = self.wrapper("gradlew", "gradle");
        let script = self.report("reports.gradle");
        let classes: Vec<String> = self.choice.files.iter().map(|file| class_of(file)).collect();
        let chosen = match (self.ids(), self.pattern()) {
            (Some(ids), _) => ids.to_vec(),
            // A name with a dot has its class.
            (_, Some(pattern))
                if classes.is_empty() || pattern.contains('.') || names_one(pattern, &classes) =>
            {
                vec![pattern.to_owned()]
            }
            (_, Some(pattern)) => {
                classes.iter().map(|class| format!("{class}.{pattern}")).collect()
            }
            (None, None) => classes,
        };
        let chosen = selectors(TestFramework::Gradle, &chosen).into_iter();
        let chosen = joined(chosen.map(|one| format!("--tests {}", quoted(&one))));
        vec![
            program,
            format!("--offline --console=plain --continue --init-script {script} test"),
            chosen,
        ]
    }

    /// The project's own way to start its build tool, which lies at the top of its modules, or that of the
    /// machine.
    fn wrapper(&self, own: &str, other: &str) -> String {
        let has_it = |(_, around): &(usize, &ProjectDirectory)| around.files.contains(own);
        let Some((_, around)) = self.files.at_or_above(self.place).find(has_it) else {
            return other.to_owned();
        };
        match self.directory().beneath(&around.path) {
            Some("") | None => format!("./{own}"),
            Some(inside) => quoted(&format!("{}{own}", "../".repeat(inside.split('/').count()))),
        }
    }
}

/// What chooses each of some ids or patterns, each selector once.
fn selectors(framework: TestFramework, chosen: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for selector in chosen.iter().flat_map(|one| jvm_names::selectors(framework, one)) {
        if !found.contains(&selector) {
            found.push(selector);
        }
    }
    found
}

/// Whether a pattern is one of some classes, or one in them.
fn names_one(pattern: &str, classes: &[String]) -> bool {
    let simple = pattern.rsplit('.').next().unwrap_or(pattern);
    let outer = simple.split('$').next().unwrap_or(simple);
    classes.iter().any(|class| class == outer)
}

/// The name of the class that a file is named for.
fn class_of(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.').next().unwrap_or(name).to_owned()
}

/// Has Gradle write reports of tests into one directory, and say of each test how it ended; with what ran, where the
/// project has the plugin for that.
pub(super) fn gradle_script(reports: &str, coverage: bool) -> String {
    let path = reports.replace('\\', "\\\\").replace('\'', "\\'");
    format!(
        "allprojects {{\n    tasks.withType(Test).configureEach {{\n        \
         reports.junitXml.required = true\n        \
         reports.junitXml.outputLocation = new File('{path}')\n        \
         outputs.upToDateWhen {{ false }}\n        outputs.cacheIf {{ false }}\n        \
         filter.failOnNoMatchingTests = false\n        \
         testLogging.events('passed', 'failed', 'skipped')\n    }}\n{}}}\n",
        if coverage { gradle_coverage(&path) } else { String::new() }
    )
}

/// Has each module with the plugin write what ran, once its tests have ended, whether they failed or not.
fn gradle_coverage(path: &str) -> String {
    format!(
        "    plugins.withId('jacoco') {{\n        \
         tasks.withType(org.gradle.testing.jacoco.tasks.JacocoReport).configureEach {{ report ->\n            \
         reports.xml.required = true\n            \
         reports.xml.outputLocation = new File('{path}', 'jacoco' + report.path.replace(':', '-') + '.xml')\n        \
         }}\n        \
         tasks.withType(Test).configureEach {{\n            \
         finalizedBy tasks.withType(org.gradle.testing.jacoco.tasks.JacocoReport)\n        }}\n    }}\n"
    )
}
