//! The words of each framework.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// A project of one directory, with these files.
fn project(path: &str, files: &[&str]) -> ProjectFiles {
    let names = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect();
    let directory = ProjectDirectory {
        path: path.to_owned(),
        files: names(files),
        directories: BTreeSet::new(),
        manifests: BTreeMap::new(),
        ..ProjectDirectory::default()
    };
    ProjectFiles { directories: vec![directory] }
}

fn command(framework: TestFramework, choice: &TestChoice) -> String {
    framework.command(&project("", &[]), 0, choice, "/r").command.command
}

fn pattern(text: &str) -> TestChoice {
    TestChoice { selection: TestSelection::Pattern(text.to_owned()), ..TestChoice::default() }
}

fn ids(ids: &[&str]) -> TestChoice {
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    TestChoice { selection: TestSelection::Ids(ids), ..TestChoice::default() }
}

fn file(name: &str) -> TestChoice {
    TestChoice { files: vec![name.to_owned()], ..TestChoice::default() }
}

#[test]
fn each_framework_has_its_words() {
    let all = TestChoice::default();
    let cargo = "cargo test --offline --no-fail-fast --color never";
    let jest = "jest --ci --json --testLocationInResults --outputFile=/r/jest.json";
    let node = "node --test --test-reporter=spec --test-reporter-destination=stdout \
                --test-reporter=/r/node.mjs --test-reporter-destination=/r/node.json";
    for (framework, choice, expected) in [
        (TestFramework::Cargo, all.clone(), cargo.to_owned()),
        (TestFramework::Cargo, file("tests/api.rs"), format!("{cargo} --test api")),
        (TestFramework::Cargo, file("src/deep/part.rs"), format!("{cargo} -- deep::part::")),
        (TestFramework::Cargo, file("src/lib.rs"), cargo.to_owned()),
        (TestFramework::Cargo, pattern("a b"), format!("{cargo} -- 'a b'")),
        (TestFramework::Cargo, ids(&["a::b", "c"]), format!("{cargo} -- --exact a::b c")),
        (TestFramework::Jest, pattern("it's"), format!("{jest} -t 'it'\\''s'")),
        (TestFramework::Jest, ids(&["a", "b"]), format!("{jest} -t 'a|b'")),
        (TestFramework::Jest, file("-x.test.js"), format!("{jest} --runTestsByPath ./-x.test.js")),
        (TestFramework::Jest, file("src"), format!("{jest} src")),
        (TestFramework::Node, pattern("a"), format!("{node} --test-name-pattern=a")),
        (TestFramework::Go, all.clone(), "go test -json ./...".to_owned()),
        (TestFramework::Go, file("p/a_test.go"), "go test -json ./p".to_owned()),
        (TestFramework::Go, file("p"), "go test -json ./p/...".to_owned()),
        (
            TestFramework::Go,
            ids(&["TestA/b", "TestA/c", "TestD"]),
            "go test -json -count=1 -run '^(?:TestA|TestD)$' ./...".to_owned(),
        ),
        (
            TestFramework::Ctest,
            pattern("a"),
            "cmake --build build && ctest --test-dir build --output-on-failure --no-tests=error \
             --output-junit /r/ctest.xml -R a"
                .to_owned(),
        ),
        (
            TestFramework::Unittest,
            ids(&["t.A.b"]),
            "python3 -m unittest discover -v -k t.A.b".to_owned(),
        ),
        (
            TestFramework::Unittest,
            TestChoice { files: vec!["t/test_a.py".to_owned()], ..ids(&["t.test_a.A.b"]) },
            "python3 -m unittest -v t.test_a.A.b".to_owned(),
        ),
        (
            TestFramework::Maven,
            ids(&["a.B#c"]),
            "mvn -o -B -ntp --fail-at-end -Dsurefire.failIfNoSpecifiedTests=false -Dtest='a.B#c' test"
                .to_owned(),
        ),
        (
            TestFramework::Dotnet,
            pattern("Adds"),
            "dotnet test --no-restore --nologo --logger trx --logger 'console;verbosity=normal' \
             --results-directory /r --filter 'FullyQualifiedName~Adds'"
                .to_owned(),
        ),
        (
            TestFramework::Deno,
            ids(&["a (b)"]),
            "deno test --cached-only --junit-path=/r/deno.xml --filter '/^(?:a \\(b\\))$/'".to_owned(),
        ),
    ] {
        assert_eq!(command(framework, &choice), expected, "{framework:?} {choice:?}");
    }
}

