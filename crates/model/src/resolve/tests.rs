//! Values, missing variables, keys in their places, and nothing of it in `Debug`.

use std::collections::BTreeMap;

use super::*;
use crate::name::ServerName;
use crate::server::{HttpSpec, StdioSpec};

fn env(name: &str) -> Option<Secret> {
    [("TOKEN", "canary-token"), ("SCHEMED", "Bearer canary-token"), ("EMPTY", "")]
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| Secret::new(*value))
}

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn http(headers: &[(&str, &str)], auth: Auth) -> ServerSpec {
    let headers: BTreeMap<_, _> =
        headers.iter().map(|(k, v)| ((*k).to_owned(), SecretTemplate::new(template(v)))).collect();
    let url = template("https://example.com/${PATH_PART:-mcp}");
    let transport = Transport::Http(HttpSpec { kind: HttpKind::Streamable, url, headers });
    ServerSpec { auth, ..ServerSpec::new(ServerName::parse("s").unwrap(), transport) }
}

fn check(spec: &ServerSpec, expected: &[(&str, &str)]) {
    let resolved = spec.resolve(&env).unwrap();
    assert!(!format!("{resolved:?} {spec:?}").contains("canary"), "nothing secret in Debug");
    let ResolvedTransport::Http { headers, url, .. } = resolved.transport else { panic!() };
    assert_eq!(url.expose(), "https://example.com/mcp");
    let headers: Vec<_> = headers.iter().map(|(k, v)| (k.as_str(), v.expose())).collect();
    assert_eq!(headers, expected);
}

#[test]
fn headers_and_keys() {
    let token = |text: &str| Some(SecretTemplate::new(template(text)));
    let good = [("authorization", "Bearer canary-token")];
    check(&http(&[("authorization", "Bearer ${TOKEN}")], Auth::None), &good);
    check(&http(&[], Auth::Bearer { token: token("${TOKEN}") }), &good);
    check(&http(&[], Auth::Bearer { token: token("${SCHEMED}") }), &good);
    check(&http(&[("authorization", "old")], Auth::Bearer { token: token("${TOKEN}") }), &good);
    check(&http(&[], Auth::Bearer { token: None }), &[]);
    let place = KeyPlace::Header("x-key".into());
    check(&http(&[], Auth::ApiKey { place, key: token("${TOKEN}") }), &[("x-key", "canary-token")]);
}

#[test]
fn all_missing_variables_at_once() {
    let stdio = StdioSpec {
        command: template("${A}"),
        args: vec![template("${B}${A}"), template("${TOKEN}")],
        env: BTreeMap::from([("K".into(), SecretTemplate::new(template("${EMPTY}")))]),
        cwd: Some(template("${C:-/tmp}")),
    };
    let spec = ServerSpec::new(ServerName::parse("s").unwrap(), Transport::Stdio(stdio));
    let error = spec.resolve(&env).unwrap_err();
    assert_eq!(
        error,
        Unresolved { variables: vec!["A".into(), "B".into(), "EMPTY".into()], skip: false }
    );
    assert_eq!(error.to_string(), "not set: A, B, EMPTY");
}
