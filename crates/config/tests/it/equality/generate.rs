//! Servers as people might declare them, and as they hopefully do not.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use switchboard_model::server::KeyPlace;
use switchboard_model::{
    AuditArguments, Auth, HttpKind, HttpSpec, IfMissing, Limits, Part, Pattern, SecretTemplate,
    ServerName, ServerSpec, Start, StdioSpec, Template, Timing, ToolFilter, Transport,
};

/// A set of servers with names of their own.
pub(super) fn servers() -> impl Strategy<Value = Vec<ServerSpec>> {
    vec(server(), 0..6).prop_map(|servers| {
        let by_name: BTreeMap<ServerName, ServerSpec> =
            servers.into_iter().map(|server| (server.name.clone(), server)).collect();
        by_name.into_values().collect()
    })
}

/// Any server that our own file can declare.
pub(super) fn server() -> impl Strategy<Value = ServerSpec> {
    let transport = prop_oneof![
        stdio().prop_map(Transport::Stdio).boxed(),
        http().prop_map(Transport::Http).boxed()
    ];
    (name(), transport, any::<u64>(), details(), timing(), limits(), tools(), secret()).prop_map(
        |(name, transport, choice, (description, category), timing, limits, tools, secret)| {
            let auth = auth(choice, &transport, secret);
            ServerSpec {
                auth,
                enabled: choice % 4 != 0,
                description,
                category,
                timing,
                limits,
                start: if choice % 5 == 0 { Start::Lazy } else { Start::Eager },
                sensitive: choice % 3 == 0,
                audit_arguments: AuditArguments::ALL.get(choice as usize % 11).copied(),
                trust_hints: choice % 7 != 0,
                tools,
                ..ServerSpec::new(name, transport)
            }
        },
    )
}

fn name() -> impl Strategy<Value = ServerName> {
    let nasty = select(vec![
        "a b",
        "ü",
        "数据",
        "null",
        "true",
        "1",
        "1.5",
        "~",
        "a.b",
        "a:b",
        "a#b",
        "\"a\"",
        "'",
        "-",
        "- a",
        "?",
        "@x/y",
        "[x]",
        "{x}",
        "a=b",
        "servers",
        "__proto__",
        "🚀",
        "e\u{301}",
    ])
    .prop_map(str::to_owned);
    prop_oneof![3 => "[a-z][a-z0-9_-]{0,10}".boxed(), 1 => nasty.boxed(), 1 => "\\PC{1,12}".boxed()]
        .prop_filter_map("a name", |text| {
            let special = ["$schema", "switchboard", "<<"].contains(&text.as_str());
            ServerName::parse(&text).ok().filter(|_| !special)
        })
}

/// Any text, quotes, signs and line ends included, but nothing that no program can be given.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9@/._-]{1,10}".boxed(),
        2 => select(vec![
            " ", "$", "${", "$$", "${A}", "${lower}", "{", "}", "{env:A}", "\"", "'", "\\", "#", ": ", "- ",
            "\n", "\t", "ü", "日本", "🚀", "%", "&", "*", "!", "|", "=", ",", "[", "]", "\u{7f}", "\u{85}",
            "\u{a0}", "\u{2028}", "\u{feff}", "--", "---", "~", "://", "null", "yes", "0x1F", "1e3",
        ]).prop_map(str::to_owned).boxed(),
        1 => "\\PC{1,6}".boxed(),
    ];
    vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn template() -> impl Strategy<Value = Template> {
    vec(part(), 0..4).prop_map(joined)
}

fn joined(templates: Vec<Template>) -> Template {
    Template::from_parts(templates.iter().flat_map(|template| template.parts().to_vec()))
}

/// A template of one part.
fn part() -> impl Strategy<Value = Template> {
    let default = text().prop_map(|text| text.replace("${", "").replace('}', "")).boxed();
    let missing = prop_oneof![
        3 => Just(IfMissing::NeedsSetup).boxed(),
        1 => default.prop_map(IfMissing::Use).boxed(),
    ];
    let variable = ("[A-Z_][A-Z0-9_]{0,8}", missing)
        .prop_map(|(name, if_missing)| Template::from_parts([Part::Variable { name, if_missing }]));
    prop_oneof![2 => text().prop_map(Template::literal).boxed(), 1 => variable.boxed()]
}

fn secret() -> impl Strategy<Value = SecretTemplate> {
    one_line().prop_map(SecretTemplate::new)
}

/// A template that can be a header's value.
fn one_line() -> impl Strategy<Value = Template> {
    template().prop_map(|template| {
        let flat = |part: &Part| match part {
            Part::Literal(text) => Part::Literal(text.replace('\n', " ")),
            Part::Variable { name, if_missing: IfMissing::Use(text) } => Part::Variable {
                name: name.clone(),
                if_missing: IfMissing::Use(text.replace('\n', " ")),
            },
            variable => variable.clone(),
        };
        Template::from_parts(template.parts().iter().map(flat))
    })
}