#[test]
fn tests_in_documentation_are_chosen_by_words_as_rustdoc_splits_ids_at_blanks() {
    let cargo = "cargo test --offline --no-fail-fast --color never";
    for (choice, expected) in [
        (
            ids(&["src/lib.rs - add (line 3)", "src/lib.rs - add (line 9)", "src/b.rs - (line 1)"]),
            format!("{cargo} --doc -- add src/b.rs"),
        ),
        (pattern("src/lib.rs - add (line 3)"), format!("{cargo} --doc -- add")),
        (
            ids(&["a::b", "src/lib.rs - add (line 3)"]),
            format!(
                "if {cargo} -- --exact a::b; then {cargo} --doc -- add; else {cargo} --doc -- add; false; fi"
            ),
        ),
    ] {
        assert_eq!(command(TestFramework::Cargo, &choice), expected, "{choice:?}");
    }
}

#[test]
fn ids_of_failures_choose_just_those_tests() {
    let of = |files: &[&str], choice: TestChoice| TestChoice {
        files: files.iter().map(|file| (*file).to_owned()).collect(),
        ..choice
    };
    let (one, other) = ("/^A\\\\BTest::testC$/", "/^A\\\\BTest::testD with data set #0$/");
    let place = "./spec/a_spec.rb[1:1]";
    for (framework, choice, end) in [
        (TestFramework::Phpunit, pattern(other), format!("--filter '{other}'")),
        // It takes one path, and a class may have another name than its file.
        (
            TestFramework::Phpunit,
            of(&["tests/ATest.php", "tests/BTest.php"], pattern(one)),
            format!("--filter '{one}' tests"),
        ),
        (
            TestFramework::Phpunit,
            ids(&[one, other]),
            "--filter '/^(?:A\\\\BTest::testC|A\\\\BTest::testD with data set #0)$/'".to_owned(),
        ),
        (TestFramework::Rspec, pattern(place), format!("/r/rspec.json '{place}'")),
        (
            TestFramework::Rspec,
            of(&["spec/a_spec.rb"], ids(&[place])),
            format!("rspec.json '{place}'"),
        ),
        (TestFramework::Rspec, ids(&["calc adds"]), "/r/rspec.json -e 'calc adds'".to_owned()),
        (
            TestFramework::Rspec,
            of(&["spec/a_spec.rb"], ids(&[place, "calc adds"])),
            "/r/rspec.json spec/a_spec.rb".to_owned(),
        ),
        (
            TestFramework::Maven,
            ids(&["a.B#adds[0]", "a.B#adds[1]", "a.C", "a.C$D#two words"]),
            "-Dtest='a.B#adds+adds[0],a.B#adds+adds[1],a.C,a.C$D#two words' test".to_owned(),
        ),
        (
            TestFramework::Gradle,
            ids(&["a.B.adds[0]", "a.B.adds[1]", "a.C"]),
            "--tests a.B.adds --tests 'a.B.adds[0]' --tests 'a.B.adds[1]' --tests a.C".to_owned(),
        ),
        (TestFramework::Nextest, ids(&["a::case_1(2)"]), "-E 'test(=a::case_1(2\\))'".to_owned()),
    ] {
        let text = command(framework, &choice);
        assert!(text.ends_with(&end), "{text}\n{end}");
    }
}

#[test]
fn a_file_in_tests_is_of_a_target_or_of_all_of_the_package() {
    let manifest =
        "[package]\nname = \"a\"\n\n[[test]]\nname = \"it\"\npath = \"tests/deep/main.rs\"\n";
    for (path, manifest, end) in [
        ("tests/api.rs", "", " --test api"),
        ("tests/api/main.rs", "", " --test api"),
        ("tests/common/mod.rs", "", " never"),
        ("tests/api/part.rs", "", " never"),
        ("tests/deep/part.rs", manifest, " --test it"),
        ("tests/common/mod.rs", manifest, " never"),
    ] {
        let mut files = project("", &["Cargo.toml"]);
        files.directories[0].manifests.insert("Cargo.toml".to_owned(), manifest.to_owned());
        let planned = TestFramework::Cargo.command(&files, 0, &file(path), "/r");
        assert!(planned.command.command.ends_with(end), "{path}: {planned:?}");
        assert_eq!(planned.notes.is_empty(), end != " never", "{path}: {planned:?}");
    }
}

