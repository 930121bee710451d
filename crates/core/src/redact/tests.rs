//! What is hidden, what is cut, and what stays readable.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn known(secrets: &[&str]) -> Redactor {
    let mut known = Known::default();
    secrets.iter().for_each(|secret| known.add(secret));
    Redactor::new(known)
}

fn redacted(redactor: &Redactor, value: &Value) -> Value {
    let text = value.to_string();
    let json = Json::parse(text.as_bytes(), &Limits::DEFAULT).unwrap();
    serde_json::from_str(redactor.json(json).as_json().as_str()).unwrap()
}

/// Each text and what is left of it, `#` standing for what was hidden.
fn check(rows: &[(&str, &str)]) {
    let redactor = Redactor::default();
    for (given, shown) in rows {
        assert_eq!(redactor.text(given).replace(REDACTED, "#"), *shown, "{given}");
    }
}

#[test]
fn harmless_texts_stay_as_they_are() {
    for text in [
        "",
        "Please list the open issues of switchboard, newest first.",
        "/srv/data/projects/2024-01-15-meeting-notes-v2.md",
        "src/components/UserProfileSettingsPanel.tsx",
        "https://example.com/a/b?page=2&sort=asc#top",
        "http://127.0.0.1:8080/users/@me",
        "ssh://git@github.com/org/repo.git",
        "npm:@modelcontextprotocol/server-filesystem@1.2.3",
        "SELECT id, name FROM people WHERE created_at > '2024-01-15T10:30:00Z' LIMIT 10",
        "550e8400-e29b-41d4-a716-446655440000",
        "/pages/550e8400-e29b-41d4-a716-446655440000/blocks",
        "mcp__filesystem__read_text_file",
        "getUserByIdAndThenSendEmailNotification",
        "a basic understanding of tokens, and the bearer of bad news",
        "commit 3f8a9b2 on release-2024.06",
        "joe@example.com, 12:30, 10.0.0.1, +41 44 123 45 67",
        "Grüße aus Zürich, 你好, 🚀",
        "20240115T103000Z",
        "-----BEGIN CERTIFICATE-----",
        "the password was changed",
        "task-sk and desk-lamp",
    ] {
        check(&[(text, text)]);
    }
}

#[test]
fn secrets_by_their_kind() {
    check(&[
        ("use ghp_0123456789abcdefghijABCDEFGHIJ012345 now", "use # now"),
        ("github_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ", "#"),
        ("sk-ant-api03-abcdefgh, sk-proj-abcdefghijkl", "#, #"),
        ("sk_live_abcdefghijkl", "#"),
        ("key=xoxb-123456789012-abcdefghijkl", "key=#"),
        ("AKIAIOSFODNN7EXAMPLE", "#"),
        ("(AIzaSyA-1234567890abcdefghijklmnopqrstu)", "(#)"),
        ("glpat-abcdefghijklmnopqrst.", "#."),
        ("npm_abcdefghijklmnopqrstuvwxyzabcdefghij", "#"),
        ("swb_abcdefghijklmnop and sws_abcdefghijklmnop", "# and #"),
        ("ya29.abcdefgh-ijklmnop", "#"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "#"),
        ("a,eyJhbGciOiJIUzI1NiJ9.e30.x-y_z;b", "a,#;b"),
        ("curl -H 'Authorization: Bearer abc' x", "curl -H 'Authorization: #' x"),
        ("send Bearer abc.def-123 along", "send Bearer # along"),
        ("Basic dXNlcjpodW50ZXIy", "Basic #"),
        ("BEARER abcdefghijklmnopqrstuvwxyz", "BEARER #"),
        ("token 0a1b2c3d", "token #"),
        ("curl -u joe:hunter2 http://x", "curl -u joe:# http://x"),
        (
            "see\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nend",
            "see\n#\nend",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb", "#"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\\nabc\\n-----END PGP PRIVATE KEY BLOCK-----", "#"),
        ("PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\nabc", "#"),
    ]);
}

#[test]
fn words_that_nobody_writes() {
    check(&[
        ("3f8a9b2c1d4e5f60718293a4b5c6d7e8", "#"),
        ("/repos/3f8a9b2c1d4e5f60718293a4/files", "/repos/#/files"),
        ("JBSWY3DPEHPK3PXP", "#"),
        ("a Zm9vYmFyQmF6UXV4MTIz here", "a # here"),
        ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "#"),
        ("aB3/dE5fG7hI9jK1lM3nO5/pQ7", "#"),
        ("bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", "bot123456789:#"),
        ("a1b2c3-d4e5f6-g7h8i9-j0k1l2", "#"),
        ("qWeRtYuIoPaSdFgHjKlZxCvB", "#"),
    ]);
}

