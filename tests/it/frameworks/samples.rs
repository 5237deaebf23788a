//! FrameworkSample projects: the same five for each framework, as far as it can tell them apart.

/// How a run has to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SampleEnd<Text> {
    /// With a status and the numbers of tests that passed, failed, were skipped, and could not run to their end.
    Ended(Text, [u64; 4]),
    /// With an error of this code.
    Refused(Text),
}

/// What brings a framework or a linter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SampleOrigin {
    /// cargo, or the packages of pip that the tests install.
    Packages,
    /// The packages of npm that the tests install.
    Npm,
    /// The system, or a person.
    System { program: &'static str, install: &'static str },
}

/// A project whose tests are all in one file.
#[derive(Debug)]
pub(super) struct FrameworkSample {
    /// As results name it; also the directory of the project.
    pub(super) framework: &'static str,
    pub(super) origin: SampleOrigin,
    pub(super) files: &'static [(&'static str, &'static str)],
    /// What has to run before tests can.
    pub(super) prepared_by: &'static [&'static str],
    pub(super) test_file: &'static str,
    /// Whether its reports say of some failures no file.
    pub(super) names_no_file: bool,
    /// A name, what is in the test file, and how it ends. Without a text there is no such file.
    pub(super) variants: [(&'static str, Option<&'static str>, SampleEnd<&'static str>); 5],
}

// === impl SampleEnd ===

impl SampleEnd<&str> {
    pub(super) fn owned(&self) -> SampleEnd<String> {
        match self {
            Self::Ended(status, totals) => SampleEnd::Ended((*status).to_owned(), *totals),
            Self::Refused(code) => SampleEnd::Refused((*code).to_owned()),
        }
    }
}

// === impl SampleOrigin ===

impl SampleOrigin {
    pub(crate) fn is_npm(self) -> bool {
        matches!(self, Self::Npm)
    }
}

// === impl FrameworkSample ===

impl FrameworkSample {
    /// The test file, relative to the workspace.
    pub(super) fn path_of_tests(&self) -> String {
        format!("{}/{}", self.framework, self.test_file)
    }
}

const MANIFEST: &str =
    "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";
const RUST_PASSING: &str = "#[test]\nfn one() {}\n\n#[test]\nfn two() {}\n";
const RUST_FAILING: &str = "#[test]\nfn fine() {}\n\n#[test]\nfn adds() {\n    assert_eq!(1 + 2, 4);\n}\n\n\
                            #[test]\n#[ignore]\nfn later() {}\n";
const RUST_ABORTING: &str = "#[test]\nfn dies() {\n    std::process::abort();\n}\n";
const RUST_EMPTY: &str = "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n";
const RUST_BROKEN: &str = "#[test]\nfn one() {\n    let a: u32 = \"no\";\n}\n";
const PYTEST_ERRING: &str = "import pytest\n\n\n@pytest.fixture\ndef broken():\n    raise ValueError('no')\n\n\n\
                             def test_a(broken):\n    pass\n";
const PYTEST_FAILING: &str = "import pytest\n\n\ndef test_fine():\n    pass\n\n\ndef test_adds():\n    \
                              assert 1 + 2 == 4\n\n\n@pytest.mark.skip\ndef test_later():\n    pass\n";
const UNITTEST_FAILING: &str = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_fine(self):\n        \
                                pass\n\n    def test_adds(self):\n        self.assertEqual(1 + 2, 4)\n\n    \
                                @unittest.skip('later')\n    def test_later(self):\n        pass\n";
const UNITTEST_ERRING: &str = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        \
                               raise ValueError('no')\n";
const UNITTEST_PASSING: &str = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_one(self):\n        \
                                pass\n\n    def test_two(self):\n        pass\n";
const NODE_FAILING: &str = "import { test } from 'node:test';\nimport assert from 'node:assert';\n\n\
    test('fine', () => {});\ntest('adds', () => { assert.strictEqual(1 + 2, 4); });\ntest.skip('later', () => {});\n";
const JEST_FAILING: &str = "test('fine', () => {});\ntest('adds', () => { expect(1 + 2).toBe(4); });\n\
                            test.skip('later', () => {});\n";
const MOCHA_FAILING: &str = "const assert = require('node:assert');\n\nit('fine', () => {});\n\
    it('adds', () => { assert.strictEqual(1 + 2, 4); });\nit.skip('later', () => {});\n";
const GO_FAILING: &str = "package calc\n\nimport \"testing\"\n\nfunc TestFine(t *testing.T) {}\n\n\
    func TestAdds(t *testing.T) {\n\tt.Fatal(\"got 3\")\n}\n\nfunc TestLater(t *testing.T) {\n\tt.Skip(\"later\")\n}\n";
const RSPEC_FAILING: &str = "RSpec.describe 'calc' do\n  it('is fine') {}\n  it('adds') { expect(1 + 2).to eq 4 }\n  \
                             xit('comes later') {}\nend\n";
const PHPUNIT_FAILING: &str = "<?php\nuse PHPUnit\\Framework\\TestCase;\nclass CalcTest extends TestCase {\n  \
    function testFine() { $this->assertTrue(true); }\n  function testAdds() { $this->assertSame(4, 1 + 2); }\n  \
    function testLater() { $this->markTestSkipped('later'); }\n}\n";
const PHPUNIT_ERRING: &str = "<?php\nuse PHPUnit\\Framework\\TestCase;\nclass CalcTest extends TestCase {\n  \
    function testAdds() { throw new RuntimeException('no'); }\n}\n";
const PHPUNIT_PASSING: &str = "<?php\nuse PHPUnit\\Framework\\TestCase;\nclass CalcTest extends TestCase {\n  \
    function testOne() { $this->assertTrue(true); }\n  function testTwo() { $this->assertTrue(true); }\n}\n";
const PHPUNIT_CONFIGURATION: &str = "<phpunit><testsuites><testsuite name=\"all\"><directory>tests</directory></testsuite></testsuites></phpunit>\n";
const CTEST: &str = "cmake_minimum_required(VERSION 3.21)\nproject(calc C)\nenable_testing()\ninclude(tests.cmake)\n";
const CTEST_FAILING: &str = "add_test(NAME fine COMMAND true)\nadd_test(NAME adds COMMAND false)\n\
    add_test(NAME later COMMAND true)\nset_tests_properties(later PROPERTIES DISABLED TRUE)\n";

/// Every framework that this machine, or one with a few packages more, can run.
pub(super) const SAMPLES: &[FrameworkSample] = &[
    FrameworkSample {
        framework: "cargo",
        origin: SampleOrigin::Packages,
        files: &[("Cargo.toml", MANIFEST)],
        prepared_by: &[],
        test_file: "src/lib.rs",
        names_no_file: false,
        variants: [
            ("passing", Some(RUST_PASSING), SampleEnd::Ended("passed", [2, 0, 0, 0])),
            ("failing", Some(RUST_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            ("aborting", Some(RUST_ABORTING), SampleEnd::Refused("inconsistent")),
            ("empty", Some(RUST_EMPTY), SampleEnd::Refused("no_tests")),
            ("broken", Some(RUST_BROKEN), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "nextest",
        origin: SampleOrigin::System {
            program: "cargo-nextest",
            install: "`cargo install cargo-nextest --locked`",
        },
        files: &[("Cargo.toml", MANIFEST), (".config/nextest.toml", "")],
        prepared_by: &[],
        test_file: "src/lib.rs",
        names_no_file: true,
        variants: [
            ("passing", Some(RUST_PASSING), SampleEnd::Ended("passed", [2, 0, 0, 0])),
            // What is ignored is not in its report.
            ("failing", Some(RUST_FAILING), SampleEnd::Ended("failed", [1, 1, 0, 0])),
            ("aborting", Some(RUST_ABORTING), SampleEnd::Ended("failed", [0, 1, 0, 0])),
            ("empty", Some(RUST_EMPTY), SampleEnd::Refused("no_tests")),
            ("broken", Some(RUST_BROKEN), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "pytest",
        origin: SampleOrigin::Packages,
        files: &[("pytest.ini", "[pytest]\n")],
        prepared_by: &[],
        test_file: "tests/test_calc.py",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some("def test_one():\n    pass\n\n\ndef test_two():\n    pass\n"),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(PYTEST_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            ("erring", Some(PYTEST_ERRING), SampleEnd::Ended("failed", [0, 0, 0, 1])),
            ("empty", Some("x = 1\n"), SampleEnd::Refused("no_tests")),
            ("broken", Some("import missing_module\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "unittest",
        origin: SampleOrigin::Packages,
        files: &[],
        prepared_by: &[],
        test_file: "test_calc.py",
        names_no_file: false,
        variants: [
            ("passing", Some(UNITTEST_PASSING), SampleEnd::Ended("passed", [2, 0, 0, 0])),
            ("failing", Some(UNITTEST_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            ("erring", Some(UNITTEST_ERRING), SampleEnd::Ended("failed", [0, 0, 0, 1])),
            ("empty", Some("x = 1\n"), SampleEnd::Refused("no_tests")),
            // Not as long as the text before it: Python takes what was written in the same second for the same.
            ("broken", Some("def broken(\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "node",
        origin: SampleOrigin::Packages,
        files: &[("package.json", r#"{"type": "module", "scripts": {"test": "node --test"}}"#)],
        prepared_by: &[],
        test_file: "calc.test.js",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some(
                    "import { test } from 'node:test';\ntest('one', () => {});\ntest('two', () => {});\n",
                ),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(NODE_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            // It counts what is thrown as a failure.
            (
                "erring",
                Some(
                    "import { test } from 'node:test';\ntest('a', () => { throw new Error('no'); });\n",
                ),
                SampleEnd::Ended("failed", [0, 1, 0, 0]),
            ),
            ("empty", Some("export const x = 1;\n"), SampleEnd::Refused("no_tests")),
            ("broken", Some("import './missing.js';\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "jest",
        origin: SampleOrigin::Npm,
        files: &[("package.json", r#"{"devDependencies": {"jest": "*"}}"#)],
        prepared_by: &[],
        test_file: "calc.test.js",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some("test('one', () => {});\ntest('two', () => {});\n"),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(JEST_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            (
                "erring",
                Some("test('a', () => { throw new Error('no'); });\n"),
                SampleEnd::Ended("failed", [0, 1, 0, 0]),
            ),
            ("empty", None, SampleEnd::Refused("no_tests")),
            ("broken", Some("require('./missing');\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "vitest",
        origin: SampleOrigin::Npm,
        files: &[("package.json", r#"{"type": "module", "devDependencies": {"vitest": "*"}}"#)],
        prepared_by: &[],
        test_file: "calc.test.js",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some(
                    "import { test } from 'vitest';\ntest('one', () => {});\ntest('two', () => {});\n",
                ),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            (
                "failing",
                Some(
                    "import { expect, test } from 'vitest';\ntest('fine', () => {});\n\
                     test('adds', () => { expect(1 + 2).toBe(4); });\ntest.skip('later', () => {});\n",
                ),
                SampleEnd::Ended("failed", [1, 1, 1, 0]),
            ),
            (
                "erring",
                Some(
                    "import { test } from 'vitest';\ntest('a', () => { throw new Error('no'); });\n",
                ),
                SampleEnd::Ended("failed", [0, 1, 0, 0]),
            ),
            ("empty", None, SampleEnd::Refused("no_tests")),
            ("broken", Some("import './missing';\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "mocha",
        origin: SampleOrigin::Npm,
        files: &[("package.json", r#"{"devDependencies": {"mocha": "*"}}"#)],
        prepared_by: &[],
        test_file: "test/calc.js",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some("it('one', () => {});\nit('two', () => {});\n"),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(MOCHA_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            // What a hook throws is no test of its own.
            (
                "erring",
                Some("before(() => { throw new Error('no'); });\nit('a', () => {});\n"),
                SampleEnd::Ended("failed", [0, 0, 0, 1]),
            ),
            ("empty", None, SampleEnd::Refused("no_tests")),
            ("broken", Some("require('./missing');\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "go",
        origin: SampleOrigin::System { program: "go", install: "`apt install golang`" },
        files: &[("go.mod", "module example.com/calc\n\ngo 1.19\n"), ("calc.go", "package calc\n")],
        prepared_by: &[],
        test_file: "calc_test.go",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some(
                    "package calc\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {}\n\nfunc TestTwo(t *testing.T) {}\n",
                ),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(GO_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            (
                "erring",
                Some(
                    "package calc\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tpanic(\"no\")\n}\n",
                ),
                SampleEnd::Ended("failed", [0, 0, 0, 1]),
            ),
            ("empty", None, SampleEnd::Refused("no_tests")),
            (
                "broken",
                Some("package calc\n\nvar x int = \"no\"\n"),
                SampleEnd::Refused("build_failed"),
            ),
        ],
    },
    FrameworkSample {
        framework: "rspec",
        origin: SampleOrigin::System { program: "rspec", install: "`apt install ruby-rspec`" },
        files: &[(".rspec", "")],
        prepared_by: &[],
        test_file: "spec/calc_spec.rb",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some("RSpec.describe 'calc' do\n  it('one') {}\n  it('two') {}\nend\n"),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(RSPEC_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            (
                "erring",
                Some("RSpec.describe('calc') { it('raises') { raise 'no' } }\n"),
                SampleEnd::Ended("failed", [0, 1, 0, 0]),
            ),
            ("empty", Some("x = 1\n"), SampleEnd::Refused("no_tests")),
            ("broken", Some("require 'missing_x'\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "phpunit",
        origin: SampleOrigin::System { program: "phpunit", install: "`apt install phpunit`" },
        files: &[("phpunit.xml", PHPUNIT_CONFIGURATION)],
        prepared_by: &[],
        test_file: "tests/CalcTest.php",
        names_no_file: false,
        variants: [
            ("passing", Some(PHPUNIT_PASSING), SampleEnd::Ended("passed", [2, 0, 0, 0])),
            ("failing", Some(PHPUNIT_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            ("erring", Some(PHPUNIT_ERRING), SampleEnd::Ended("failed", [0, 0, 0, 1])),
            ("empty", None, SampleEnd::Refused("no_tests")),
            ("broken", Some("<?php\nclass {\n"), SampleEnd::Refused("build_failed")),
        ],
    },
    FrameworkSample {
        framework: "ctest",
        origin: SampleOrigin::System { program: "ctest", install: "`apt install cmake gcc make`" },
        files: &[("CMakeLists.txt", CTEST)],
        prepared_by: &["cmake", "-S", ".", "-B", "build"],
        test_file: "tests.cmake",
        names_no_file: true,
        variants: [
            (
                "passing",
                Some("add_test(NAME one COMMAND true)\nadd_test(NAME two COMMAND true)\n"),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            ("failing", Some(CTEST_FAILING), SampleEnd::Ended("failed", [1, 1, 1, 0])),
            (
                "erring",
                Some("add_test(NAME missing COMMAND no_such_program)\n"),
                SampleEnd::Ended("failed", [0, 0, 0, 1]),
            ),
            ("empty", Some(""), SampleEnd::Refused("no_tests")),
            (
                "broken",
                Some(
                    "file(WRITE ${CMAKE_BINARY_DIR}/a.c \"int main( {\")\nadd_executable(a ${CMAKE_BINARY_DIR}/a.c)\n\
                     add_test(NAME a COMMAND a)\n",
                ),
                SampleEnd::Refused("build_failed"),
            ),
        ],
    },
    FrameworkSample {
        framework: "bats",
        origin: SampleOrigin::System { program: "bats", install: "`apt install bats`" },
        files: &[],
        prepared_by: &[],
        test_file: "calc.bats",
        names_no_file: false,
        variants: [
            (
                "passing",
                Some("@test \"one\" { true; }\n@test \"two\" { true; }\n"),
                SampleEnd::Ended("passed", [2, 0, 0, 0]),
            ),
            (
                "failing",
                Some(
                    "@test \"fine\" { true; }\n@test \"adds\" { [ 3 -eq 4 ]; }\n@test \"later\" { skip; }\n",
                ),
                SampleEnd::Ended("failed", [1, 1, 1, 0]),
            ),
            (
                "erring",
                Some("@test \"a\" { no_such_program; }\n"),
                SampleEnd::Ended("failed", [0, 1, 0, 0]),
            ),
            ("empty", Some("#!/usr/bin/env bats\n"), SampleEnd::Refused("no_tests")),
            ("broken", Some("@test \"a\" {\n"), SampleEnd::Refused("build_failed")),
        ],
    },
];