/// Whatever a file or a test is called, bash takes it as one word.
#[test]
fn names_stay_one_word() {
    let evil = "a b'c\"d\n$(touch x)`y`;&|*?~#\\";
    for framework in TestFramework::all() {
        for choice in [file(evil), pattern(evil), ids(&[evil, evil])] {
            let text = command(framework, &choice);
            let bare = outside_quotes(&text);
            for part in ["touch", "$", "`", ";", "|", "*", "\n", "#"] {
                assert!(!bare.contains(part), "{framework:?}: {text}");
            }
        }
    }
}

/// What of a text bash reads outside of single quotes; `\'` is a quote outside.
fn outside_quotes(text: &str) -> String {
    let mut bare = String::new();
    let mut is_quoted = false;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => drop(characters.next()),
            c if !is_quoted => bare.push(c),
            _ => {}
        }
    }
    bare
}

#[test]
fn programs_of_the_project_go_first_also_those_of_a_directory_around_it() {
    let mut files = project("web/app", &["package.json"]);
    files.directories.push(project("web", &[]).directories.remove(0));
    files.directories[1].probed.insert("node_modules/.bin/jest".to_owned());
    let planned = TestFramework::Jest.command(&files, 0, &TestChoice::default(), "/r");
    assert!(planned.command.command.starts_with("../node_modules/.bin/jest "), "{planned:?}");
    assert_eq!(planned.command.directory, "web/app");
    // A directory beside it has nothing to do with it.
    files.directories[1].path = "other".to_owned();
    let planned = TestFramework::Jest.command(&files, 0, &TestChoice::default(), "/r");
    assert!(planned.command.command.starts_with("jest "), "{planned:?}");
}

#[test]
fn a_module_is_built_by_the_wrapper_at_the_top_of_its_project() {
    for (framework, wrapper, machine) in
        [(TestFramework::Gradle, "gradlew", "gradle "), (TestFramework::Maven, "mvnw", "mvn ")]
    {
        let mut files = project("java/app/core", &["build.gradle", "pom.xml"]);
        for (path, names) in [("java/app", &[][..]), ("java", &[wrapper]), ("", &[])] {
            files.directories.push(project(path, names).directories.remove(0));
        }
        let start = |files: &ProjectFiles, place| {
            framework.command(files, place, &TestChoice::default(), "/r").command.command
        };
        assert!(start(&files, 0).starts_with(&format!("../../{wrapper} ")), "{files:?}");
        assert!(start(&files, 2).starts_with(&format!("./{wrapper} ")), "{files:?}");
        assert!(start(&files, 3).starts_with(machine), "{files:?}");
        // That of another project is not its own.
        files.directories[2].path = "other".to_owned();
        assert!(start(&files, 0).starts_with(machine), "{files:?}");
    }
    let mut files = project("", &["a.bats"]);
    files.directories[0].probed.insert("node_modules/.bin/bats".to_owned());
    let planned = TestFramework::Bats.command(&files, 0, &TestChoice::default(), "/r");
    assert!(planned.command.command.starts_with("node_modules/.bin/bats "), "{planned:?}");
}

#[test]
fn what_is_asked_for_and_not_done_is_said() {
    let coverage = TestChoice { coverage: true, ..TestChoice::default() };
    let planned = TestFramework::Pytest.command(&project("", &[]), 0, &coverage, "/r");
    assert!(planned.notes[0].contains("add it to those, in pyproject.toml"), "{planned:?}");
    let planned = TestFramework::Ctest.command(&project("", &[]), 0, &file("a.c"), "/r");
    assert!(planned.notes[0].contains("all of the project"), "{planned:?}");
    let planned = TestFramework::Go.command(&project("", &[]), 0, &coverage, "/r");
    assert_eq!(planned.notes, Vec::<String>::new());
    assert!(planned.command.command.contains("-coverprofile=/r/cover.out"));
}

