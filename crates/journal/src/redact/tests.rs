//! Tests of the module `redact`.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::json;

use super::*;

/// Makes what looks like a secret without writing one down.
fn fake(prefix: &str) -> String {
    format!("{prefix}{}", "Ab3dEf6hIj9k".repeat(4))
}

#[test]
fn secrets_with_a_known_form_are_masked() {
    let jwt = format!("{}.{}.x_-y", fake("eyJ"), fake("eyJ"));
    let pgp = format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n{}", fake(""));
    let pem = |end: &str| format!("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n{}\n{end}", fake(""));
    let cases = [
        ("key AKIAABCDEFGHIJKLMNOP.".to_owned(), "key [redacted]."),
        (format!("push with {}", fake("ghp_")), "push with [redacted]"),
        (format!("({})", fake("github_pat_")), "([redacted])"),
        (fake("glpat-"), "[redacted]"),
        (format!("a {} b", fake("xoxb-1-")), "a [redacted] b"),
        (fake("sk-ant-api03-"), "[redacted]"),
        (fake("sk-proj-"), "[redacted]"),
        (fake("sk_live_"), "[redacted]"),
        (fake("AIza"), "[redacted]"),
        (fake("npm_"), "[redacted]"),
        (format!("jwt {jwt}, ok"), "jwt [redacted], ok"),
        (format!("{} after", pem("-----END RSA PRIVATE KEY-----")), "[redacted] after"),
        (pem("cut off"), "[redacted]"),
        (format!("{pgp}\n-----END PGP PRIVATE KEY BLOCK----- b"), "[redacted] b"),
        (format!("Bearer {}", fake("")), "Bearer [redacted]"),
        ("Authorization: Basic dXNlcjpwYXNz".to_owned(), "Authorization: Basic [redacted]"),
        ("postgres://me:hunter2@db/x".to_owned(), "postgres://me:[redacted]@db/x"),
        ("redis://:hunter2@db".to_owned(), "redis://:[redacted]@db"),
        ("PGPASSWORD=hunter2 psql".to_owned(), "PGPASSWORD=[redacted] psql"),
        ("db_password: 'hun ter2' x".to_owned(), "db_password: [redacted] x"),
        (r#"{"password":"hunter2","a":1}"#.to_owned(), r#"{"password":[redacted],"a":1}"#),
        (r#""{\"apiKey\": \"hunter2\"}""#.to_owned(), r#""{\"apiKey\": [redacted]}""#),
        ("login --password hunter2 -v".to_owned(), "login --password [redacted] -v"),
        ("?token=hunter2&x=1 y".to_owned(), "?token=[redacted] y"),
        ("client_secret => hunter2".to_owned(), "client_secret => [redacted]"),
        ("DB_PASS=hunter2 x".to_owned(), "DB_PASS=[redacted] x"),
        ("export PASS='hun ter2'".to_owned(), "export PASS=[redacted]"),
        ("smtp.pass: hunter2".to_owned(), "smtp.pass: [redacted]"),
        ("AccountName=a;AccountKey=aGk+Zg==;x".to_owned(), "AccountName=a;AccountKey=[redacted]"),
        ("SharedAccessKey=aGk=".to_owned(), "SharedAccessKey=[redacted]"),
        ("STRIPE_KEY=hunter2 run".to_owned(), "STRIPE_KEY=[redacted] run"),
        (format!("({})", fake("pypi-AgEI")), "([redacted])"),
        (format!("{}.{}", fake("SG."), fake("")), "[redacted]"),
        (format!("{} x", fake("AGE-SECRET-KEY-1").to_uppercase()), "[redacted] x"),
        (fake("dckr_pat_"), "[redacted]"),
        (fake("hvs."), "[redacted]"),
        (format!("https://{}", fake("hooks.slack.com/services/T0/B0/")), "https://[redacted]"),
        ("sshpass -p hunter2 ssh a".to_owned(), "sshpass -p [redacted] ssh a"),
        ("mysql -u root -phunter2 db".to_owned(), "mysql -u root -p[redacted] db"),
        (format!("?sv=1&sig={}&x", fake("")), "?sv=1&sig=[redacted]&x"),
    ];
    for (text, expected) in cases {
        assert_eq!(mask(&text), expected, "{text}");
    }
}

#[test]
fn passwords_of_users_in_options_are_masked() {
    let cases = [
        ("curl -u me:hunter2 https://a.example", "curl -u me:[redacted] https://a.example"),
        ("curl -sSu 'me:hunter2' b", "curl -sSu 'me:[redacted]' b"),
        ("curl -ume:hunter2 b", "curl -ume:[redacted] b"),
        ("curl x --user=me:hunter2", "curl x --user=me:[redacted]"),
        ("curl -x p --proxy-user me:hunter2", "curl -x p --proxy-user me:[redacted]"),
        ("curl -u me:'hunter2' https://x", "curl -u me:[redacted] https://x"),
        ("curl -u me:'hun ter2'x b", "curl -u me:[redacted] b"),
        ("curl -u 'me:hun ter2' b", "curl -u 'me:[redacted]' b"),
        (r#"curl -u "$U":hunter2 https://x"#, r#"curl -u "$U":[redacted] https://x"#),
        (r#"curl -u "$U:hun\"ter2" b"#, r#"curl -u "$U:[redacted]" b"#),
        (r#"curl -u "$U:"hunter2 b"#, r#"curl -u "$U:"[redacted] b"#),
        ("curl -u :hunter2 b", "curl -u :[redacted] b"),
        ("curl \\\n -u me:hunter2 b", "curl \\\n -u me:[redacted] b"),
        ("curl -s \\\n-u \\\n me:hunter2 b", "curl -s \\\n-u \\\n me:[redacted] b"),
        ("curl --oauth2-bearer TOKEN x", "curl --oauth2-bearer [redacted] x"),
        ("curl --oauth2-bearer 'TO KEN' x", "curl --oauth2-bearer [redacted] x"),
        ("x --proxy-user 'me':hunter2 b", "x --proxy-user 'me':[redacted] b"),
        ("wget --user=me --password=hunter2 b", "wget --user=me --password=[redacted] b"),
        ("wget --proxy-password 'hun ter2' b", "wget --proxy-password [redacted] b"),
    ];
    for (text, expected) in cases {
        assert_eq!(mask(text), expected, "{text}");
    }
}

#[test]
fn values_of_headers_and_users_of_urls_are_masked() {
    let cases = [
        (
            r#"git -c http.extraHeader="AUTHORIZATION: basic aHVudGVy" fetch"#,
            r#"git -c http.extraHeader="AUTHORIZATION: basic [redacted]" fetch"#,
        ),
        (r#"curl -H "Cookie: sid=x; b=y" u"#, r#"curl -H "Cookie: [redacted]" u"#),
        ("set-cookie: sid=x; Path=/\nb: c", "set-cookie: [redacted]\nb: c"),
        (r#"curl --cookie "session=x y" u"#, r#"curl --cookie "session=[redacted]" u"#),
        ("curl -sb session=x u", "curl -sb session=[redacted] u"),
        ("https://hunter2hunter@github.com/a", "https://[redacted]@github.com/a"),
        ("https://hunter2hunter:x-oauth-basic@h/a", "https://[redacted]:[redacted]@h/a"),
        ("https://hunter2hunter:@h/a", "https://[redacted]:@h/a"),
    ];
    for (text, expected) in cases {
        assert_eq!(mask(text), expected, "{text}");
    }
}

#[test]
fn options_of_programs_that_hold_a_password_are_masked() {
    let cases = [
        ("docker login -u me -p hunter2 r.example", "docker login -u me -p [redacted] r.example"),
        ("podman login r \\\n -p 'hun ter2'", "podman login r \\\n -p [redacted]"),
        ("az acr login -n r -p=hunter2", "az acr login -n r -p=[redacted]"),
        ("twine upload -u me -p hunter2 dist/*", "twine upload -u me -p [redacted] dist/*"),
        ("npm config set //r/:_authToken hunter2", "npm config set //r/:_authToken [redacted]"),
        ("npm set //r/:_authToken hunter2", "npm set //r/:_authToken [redacted]"),
        ("npm config set _auth hunter2", "npm config set _auth [redacted]"),
        (
            "aws configure set aws_secret_access_key hunter2 --profile a",
            "aws configure set aws_secret_access_key [redacted] --profile a",
        ),
        ("git config --global github.token hunter2", "git config --global github.token [redacted]"),
        (
            "pulumi config set dbPassword --secret hunter2",
            "pulumi config set dbPassword --secret [redacted]",
        ),
        (
            "openssl rsa -in a -passin pass:hunter2 -out b",
            "openssl rsa -in a -passin pass:[redacted] -out b",
        ),
        ("openssl enc -aes-256-cbc -k hunter2", "openssl enc -aes-256-cbc -k [redacted]"),
        ("keytool -list -storepass hunter2", "keytool -list -storepass [redacted]"),
        (
            "kubectl create secret generic a --from-literal=pw=hunter2 -n b",
            "kubectl create secret generic a --from-literal=pw=[redacted] -n b",
        ),
        ("x --from-literal 'pw=hun ter2' b", "x --from-literal 'pw=[redacted]' b"),
        ("redis-cli -h a -a hunter2 ping", "redis-cli -h a -a [redacted] ping"),
        ("vault login hunter2", "vault login [redacted]"),
        ("vault login -no-print hunter2", "vault login -no-print [redacted]"),
        ("smbclient //h/s -U me%hunter2 -c ls", "smbclient //h/s -U me%[redacted] -c ls"),
        ("smbclient -U 'me%hun ter2' //h/s", "smbclient -U 'me%[redacted]' //h/s"),
        ("mongosh -u me -p hunter2", "mongosh -u me -p [redacted]"),
        ("ldapsearch -x -w hunter2 -b dc=a", "ldapsearch -x -w [redacted] -b dc=a"),
        ("zip -r -P hunter2 a.zip b", "zip -r -P [redacted] a.zip b"),
        ("7z a -phunter2 a.7z b", "7z a -p[redacted] a.7z b"),
        ("ssh-keygen -t rsa -N hunter2 -f k", "ssh-keygen -t rsa -N [redacted] -f k"),
        (
            "echo hunter2 | docker login -u me --password-stdin",
            "echo [redacted] | docker login -u me --password-stdin",
        ),
        ("printf '%s' 'hun ter2' | sudo -kS ls", "printf [redacted] | sudo -kS ls"),
        (
            "echo hunter2 | gh auth login --with-token",
            "echo [redacted] | gh auth login --with-token",
        ),
        ("sudo -S <<< hunter2", "sudo -S <<< [redacted]"),
        ("sudo -S ls <<<'hun ter2'", "sudo -S ls <<<[redacted]"),
    ];
    for (text, expected) in cases {
        assert_eq!(mask(text), expected, "{text}");
        assert_eq!(mask(expected), expected, "again");
    }
}

#[test]
fn ordinary_text_stays() {
    let texts = [
        "src/main.rs changed since it was read; read it again",
        "expected 3 tokens, found 4",
        "the password is too short",
        "https://example.org:8080/a@b?c=d",
        "task-list-of-many-things-to-do-today",
        "ask-me-anything-you-want-to-know-today",
        "0123456789abcdef0123456789abcdef01234567",
        "docker run -u 1000:1000 image",
        "curl -o out.txt https://example.org/a",
        "curl --user-agent=a:b https://example.org:8080/a",
        "curl -u me: https://example.org:8080/a",
        "curl -u \"$U\" https://example.org:8080/a",
        "curl https://example.org/a\ndocker run -u 1000:1000 image",
        "wget --user=me https://example.org:8080/a",
        "the bearer of this letter",
        "all tests pass: 12 of 12",
        "compass=north bypass=1",
        "PRIMARY_KEY id",
        "mkdir -p src/main",
        "cp -a src dst",
        "git commit -a -m message",
        "docker run -p 8080:80 image",
        "docker login -u me r.example && mkdir -p out",
        "redis-cli -h localhost -p 6379 ping",
        "ssh -p 2222 host",
        "unzip -p a.zip b",
        "7z x a.7z -oout",
        "curl --cookie cookies.txt https://example.org/a",
        "curl -sb cookies.txt https://example.org/a",
        "https://me@example.org/a",
        "ssh://git@github.com/a/b",
        "https://example.org/some-long-name@1.2.3",
        "git config --global credential.helper store",
        "git config user.name me",
        "npm config set registry https://example.org/",
        "aws configure set region eu-central-1",
        "aws configure get aws_secret_access_key --profile a",
        "openssl rsa -in a.pem -passin env:NAME -out b",
        "openssl x509 -in a -noout",
        "vault login -method=oidc",
        "vault status",
        "smbclient //h/s -U me -c ls",
        "echo done | sudo tee a.txt",
        "echo a | grep b",
        "cat <<< text",
        "sudo -u me ls <<< text",
        "mongosh --port 27017",
        "ldapsearch -x -b dc=example,dc=org",
        "pypi-like",
        "日本語 naïve ümlaut",
    ];
    for text in texts {
        assert_eq!(mask(text), text);
        assert_eq!(RedactedText::new(text).as_str(), text);
    }
}

#[test]
fn texts_are_bounded_after_masking() {
    let text = RedactedText::new(&"é".repeat(TEXT_BYTES_MAX));
    assert_eq!(text.as_str().len(), TEXT_BYTES_MAX + '…'.len_utf8());
    // A secret across the cut must not leave its first half.
    let secret = fake("ghp_");
    for padding in TEXT_BYTES_MAX - secret.len() - 2..TEXT_BYTES_MAX + 2 {
        let text = RedactedText::new(&format!("{} {secret}", "x".repeat(padding)));
        assert!(!text.as_str().contains("ghp_"), "{padding}");
    }
    let huge = RedactedText::new(&"y".repeat(SCAN_BYTES_MAX * 2));
    assert!(huge.as_str().ends_with('…'));
}

#[test]
fn characters_that_deceive_are_escaped() {
    let text = RedactedText::new("a\u{202e}b\u{9b}c\u{1b}[2J\n");
    assert_eq!(text.as_str(), "a\\u{202e}b\\u{9b}c\u{1b}[2J\n");
    assert_eq!(serde_json::to_string(&text).unwrap(), r#""a\\u{202e}b\\u{9b}c\u001b[2J\n""#);
}

#[test]
fn arguments_keep_what_identifies_the_call_and_nothing_else() {
    let arguments = RedactedArguments::new(&json!({
        "path": "src/a.rs",
        "startLine": 3,
        "overwrite": true,
        "newText": "let x = 1;\n",
        "API-Key": "hunter2",
        "auth_tokens": ["a", "b"],
        "nested": { "dbPassword": { "x": "hunter2" }, "list": [null, 1.5, "two\nlines"] },
        "long": "x".repeat(ARGUMENT_BYTES_MAX + 1),
        "url": "https://me:hunter2@example.org/",
    }));
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_string();
    let long = "x".repeat(ARGUMENT_BYTES_MAX + 1);
    assert_eq!(
        serde_json::to_value(&arguments).unwrap(),
        json!({
            "path": "src/a.rs",
            "startLine": 3,
            "overwrite": true,
            "newText": { "bytes": 11, "hash": hash("let x = 1;\n") },
            "API-Key": "[redacted]",
            "auth_tokens": "[redacted]",
            "nested": {
                "dbPassword": "[redacted]",
                "list": [null, 1.5, { "bytes": 9, "hash": hash("two\nlines") }],
            },
            "long": { "bytes": ARGUMENT_BYTES_MAX + 1, "hash": hash(&long) },
            "url": "https://me:[redacted]@example.org/",
        })
    );
}

#[test]
fn every_name_of_a_content_is_known() {
    for key in
        ["content", "newText", "oldText", "text", "code", "body", "new_string", "diffContent"]
    {
        let arguments = RedactedArguments::new(&json!({ key: "canary", "b": { key: ["canary"] } }));
        let text = serde_json::to_string(&arguments).unwrap();
        assert!(!text.contains("canary"), "{text}");
    }
}

#[test]
fn arguments_of_any_size_become_small() {
    let wide: Value =
        (0..10_000).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>().into();
    let long = json!(vec!["x".repeat(190); 10_000]);
    let keys: Value =
        (0..9).map(|n| (format!("{n}").repeat(9999), json!(n))).collect::<Map<_, _>>().into();
    let mut deep = json!("bottom");
    for _ in 0..100 {
        deep = json!([deep, "x".repeat(190)]);
    }
    for huge in [wide, long, keys, deep] {
        let text = serde_json::to_string(&RedactedArguments::new(&huge)).unwrap();
        assert!(text.len() < 2 * ARGUMENTS_BYTES_MAX, "{}", text.len());
    }
    let arguments = RedactedArguments::new(&json!((0..300).collect::<Vec<_>>()));
    let kept = serde_json::to_value(&arguments).unwrap();
    assert_eq!(kept.as_array().unwrap().last(), Some(&json!("[omitted]")));
}

#[test]
fn arguments_that_are_no_json_become_a_fingerprint() {
    let text =
        serde_json::to_string(&RedactedArguments::unreadable(b"{\"password\": canary")).unwrap();
    assert!(text.starts_with("{\"bytes\":19,\"hash\":") && !text.contains("canary"), "{text}");
}

#[test]
fn a_long_text_is_no_more_than_a_fingerprint_under_any_key() {
    let content = format!("canary {}", "x".repeat(ARGUMENT_BYTES_MAX));
    for key in ["path", "new_txt", "contnet", "x", ""] {
        let arguments = RedactedArguments::new(&json!({ key: content, "b": [{ key: [content] }] }));
        let text = serde_json::to_string(&arguments).unwrap();
        assert!(!text.contains("canary"), "{text}");
        assert!(text.contains(&blake3::hash(content.as_bytes()).to_string()), "{text}");
    }
}

#[test]
fn secrets_in_keys_are_masked() {
    // Also where the cut of a long key would leave a secret's first half.
    for padding in [0, 1, KEY_BYTES_MAX - 12, KEY_BYTES_MAX - 4] {
        let key = format!("{} {}", "k".repeat(padding), fake("ghp_"));
        let arguments = RedactedArguments::new(&json!({ &key: 1, "b": [{ &key: {} }] }));
        let text = serde_json::to_string(&arguments).unwrap();
        assert!(!text.contains("ghp_") && text.contains("[r"), "{text}");
    }
}

#[test]
fn values_that_are_passed_on_lose_their_secrets_and_nothing_else() {
    for (given, expected) in [
        (json!({ "path": "a", "n": 1 }), json!({ "path": "a", "n": 1 })),
        (json!({ "api_key": "x", "b": [7] }), json!({ "api_key": "[redacted]", "b": [7] })),
        (json!("password=hunter2 and more"), json!("password=[redacted] and more")),
        (
            json!("{\"content\": \"key AKIAABCDEFGHIJKLMNOP\", \"token\": {\"a\": 1}}"),
            json!("{\"content\":\"key [redacted]\",\"token\":\"[redacted]\"}"),
        ),
        (
            json!("{ \"content\": \"long text, kept\" }"),
            json!("{ \"content\": \"long text, kept\" }"),
        ),
        (json!("{\"a\": password=hunter2"), json!("{\"a\": password=[redacted]")),
    ] {
        assert_eq!(without_secrets(given.clone()), expected, "{given}");
    }
}

/// The length of the shortest text that a pattern can match without a byte of these; none where each of its
/// matches has one.
fn shortest_without(hir: &Hir, bytes: &[u8]) -> Option<usize> {
    let shortest = |hir: &Hir| shortest_without(hir, bytes);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(0),
        HirKind::Literal(literal) => {
            let has = literal.0.iter().any(|byte| bytes.contains(byte));
            (!has).then_some(literal.0.len())
        }
        HirKind::Class(class) => {
            let ranges: Vec<(u32, u32)> = match class {
                Class::Unicode(class) => {
                    class.iter().map(|range| (range.start().into(), range.end().into())).collect()
                }
                Class::Bytes(class) => {
                    class.iter().map(|range| (range.start().into(), range.end().into())).collect()
                }
            };
            let is_other = |code: u32| !bytes.iter().any(|byte| u32::from(*byte) == code);
            ranges.iter().any(|(first, last)| (*first..=*last).any(is_other)).then_some(1)
        }
        HirKind::Repetition(repeated) => match repeated.min {
            0 => Some(0),
            min => shortest(&repeated.sub).map(|length| length * min as usize),
        },
        HirKind::Capture(capture) => shortest(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(shortest).sum(),
        HirKind::Alternation(parts) => parts.iter().filter_map(shortest).min(),
    }
}

#[test]
fn a_text_that_is_not_searched_has_no_room_for_a_secret() {
    for (pattern, _) in patterns::ALL.iter() {
        let hir = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern.as_str());
        let shortest = shortest_without(&hir.unwrap(), BEFORE_SECRETS);
        assert!(shortest.is_none_or(|bytes| bytes >= FORM_BYTES_MIN), "{shortest:?}: {pattern}");
    }
    assert!(
        is_too_short("src/read.rs") && !is_too_short("pwd=x") && !is_too_short("xoxa-12345678")
    );
}