#[test]
fn secrets_that_are_announced() {
    check(&[
        ("password=hunter2", "password=#"),
        ("user=joe;Password=hunter2;host=x", "user=joe;Password=#;host=x"),
        ("export DB_PASSWORD='a b c' && run", "export DB_PASSWORD='#' && run"),
        ("API-KEY: two words\nnext line", "API-KEY: #\nnext line"),
        ("my api key: hunter2", "my api key: #"),
        ("the password is hunter2, ok", "the password is #, ok"),
        ("deploy --api-key hunter2 --port 80", "deploy --api-key # --port 80"),
        ("deploy --token=hunter2 --port 80", "deploy --token=# --port 80"),
        (
            r#"{"user":"joe","password":"hun\"ter2","n":1}"#,
            r##"{"user":"joe","password":"#","n":1}"##,
        ),
        (r#"{\"password\": \"hunter2\", \"n\": 1}"#, r##"{\"password\": \"#", \"n\": 1}"##),
        (r#"{"credentials": {"a": "b", "c": ["d"]}, "n": 1}"#, r#"{"credentials": #, "n": 1}"#),
        ("CREATE USER joe WITH PASSWORD 'hunter2'", "CREATE USER joe WITH PASSWORD '#'"),
        ("CREATE USER joe IDENTIFIED BY 'hunter2'", "CREATE USER joe IDENTIFIED BY '#'"),
        ("Cookie: a=b; c=d", "Cookie: #"),
        ("authorization=Bearer hunter", "authorization=#"),
        ("Passwort: hunter2", "Passwort: #"),
        ("пароль: hunter2", "пароль: #"),
        ("password=", "password="),
        ("password: [redacted]", "password: #"),
        ("clientSecret => 'x y'", "clientSecret => '#'"),
    ]);
}

#[test]
fn secrets_in_urls() {
    check(&[
        ("postgres://joe:hunter2@db:5432/x", "postgres://joe:#@db:5432/x"),
        ("postgres://joe:h@n/t?r2@db/x here", "postgres://joe:#@db/x here"),
        ("redis://:hunter2@cache", "redis://:#@cache"),
        ("https://abcdefghijklmnop@github.com/x", "https://#@github.com/x"),
        ("postgres://joe:hunter2/x", "postgres://joe:#"),
        (
            "<https://x.example/?page=2&api_key=hunter2&q=a>",
            "<https://x.example/?page=2&api_key=#&q=a>",
        ),
        (
            "https://x.example/cb?code=abc&state=1#access_token=x",
            "https://x.example/cb?code=#&state=1#access_token=#",
        ),
        (
            "https://b.example/o?X-Amz-Signature=abc&X-Amz-Date=1",
            "https://b.example/o?X-Amz-Signature=#&X-Amz-Date=1",
        ),
        ("https://maps.example/?key=abc", "https://maps.example/?key=#"),
    ]);
}

#[test]
fn names_of_secrets_at_any_depth() {
    let redactor = Redactor::default();
    for name in [
        "password",
        "PASSWORD",
        "Api-Key",
        "apiKey",
        "api key",
        "x-api-key",
        "access_token",
        "AccessKeyId",
        "private_key",
        "Authorization",
        "proxy-authorization",
        "Set-Cookie",
        "client_secret",
        "credentials",
        "userAuth",
        "pin",
        "db.passwd",
        "SSH_KEY",
        "passphrase",
        "otp",
        "sessionId",
        "contraseña",
        "密码",
    ] {
        let given = json!({"a": [{ name: "hunter2", "b": 1 }]});
        assert_eq!(redacted(&redactor, &given), json!({"a": [{ name: REDACTED, "b": 1 }]}));
    }
    for name in
        ["key", "keyword", "author", "path", "compass", "spin", "monkey", "id", "sidebar", "text"]
    {
        let given = json!({ name: "hunter2" });
        assert_eq!(redacted(&redactor, &given), given);
    }
}

#[test]
fn values() {
    let redactor = Redactor::default();
    let hidden = REDACTED;
    for (given, shown) in [
        (json!({"token": {"a": 1}}), json!({"token": hidden})),
        (json!({"token": [1, 2]}), json!({"token": hidden})),
        (json!({"pin": 1234}), json!({"pin": hidden})),
        // Nothing, and yes or no, tell nothing.
        (
            json!({"token": null, "secret": true, "password": ""}),
            json!({"token": null, "secret": true, "password": ""}),
        ),
        (
            json!({"name": "Password", "value": "hunter2"}),
            json!({"name": "Password", "value": hidden}),
        ),
        (
            json!([{"key": "X-Api-Key", "value": "a"}, {"key": "Accept", "value": "b"}]),
            json!([{"key": "X-Api-Key", "value": hidden}, {"key": "Accept", "value": "b"}]),
        ),
        (
            json!({"element": "Password field", "ref": "e1", "text": "hunter2"}),
            json!({"element": "Password field", "ref": "e1", "text": hidden}),
        ),
        (
            json!({"op": "add", "path": "/db/password", "value": "x"}),
            json!({"op": "add", "path": "/db/password", "value": hidden}),
        ),
        (json!({"kind": "Secret", "data": {"a": "b"}}), json!({"kind": "Secret", "data": hidden})),
        (json!({"ghp_0123456789abcdefghij": 1}), json!({"[redacted]": 1})),
        (json!("plain"), json!("plain")),
        (
            json!([1, 2.5, -3e10, true, null, "é\n\u{1b}"]),
            json!([1, 2.5, -3e10, true, null, "é\n\u{1b}"]),
        ),
    ] {
        assert_eq!(redacted(&redactor, &given), shown, "{given}");
    }
}

#[test]
fn known_secrets_wherever_they_stand() {
    let long = "correct horse battery ".repeat(100);
    let redactor = known(&["open sesame", "tiny", "123456789", &long, "  padded-secret \n"]);
    for (given, shown) in [
        (json!("say open sesame!"), json!("say [redacted]!")),
        (json!("open sesameopen sesame"), json!(REDACTED)),
        (json!(["OPEN SESAME", "open sesam"]), json!(["OPEN SESAME", "open sesam"])),
        (json!("tiny"), json!("tiny")),
        (json!({"n": 123_456_789, "m": 12_345_678}), json!({"n": REDACTED, "m": 12_345_678})),
        (json!({"open sesame": 1}), json!({"[redacted]": 1})),
        (json!("a padded-secret"), json!("a [redacted]")),
        (
            json!(format!("{}{long}", "ü ".repeat(300))),
            json!(format!("{}[redacted][cut: 1052 bytes]", "ü ".repeat(300))),
        ),
    ] {
        assert_eq!(redacted(&redactor, &given), shown, "{given}");
    }
    assert_eq!(format!("{redactor:?}"), "Redactor { known: Known(4) }");
}

#[test]
fn what_is_long_is_cut_and_says_so() {
    let redactor = Redactor::default();
    let words = "word ".repeat(1000);
    let deep = (0..20).fold(json!(1), |inner, _| json!([inner]));
    let deep_shown = (0..8).fold(json!("[cut: 25 bytes]"), |inner, _| json!([inner]));
    let many: Value = (0..100).map(|n| json!(n)).collect();
    let mut many_shown: Vec<Value> = (0..64).map(|n| json!(n)).collect();
    many_shown.push(json!("[cut: 109 bytes]"));
    for (given, shown) in [
        (json!(words), json!(format!("{}[cut: 3976 bytes]", &words[..1024]))),
        (json!("word ".repeat(200)), json!("word ".repeat(200))),
        (deep, deep_shown),
        (many, json!(many_shown)),
        (json!({ "n".repeat(300): "x" }), json!({"[cut: 300 bytes]": REDACTED})),
    ] {
        assert_eq!(redacted(&redactor, &given), shown, "{given}");
    }
    let huge = "9".repeat(100);
    let json = Json::parse(huge.as_bytes(), &Limits::DEFAULT).unwrap();
    assert_eq!(redactor.json(json).as_json().as_str(), "\"[cut: 100 bytes]\"");
    // A secret across the cut is no less hidden.
    let across = format!("{}ghp_0123456789abcdefghij and on {words}", "word ".repeat(203));
    let shown = redacted(&redactor, &json!(across)).to_string();
    assert!(!shown.contains("ghp") && shown.contains("word [redacted][cut: "), "{shown}");
}

#[test]
fn names_alone() {
    let redactor = known(&["open sesame"]);
    for (given, shown) in [
        ("path", "path"),
        ("include_archived_projects_2024", "include_archived_projects_2024"),
        ("ghp_0123456789abcdefghij", "[redacted]"),
        ("open sesame", "[redacted]"),
    ] {
        assert_eq!(redactor.name(given), shown);
    }
    assert_eq!(redactor.name(&"n".repeat(300)), "[cut: 300 bytes]");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,40}".prop_map(Value::from),
        "[a-z:=/@ '\"{}\\[\\]\\\\?&;-]{0,40}".prop_map(Value::from),
    ];
    let name = prop_oneof!["[a-z]{1,6}", Just("password".to_owned()), Just("name".to_owned())];
    leaf.prop_recursive(10, 200, 80, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..80).prop_map(Value::from),
            prop::collection::hash_map(name.clone(), inner, 0..20)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_comes_a_secret_never_stays_and_the_rest_is_json(
        value in any_json(),
        before in "[\\PC]{0,30}",
        after in "[\\PC]{0,30}",
    ) {
        let secret = "the hub's very own";
        let redactor = known(&[secret]);
        let text = format!("{before}{secret}{after} ghp_0123456789abcdefghij");
        let given = json!({"value": value, "text": text, "list": [text], "password": text});
        let raw = given.to_string();
        let json = Json::parse(raw.as_bytes(), &Limits::DEFAULT).unwrap();
        let shown = redactor.json(json);
        let shown = shown.as_json().as_str();
        prop_assert!(!shown.contains(secret) && !shown.contains("ghp_0"), "{}", shown);
        prop_assert!(serde_json::from_str::<Value>(shown).unwrap().is_object());
        prop_assert!(shown.len() < 16 * 1024);
    }
}