#[test]
fn coverage_is_asked_of_what_the_project_has() {
    let coverage = TestChoice { coverage: true, ..TestChoice::default() };
    let with = |name: &str, text: &str| {
        let mut files = project("app", &[]);
        files.directories[0].manifests.insert(name.to_owned(), text.to_owned());
        files
    };
    // What is installed in an environment of the project need not be among its requirements.
    let mut installed = project("", &[]);
    installed.directories[0].probed.insert(".venv/bin/coverage".to_owned());
    let jacoco = "<artifactId>jacoco-maven-plugin</artifactId><module>a</module>";
    for (framework, files, part, directories) in [
        (TestFramework::Deno, project("", &[]), "--coverage=/r/profile", &[][..]),
        (TestFramework::Pytest, installed, "--cov --cov-branch --cov-report=lcov:/r/cov", &[]),
        (TestFramework::Pytest, with("requirements.txt", "pytest-cov"), "--cov --cov-branch", &[]),
        (TestFramework::Phpunit, project("", &[]), "--coverage-clover /r/clover.xml", &[]),
        (
            TestFramework::Dotnet,
            project("", &[]),
            "--collect 'XPlat Code Coverage;Format=lcov'",
            &[],
        ),
        (TestFramework::Rspec, with("Gemfile", "gem 'simplecov'"), "rspec ", &["app/coverage"]),
        (
            TestFramework::Maven,
            with("pom.xml", jacoco),
            " test org.jacoco:jacoco-maven-plugin:report",
            &[
                "app/target/surefire-reports",
                "app/target/site/jacoco",
                "app/a/target/surefire-reports",
                "app/a/target/site/jacoco",
            ],
        ),
    ] {
        let planned = framework.command(&files, 0, &coverage, "/r");
        assert!(planned.command.command.contains(part), "{planned:?}");
        assert_eq!(planned.report_directories, directories, "{framework:?}");
        assert_eq!(planned.notes, Vec::<String>::new(), "{framework:?}");
        let plain = framework.command(&files, 0, &TestChoice::default(), "/r");
        assert!(!plain.command.command.contains("overage"), "{plain:?}");
    }
    for (framework, next) in [
        (TestFramework::Rspec, "bundle add simplecov"),
        (TestFramework::Maven, "jacoco-maven-plugin"),
        (TestFramework::Vitest, "npm install --save-dev @vitest/coverage-v8"),
    ] {
        let planned = framework.command(&project("", &[]), 0, &coverage, "/r");
        assert!(planned.notes[0].contains(next), "{planned:?}");
    }
    let script = |choice: &TestChoice| {
        let planned = TestFramework::Gradle.command(&project("", &[]), 0, choice, "/r");
        planned.inputs[0].text.clone()
    };
    let measured = script(&coverage);
    assert!(measured.contains("new File('/r', 'jacoco' + report.path"), "{measured}");
    assert!(!script(&TestChoice::default()).contains("jacoco"));
    let depth = measured.chars().try_fold(0_u32, |depth, c| match c {
        '{' => Some(depth + 1),
        '}' => depth.checked_sub(1),
        _ => Some(depth),
    });
    assert_eq!(depth, Some(0), "{measured}");
}

#[test]
fn a_project_has_its_programs_in_bin_too() {
    let mut files = project("", &["Gemfile.lock", "phpunit.xml"]);
    let start = |files: &ProjectFiles, framework: TestFramework| {
        framework.command(files, 0, &TestChoice::default(), "/r").command.command
    };
    assert!(start(&files, TestFramework::Rspec).starts_with("bundle exec rspec "));
    files.directories[0].probed.extend(["bin/rspec", "bin/phpunit"].map(str::to_owned));
    assert!(start(&files, TestFramework::Rspec).starts_with("bin/rspec "));
    assert!(start(&files, TestFramework::Phpunit).starts_with("bin/phpunit "));
}

#[test]
fn gradle_runs_tests_in_modules_that_have_none_of_that_name_and_takes_none_from_its_cache() {
    let planned = TestFramework::Gradle.command(&project("", &[]), 0, &TestChoice::default(), "/r");
    let script = &planned.inputs[0].text;
    for line in ["filter.failOnNoMatchingTests = false", "outputs.cacheIf { false }"] {
        assert!(script.lines().any(|one| one.trim() == line), "{script}");
    }
}

