//! Tests of the commands that manifests give.

use super::*;

/// Files beside a manifest, files above it, and whether it is the member of another.
#[derive(Default)]
struct Around(&'static [&'static str], &'static [&'static str], bool);

impl ManifestSurroundings for Around {
    fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    fn has_here_or_above(&self, name: &str) -> bool {
        self.has(name) || self.1.contains(&name)
    }

    fn is_member(&self) -> bool {
        self.2
    }
}

/// The commands as text, a line for each.
fn given(file: &str, text: &str, around: &Around) -> String {
    let kind = super::super::kind(&file.to_lowercase()).unwrap();
    let lines = commands(kind.name, file, &text.to_owned().into(), around);
    let line = |it: &ProjectCommand| format!("{:?}: {}", it.purpose, it.command).to_lowercase();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn scripts_of_a_package_run_with_the_package_manager_in_use() {
    let scripts = r#""scripts": {"build": "tsc", "e2e": "x", "lint": "eslint .", "postinstall": "x",
        "start": "node .", "test": "vitest", "test:unit": "y", "typecheck": "tsc"}"#;
    let all = |manager: &str| {
        format!(
            "build: {manager} run build\nrun: {manager} run start\ntest: {manager} run test\n\
             test: {manager} run e2e\nlint: {manager} run lint\nlint: {manager} run typecheck"
        )
    };
    let plain = format!("{{{scripts}}}");
    assert_eq!(given("package.json", &plain, &Around::default()), all("npm"));
    assert_eq!(given("package.json", &plain, &Around(&["yarn.lock"], &[], false)), all("yarn"));
    assert_eq!(given("package.json", &plain, &Around(&[], &["pnpm-lock.yaml"], true)), all("pnpm"));
    let stated = format!("{{\"packageManager\": \"bun@1.2.0\", {scripts}}}");
    assert_eq!(given("package.json", &stated, &Around(&["yarn.lock"], &[], false)), all("bun"));
    let odd = format!("{{\"packageManager\": \"rm -rf /\", {scripts}}}");
    assert_eq!(given("package.json", &odd, &Around::default()), all("npm"));
}

#[test]
fn targets_recipes_and_tasks_are_commands_where_their_name_says_what_for() {
    let makefile = "CC := cc\nall: build\nbuild: $(OBJ)\n\tcc\n%.o: %.c\n.PHONY: test\n\
                    test unit:\n\t./t\nclean:\n\trm\nLINT=x: y\n$(X): z\n";
    let around = Around::default();
    assert_eq!(
        given("Makefile", makefile, &around),
        "build: make build\nbuild: make all\ntest: make test\ntest: make unit"
    );
    let justfile = "set shell := ['x']\nversion := '1'\nalias t := test\n@build *args:\n  x\n\
                    run target:\n  x\ndev port='1':\n  x\ntest: build\n  x\n# lint: no\n[private]\nfmt:\n";
    assert_eq!(
        given("justfile", justfile, &around),
        "build: just build\nrun: just dev\ntest: just test\nlint: just fmt"
    );
    let taskfile = "version: '3'\nvars:\n  test: no\ntasks:\n  build:\n    cmds:\n      - go build\n\n  \
                    test: go test\n  'lint:go':\n    cmd: x\nother:\n  run: no\n";
    assert_eq!(
        given("Taskfile.yml", taskfile, &around),
        "build: task build\ntest: task test\nlint: task lint:go"
    );
}

#[test]
fn a_tool_has_its_commands_for_the_outermost_manifest() {
    let around = |beside, is_member| Around(beside, &[], is_member);
    let package = "[package]\nname = \"a\"\n";
    for (file, text, beside, is_member, expected) in [
        (
            "Cargo.toml",
            package,
            &["src/main.rs"][..],
            false,
            "build: cargo build\nrun: cargo run\ntest: cargo test\nlint: cargo clippy",
        ),
        ("Cargo.toml", package, &["src/main.rs"], true, "run: cargo run"),
        ("Cargo.toml", package, &[], true, ""),
        (
            "go.mod",
            "module a\n",
            &["main.go"],
            false,
            "build: go build ./...\nrun: go run .\ntest: go test ./...\nlint: go vet ./...",
        ),
        ("go.work", "", &[], false, ""),
        ("mix.exs", "", &[], false, "build: mix compile\ntest: mix test"),
        ("build.gradle.kts", "", &[], false, "build: gradle build\ntest: gradle test"),
        ("build.gradle", "", &["gradlew"], false, "build: ./gradlew build\ntest: ./gradlew test"),
        ("pom.xml", "", &["mvnw"], false, "build: ./mvnw package\ntest: ./mvnw test"),
        ("pom.xml", "", &["mvnw"], true, ""),
        ("a.sln", "", &[], false, "build: dotnet build\ntest: dotnet test"),
        ("a.csproj", "<OutputType>Exe</OutputType>", &[], true, "run: dotnet run"),
        ("compose.yaml", "", &[], false, "run: docker compose up"),
        ("Dockerfile", "", &[], false, ""),
        ("composer.json", r#"{"scripts": {"test": "x"}}"#, &[], false, "test: composer run test"),
        ("deno.json", r#"{"tasks": {"dev": "x"}}"#, &[], false, "run: deno task dev"),
        ("Pipfile", "[scripts]\nserve = \"x\"\n", &[], false, "run: pipenv run serve"),
        ("requirements.txt", "", &[], false, ""),
    ] {
        assert_eq!(given(file, text, &around(beside, is_member)), expected, "{file} {beside:?}");
    }
}

#[test]
fn a_python_project_has_the_commands_of_its_tools() {
    let text = "[build-system]\n[project.scripts]\ncat = \"cat:main\"\n[tool.pytest.ini_options]\n\
                [tool.ruff]\nline-length = 100\n[tool.mypy]\n[tool.poe.tasks]\ntest = \"x\"\n";
    assert_eq!(
        given("pyproject.toml", text, &Around::default()),
        "build: python -m build\nrun: cat\ntest: poe test\ntest: pytest\nlint: ruff check\nlint: mypy ."
    );
    assert_eq!(
        given("pyproject.toml", text, &Around(&[], &["uv.lock"], false)),
        "build: uv build\nrun: uv run cat\ntest: poe test\ntest: uv run pytest\n\
         lint: uv run ruff check\nlint: uv run mypy ."
    );
}

#[test]
fn names_that_a_shell_would_not_take_as_one_word_are_no_commands() {
    let text =
        r#"{"scripts": {"test; rm -rf ~": "x", "test $(x)": "x", "-test": "x", "test\n": "x"}}"#;
    assert_eq!(given("package.json", text, &Around::default()), "");
    let long = format!("{}-test:\n", "x".repeat(NAME_BYTES_MAX));
    assert_eq!(given("Makefile", &long, &Around::default()), "");
    assert_eq!(given("package.json", "{", &Around::default()), "");
}

#[test]
fn a_manifest_gives_at_most_two_commands_for_each_purpose() {
    let makefile: String = (0..50).map(|n| format!("test-{n}:\nbuild-{n}:\n")).collect();
    let given = given("Makefile", &format!("{makefile}test:\n"), &Around::default());
    assert_eq!(
        given,
        "build: make build-0\nbuild: make build-1\ntest: make test\ntest: make test-0"
    );
}
