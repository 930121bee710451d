//! Declarations: nothing is lost on the way, and nothing secret stands in the clear part.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_model::server::KeyPlace;
use switchboard_model::{
    AuditArguments, Auth, HttpKind, HttpSpec, IfMissing, Part, Pattern, SecretTemplate, ServerName,
    ServerSpec, Start, StdioSpec, Template, Transport,
};

use super::spec::{self, Parts, command_hash};

const CANARY: &str = "canary-7f3a9b2c5d8e1f4a";

fn secret() -> SecretTemplate {
    SecretTemplate::new(Template::literal(CANARY))
}

fn stdio(args: Vec<Template>) -> ServerSpec {
    let transport = Transport::Stdio(StdioSpec {
        command: Template::literal("npx"),
        args,
        env: BTreeMap::from([
            ("TOKEN".to_owned(), secret()),
            ("NAME".to_owned(), SecretTemplate::new(Template::parse("${NAME}").unwrap())),
            (
                "FALLBACK".to_owned(),
                SecretTemplate::new(Template::parse(&format!("${{X:-{CANARY}}}")).unwrap()),
            ),
        ]),
        cwd: Some(Template::parse("${HOME}/work").unwrap()),
    });
    ServerSpec::new(ServerName::parse("one").unwrap(), transport)
}

fn http(url: &str, auth: Auth) -> ServerSpec {
    let headers = BTreeMap::from([("authorization".to_owned(), secret())]);
    let url = Template::parse(url).unwrap();
    let transport = Transport::Http(HttpSpec { kind: HttpKind::Sse, url, headers });
    ServerSpec { auth, ..ServerSpec::new(ServerName::parse("one").unwrap(), transport) }
}

fn specs() -> Vec<ServerSpec> {
    let skipped = Part::Variable { name: "S".to_owned(), if_missing: IfMissing::Skip };
    let mut full = stdio(vec![Template::literal("-y"), Template::from_parts([skipped])]);
    full.timing.idle = Some(Duration::from_millis(1_500));
    full.limits.max_in_flight = 3;
    full.start = Start::Lazy;
    full.enabled = false;
    full.sensitive = true;
    full.audit_arguments = Some(AuditArguments::Values);
    full.trust_hints = false;
    full.description = Some("said `${HOME}`".to_owned());
    full.category = Some("tools".to_owned());
    full.tools.allow = vec![Pattern::parse("read_*").unwrap()];
    full.tools.deny = vec![Pattern::parse("delete_*").unwrap()];
    let key = |place| Auth::ApiKey { place, key: Some(secret()) };
    let oauth = Auth::OAuth {
        scopes: vec!["read".to_owned()],
        client_id: Some("id".to_owned()),
        client_secret: Some(secret()),
    };
    vec![
        full,
        stdio(vec![Template::literal("--api-key"), Template::literal(CANARY)]),
        stdio(vec![Template::literal(format!("--token={CANARY}"))]),
        stdio(vec![Template::literal(format!("https://a:{CANARY}@example.com"))]),
        http("https://example.com/mcp", Auth::Bearer { token: Some(secret()) }),
        http(&format!("https://example.com/mcp?key={CANARY}"), Auth::Bearer { token: None }),
        http("https://example.com/${PATH}", key(KeyPlace::Header("x-key".to_owned()))),
        http("https://example.com/", key(KeyPlace::Variable("KEY".to_owned()))),
        http("https://example.com/", oauth),
    ]
}

#[test]
fn a_declaration_comes_back_as_it_went_and_its_clear_part_holds_no_secret() {
    for spec in specs() {
        let parts = Parts::of(&spec);
        assert!(!parts.declaration().contains(CANARY), "{}", parts.declaration());
        let secrets = parts.secrets();
        let secrets = secrets.as_ref().map(|secrets| secrets.as_bytes());
        let read = spec::read(&spec.name, parts.declaration(), secrets).unwrap();
        assert_eq!(read, spec);
    }
}

#[test]
fn a_declaration_without_its_secrets_is_refused() {
    let spec = stdio(Vec::new());
    let error = spec::read(&spec.name, Parts::of(&spec).declaration(), None).unwrap_err();
    assert!(error.to_string().contains("not sealed"), "{error}");
}

#[test]
fn what_an_administrator_approves_is_the_whole_command_line() {
    let word = Template::literal;
    let base = stdio(vec![word("a"), word("b")]);
    let Transport::Stdio(line) = base.transport.clone() else { panic!("it is a command") };
    let edits: Vec<StdioSpec> = vec![
        StdioSpec { command: word("node"), ..line.clone() },
        StdioSpec { args: vec![word("a b")], ..line.clone() },
        StdioSpec { args: vec![word("b"), word("a")], ..line.clone() },
        StdioSpec { args: vec![word("a"), word("b"), word("")], ..line.clone() },
        StdioSpec { cwd: None, ..line.clone() },
        StdioSpec { env: BTreeMap::new(), ..line.clone() },
    ];
    for edit in edits {
        let edited = ServerSpec { transport: Transport::Stdio(edit), ..base.clone() };
        assert_ne!(command_hash(&edited), command_hash(&base), "{edited:?}");
    }
    let with = |name: &str, value: &str| {
        let mut line = line.clone();
        line.env.insert(name.to_owned(), SecretTemplate::new(Template::literal(value)));
        ServerSpec { transport: Transport::Stdio(line), ..base.clone() }
    };
    // A key may be another one; what decides which code runs may not.
    assert_eq!(command_hash(&with("TOKEN", "other")), command_hash(&base));
    for name in ["PATH", "NODE_OPTIONS", "LD_PRELOAD"] {
        assert_ne!(command_hash(&with(name, "a")), command_hash(&with(name, "b")), "{name}");
    }
    let keyed = |name: &str, key: Option<SecretTemplate>| ServerSpec {
        auth: Auth::ApiKey { place: KeyPlace::Variable(name.to_owned()), key },
        ..base.clone()
    };
    let hashes = [&base, &keyed("A", None), &keyed("B", None)].map(command_hash);
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2], "the variable that takes the key");
    assert_eq!(command_hash(&keyed("A", Some(secret()))), hashes[1]);
    let described = ServerSpec { description: Some("other".to_owned()), ..base.clone() };
    assert_eq!(command_hash(&described), command_hash(&base));
}