#[test]
fn reports_of_maven_are_looked_for_in_each_module() {
    let mut files = project("java", &["pom.xml"]);
    let manifest = "<modules><module>a</module><module>../b</module><module>/c</module></modules>";
    files.directories[0].manifests.insert("pom.xml".to_owned(), manifest.to_owned());
    let planned = TestFramework::Maven.command(&files, 0, &TestChoice::default(), "/r");
    let expected = ["java/target/surefire-reports", "java/a/target/surefire-reports"];
    assert_eq!(planned.report_directories, expected);
}

#[test]
fn phpunit_runs_every_chosen_file_although_it_takes_one_path() {
    let files = ["tests/ATest.php", "tests/unit/BTest.php"].map(str::to_owned).to_vec();
    let run = |choice: &TestChoice, configuration: &[&str]| {
        let planned = TestFramework::Phpunit.command(&project("", configuration), 0, choice, "/r");
        let command = planned.command.command;
        command.trim_start_matches("phpunit --colors=never --log-junit /r/phpunit.xml").to_owned()
    };
    let configured = &["phpunit.xml"];
    let several = TestChoice { files: files.clone(), ..TestChoice::default() };
    assert_eq!(run(&several, configured), " --filter '\\b(?:ATest|BTest)::'");
    assert_eq!(run(&several, &[]), " --filter '\\b(?:ATest|BTest)::' tests");
    let named = TestChoice { files: files.clone(), ..pattern("adds") };
    let both = " --filter '^(?=.*\\b(?:ATest|BTest)::).*(?:adds)'";
    assert_eq!(run(&named, configured), both);
    // Ids name their classes, wherever these are declared.
    let failed = TestChoice { files, ..ids(&["ATest::a", "BTest::b"]) };
    assert_eq!(run(&failed, configured), " --filter '/^(?:ATest::a|BTest::b)$/'");
    assert_eq!(run(&file("tests/ATest.php"), configured), " tests/ATest.php");
}

#[test]
fn a_part_of_the_tests_of_pytest_is_held_to_no_coverage_of_all() {
    let words = |files: &ProjectFiles, choice: &TestChoice| {
        TestFramework::Pytest.command(files, 0, choice, "/r").command.command
    };
    let mut files = project("", &["pytest.ini"]);
    let addopts = "[pytest]\naddopts = --cov=a --cov-fail-under=90\n";
    files.directories[0].manifests.insert("pytest.ini".to_owned(), addopts.to_owned());
    for part in [file("tests/test_a.py"), pattern("adds"), ids(&["test_a.py::test_a"])] {
        assert!(words(&files, &part).contains(" --cov-fail-under=0 "), "{part:?}");
    }
    assert!(!words(&files, &TestChoice::default()).contains("fail-under"));
    assert!(!words(&project("", &["pytest.ini"]), &pattern("adds")).contains("fail-under"));
}

#[test]
fn pytest_names_files_from_the_directory_in_which_it_runs() {
    let words = |files: &ProjectFiles| {
        TestFramework::Pytest.command(files, 0, &file("tests/test_a.py"), "/r").command.command
    };
    let mut files = project("", &["requirements.txt", "pyproject.toml"]);
    assert!(words(&files).contains(" --rootdir=. "));
    let section = "[tool.pytest.ini_options]\n".to_owned();
    files.directories[0].manifests.insert("pyproject.toml".to_owned(), section);
    assert!(!words(&files).contains("rootdir"));
    assert!(!words(&project("", &["pytest.ini"])).contains("rootdir"));
}

#[test]
fn words_of_the_script_of_a_package_are_kept() {
    let words = |framework: TestFramework, script: &str, choice: &TestChoice| {
        let mut files = project("", &["package.json"]);
        let manifest = format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}");
        files.directories[0].manifests.insert("package.json".to_owned(), manifest);
        framework.command(&files, 0, choice, "/r").command.command
    };
    let mocha = "mocha --require ./setup.js 'spec/**'";
    let report = "--reporter /r/mocha.cjs";
    let all = TestChoice::default();
    assert_eq!(
        words(TestFramework::Mocha, mocha, &all),
        format!("mocha --require ./setup.js {report} 'spec/**'")
    );
    assert_eq!(
        words(TestFramework::Mocha, mocha, &file("spec/a.js")),
        format!("mocha --require ./setup.js {report} spec/a.js")
    );
    // Node takes what stands behind the first file for its arguments.
    let node = words(TestFramework::Node, "node --import tsx --test test/*.ts", &all);
    assert!(node.starts_with("node --test --import tsx --test-reporter=spec "), "{node}");
    assert!(node.ends_with("/r/node.json test/*.ts"), "{node}");
    let vitest = words(TestFramework::Vitest, "vitest run --config a.ts", &all);
    assert!(vitest.starts_with("vitest run --config a.ts --reporter=default "), "{vitest}");
    assert!(words(TestFramework::Mocha, "nyc mocha a", &all).starts_with("mocha --reporter"));
}