fn some_template() -> impl Strategy<Value = Template> {
    template().prop_filter("something to read", |template| !template.source().trim().is_empty())
}

fn stdio() -> impl Strategy<Value = StdioSpec> {
    let command = prop_oneof![
        3 => select(vec!["npx", "uvx", "/opt/my tools/run", "my tool", "docker"]).prop_map(Template::literal).boxed(),
        1 => some_template().boxed(),
    ];
    let env = btree_map(
        "[A-Z_][A-Z0-9_]{0,8}|[a-zü.-]{1,6}",
        template().prop_map(SecretTemplate::new),
        0..4,
    );
    (command, vec(template(), 0..4), env, option::weighted(0.3, some_template()))
        .prop_map(|(command, args, env, cwd)| StdioSpec { command, args, env, cwd })
}

fn http() -> impl Strategy<Value = HttpSpec> {
    let kind = select(vec![HttpKind::Streamable, HttpKind::Sse]);
    let headers = btree_map("[a-z][a-z0-9-]{0,10}", secret(), 0..3);
    (kind, url(), headers).prop_map(|(kind, url, headers)| HttpSpec { kind, url, headers })
}

fn url() -> impl Strategy<Value = Template> {
    let host = select(vec![
        "https://mcp.example.com",
        "http://localhost:3001",
        "https://[2001:db8::1]:8443",
    ]);
    let path = select(vec!["", "/", "/mcp", "/a b/ü", "/mcp?x=1&y=$2", "/%20#f"]);
    let literal = (host, path).prop_map(|(host, path)| Template::literal(format!("{host}{path}")));
    let mixed = ("[A-Z_][A-Z0-9_]{0,8}", any::<bool>()).prop_map(|(variable, whole)| {
        let variable = Part::variable(variable);
        match whole {
            true => Template::from_parts([variable, Part::Literal("/mcp".into())]),
            false => Template::from_parts([Part::Literal("https://example.com/".into()), variable]),
        }
    });
    prop_oneof![2 => literal.boxed(), 1 => mixed.boxed()]
}

fn details() -> impl Strategy<Value = (Option<String>, Option<String>)> {
    let some = || option::of(text().prop_filter("some text", |text| !text.is_empty()));
    (some(), some())
}

fn duration() -> impl Strategy<Value = Duration> {
    (1..=3_600_000_u64).prop_map(Duration::from_millis)
}

fn timing() -> impl Strategy<Value = Timing> {
    let rare = || option::weighted(0.2, duration());
    (rare(), rare(), rare(), rare(), rare(), rare()).prop_map(
        |(connect, call, more, health_interval, stop_grace, idle)| {
            let usual = Timing::default();
            let call = call.unwrap_or(usual.call);
            Timing {
                connect: connect.unwrap_or(usual.connect),
                call,
                call_total: more.map_or(usual.call_total.max(call), |more| call + more),
                health_interval: health_interval.unwrap_or(usual.health_interval),
                stop_grace: stop_grace.unwrap_or(usual.stop_grace),
                idle,
            }
        },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    let usual = Limits::default();
    prop_oneof![
        3 => Just(usual).boxed(),
        1 => (1..=u32::MAX, any::<u32>(), any::<u32>())
            .prop_map(|(max_in_flight, output, log)| Limits {
                max_in_flight,
                max_output: output.into(),
                log_buffer: log.into(),
            })
            .boxed(),
    ]
}

fn tools() -> impl Strategy<Value = ToolFilter> {
    let pattern = select(vec!["read_*", "delete_repo", "get?", "[ab]*", "list issues", "ü"])
        .prop_filter_map("a glob", |glob| Pattern::parse(glob).ok());
    (vec(pattern.clone(), 0..2), vec(pattern, 0..2))
        .prop_map(|(allow, deny)| ToolFilter { allow, deny })
}

/// Some way to authenticate that goes with the transport.
fn auth(choice: u64, transport: &Transport, secret: SecretTemplate) -> Auth {
    let key = choice.is_multiple_of(2).then_some(secret);
    match (choice % 11, transport) {
        (1, Transport::Http(_)) => Auth::Bearer { token: key },
        (2, Transport::Http(_)) => {
            Auth::ApiKey { place: KeyPlace::Header("x-api-key".into()), key }
        }
        (3, Transport::Http(_)) => Auth::OAuth {
            scopes: vec!["read".into(), "write:all".into()],
            client_id: Some("client".into()),
            client_secret: key,
        },
        (1..4, Transport::Stdio(_)) => {
            Auth::ApiKey { place: KeyPlace::Variable("API_KEY".into()), key }
        }
        _ => Auth::None,
    }
}
