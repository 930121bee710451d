//! Where spans go, by what is declared and what the environment says. Never connects anywhere.

use switchboard_model::{HubSpec, Secret};

/// A variable's value.
type Lookup<'l> = &'l dyn Fn(&str) -> Option<Secret>;

/// The path that OTLP has for spans.
const PATH: &str = "/v1/traces";

/// A collector that takes OTLP over HTTP.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where it takes spans.
    pub url: Secret,
    /// What every request carries, as a rule a key.
    pub headers: Vec<(String, Secret)>,
    /// What the hub is called there.
    pub service: String,
}

impl Target {
    /// The collector that the file names, else the one that OpenTelemetry's variables name.
    /// Nothing where neither does. What cannot be used is told, and then there are no traces: a
    /// hub does without them.
    pub fn find(spec: &HubSpec, env: Lookup<'_>) -> Result<Option<Self>, String> {
        let env = |name: &str| env(name).filter(|value| !value.expose().trim().is_empty());
        let word = |name: &str| env(name).map(|value| value.expose().trim().to_lowercase());
        if word("OTEL_SDK_DISABLED").as_deref() == Some("true") {
            return Ok(None);
        }
        let Some(url) = url(spec, &env)? else { return Ok(None) };
        let headers = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
        let headers = match headers.into_iter().find_map(env) {
            Some(text) => headers_of(text.expose())?,
            None => Vec::new(),
        };
        let service = env("OTEL_SERVICE_NAME").map(|name| name.expose().trim().to_owned());
        Ok(Some(Self {
            url,
            headers,
            service: service.unwrap_or_else(|| "switchboard".to_owned()),
        }))
    }
}

fn url(spec: &HubSpec, env: Lookup<'_>) -> Result<Option<Secret>, String> {
    if let Some(declared) = &spec.traces {
        let mut missing = Vec::new();
        let mut note = |name: &str, _: &_| missing.push(name.to_owned());
        let base = declared.expose().resolve(env, &mut note);
        return match missing.is_empty() {
            true => checked(&with_path(base.expose())).map(Some),
            false => Err(format!("`hub.traces` needs {}, which is not set", missing.join(", "))),
        };
    }
    if env("OTEL_TRACES_EXPORTER").is_some_and(|kind| kind.expose().trim() == "none") {
        return Ok(None);
    }
    // By OpenTelemetry's rules the one for traces is taken as it is, the other as a base.
    if let Some(whole) = env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
        return checked(whole.expose().trim()).map(Some);
    }
    let base = env("OTEL_EXPORTER_OTLP_ENDPOINT");
    base.map(|base| checked(&with_path(base.expose().trim()))).transpose()
}

fn with_path(base: &str) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") }
}

/// The text itself may hold a password.
fn checked(url: &str) -> Result<Secret, String> {
    match url.parse::<axum::http::Uri>() {
        Ok(uri) if matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() => {
            Ok(Secret::new(url))
        }
        _ => Err("the address for traces is not an http or https URL".to_owned()),
    }
}

/// `key=value,key=value`, with values percent-encoded.
fn headers_of(text: &str) -> Result<Vec<(String, Secret)>, String> {
    let bad = || "OTEL_EXPORTER_OTLP_HEADERS is not `name=value,name=value`".to_owned();
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim().to_lowercase(), decoded(value.trim())?);
        let parsed = axum::http::HeaderName::from_bytes(name.as_bytes());
        let is_good = parsed.is_ok() && axum::http::HeaderValue::from_str(&value).is_ok();
        is_good.then(|| (name, Secret::new(value)))
    };
    pairs.map(|text| pair(text).ok_or_else(bad)).collect()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = rest.get(2..)?;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use switchboard_model::{SecretTemplate, Template};

    use super::*;

    fn find(declared: Option<&str>, variables: &[(&str, &str)]) -> Result<Option<Target>, String> {
        let template = |text: &str| SecretTemplate::new(Template::literal(text.to_owned()));
        let spec = HubSpec { traces: declared.map(template), ..HubSpec::default() };
        let env = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| Secret::new(*value))
        };
        Target::find(&spec, &env)
    }

    #[test]
    fn the_file_comes_before_the_variables_and_these_are_read_by_their_rules() {
        let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://base:4318/");
        let whole = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://whole:4318/spans");
        let cases = [
            (None, vec![], None),
            (None, vec![("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], None),
            (None, vec![base], Some("http://base:4318/v1/traces")),
            (None, vec![base, whole], Some("http://whole:4318/spans")),
            (None, vec![base, ("OTEL_SDK_DISABLED", "True")], None),
            (None, vec![base, ("OTEL_TRACES_EXPORTER", "none")], None),
            (Some("https://file"), vec![base], Some("https://file/v1/traces")),
            (Some("https://file/v1/traces/"), vec![base], Some("https://file/v1/traces")),
        ];
        for (declared, variables, expected) in cases {
            let found = find(declared, &variables).unwrap();
            assert_eq!(found.as_ref().map(|t| t.url.expose()), expected, "{variables:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_told_without_showing_it() {
        for (name, value) in [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "canary:4317"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:/canary"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "canary"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x=canary%0a"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x=%zzcanary"),
        ] {
            let error = find(Some("http://a"), &[(name, value)])
                .and_then(|_| find(None, &[(name, value)]))
                .unwrap_err();
            assert!(!error.contains("canary"), "{error}");
        }
    }

    #[test]
    fn headers_and_the_name_of_the_service_are_taken_along() {
        let variables = [
            ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc%3D, x-team = a=b"),
            ("OTEL_SERVICE_NAME", "hub-7"),
        ];
        let found = find(Some("http://a"), &variables).unwrap().unwrap();
        let headers: Vec<(&str, &str)> =
            found.headers.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
        assert_eq!(headers, [("authorization", "Basic abc="), ("x-team", "a=b")]);
        assert_eq!(found.service, "hub-7");
    }
}
