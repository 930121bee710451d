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

#[test]
fn what_must_not_be_repeated() {
    let stdio = |args: &[&str], env: &[(&str, &str)]| {
        let env = env.iter().map(|(k, v)| ((*k).to_owned(), SecretTemplate::new(template(v))));
        let args = args.iter().map(|word| template(word)).collect();
        let stdio = StdioSpec { command: template("srv"), args, env: env.collect(), cwd: None };
        ServerSpec::new(ServerName::parse("s").unwrap(), Transport::Stdio(stdio))
    };
    let hidden = |spec: ServerSpec, text: &str| {
        spec.resolve(&env).unwrap().concealed().hide(text).into_owned()
    };
    let text = "canary-token hunter22 srv verbatim";
    assert_eq!(hidden(stdio(&[], &[("KEY", "hunter22")]), text), "canary-token *** srv verbatim");
    assert_eq!(hidden(stdio(&["a-${TOKEN}"], &[]), text), "*** hunter22 srv verbatim");
    assert_eq!(
        hidden(stdio(&["--api-key", "hunter22"], &[]), text),
        "canary-token *** srv verbatim"
    );
    assert_eq!(
        hidden(stdio(&["--token=hunter22", "verbatim"], &[]), text),
        "canary-token *** srv verbatim"
    );
    let mut spec = http(&[("x-key", "${TOKEN}")], Auth::None);
    assert_eq!(hidden(spec.clone(), text), "*** hunter22 srv verbatim");
    let Transport::Http(http) = &mut spec.transport else { panic!() };
    http.url = template("https://u:hunter22@h/mcp?k=verbatim");
    assert_eq!(hidden(spec, text), "*** *** srv ***");
}