#[test]
fn a_name_is_looked_for_in_the_files_that_were_chosen() {
    let named = |name: &str, text: &str| TestChoice { files: file(name).files, ..pattern(text) };
    for (framework, choice, end) in [
        (
            TestFramework::Maven,
            named("src/test/java/a/CalcTest.java", "adds"),
            "-Dtest='CalcTest#adds' test",
        ),
        (
            TestFramework::Maven,
            named("CalcTest.java", "a.CalcTest#adds"),
            "-Dtest='a.CalcTest#adds' test",
        ),
        (
            TestFramework::Gradle,
            named("src/test/java/a/CalcTest.java", "adds"),
            " test --tests CalcTest.adds",
        ),
        (
            TestFramework::Gradle,
            named("CalcTest.java", "a.CalcTest.adds"),
            " test --tests a.CalcTest.adds",
        ),
        // An id may be a class.
        (TestFramework::Maven, named("CalcTest.java", "a.CalcTest"), "-Dtest=a.CalcTest test"),
        (TestFramework::Maven, named("CalcTest.java", "CalcTest"), "-Dtest=CalcTest test"),
        (TestFramework::Gradle, named("CalcTest.java", "CalcTest"), " test --tests CalcTest"),
        (
            TestFramework::Maven,
            named("CalcTest.java", "adds[1]"),
            "-Dtest='CalcTest#adds+adds[1]' test",
        ),
        (TestFramework::Gradle, pattern("adds"), " test --tests adds"),
        (
            TestFramework::Pytest,
            named("t/test_a.py", "TestA::test_b"),
            " t/test_a.py::TestA::test_b",
        ),
        (
            TestFramework::Pytest,
            named("t/test_a.py", "t/test_a.py::test_b"),
            " t/test_a.py::test_b",
        ),
        (
            TestFramework::Nextest,
            named("src/deep/part.rs", "adds (a)"),
            " -E '(test(/^deep::part::/)) & test(~adds (a\\))'",
        ),
        (TestFramework::Cargo, named("tests/api.rs", "adds"), " --test api -- adds"),
    ] {
        let text = command(framework, &choice);
        assert!(text.ends_with(end), "{framework:?} {choice:?}: {text}");
    }
}

#[test]
fn what_runs_beside_the_files_that_were_chosen_is_said() {
    let named = |name: &str, text: &str| TestChoice { files: file(name).files, ..pattern(text) };
    for (framework, choice, says) in [
        (TestFramework::Go, file("p/a_test.go"), Some("all tests of the package")),
        (TestFramework::Go, file("p"), None),
        (TestFramework::Cargo, file("src/lib.rs"), Some("all of the package")),
        (TestFramework::Cargo, file("examples/a.rs"), Some("all of the package")),
        (TestFramework::Cargo, file("src/deep/part.rs"), None),
        (TestFramework::Cargo, file("tests/api.rs"), None),
        (TestFramework::Cargo, named("src/deep/part.rs", "adds"), Some("with that name")),
        (TestFramework::Nextest, named("src/deep/part.rs", "adds"), None),
        (TestFramework::Nextest, named("src/lib.rs", "adds"), Some("with that name")),
        (TestFramework::Cargo, TestChoice { files: file("src/lib.rs").files, ..ids(&["a"]) }, None),
        (TestFramework::Cargo, TestChoice::default(), None),
    ] {
        let notes = framework.command(&project("", &[]), 0, &choice, "/r").notes;
        assert_eq!(notes.len(), usize::from(says.is_some()), "{framework:?} {choice:?}: {notes:?}");
        assert!(
            says.is_none_or(|says| notes[0].contains(says)),
            "{framework:?} {choice:?}: {notes:?}"
        );
    }
}
