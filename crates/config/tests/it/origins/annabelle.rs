//! Annabelle's `external-mcps.json`.

use std::time::Duration;

use switchboard_config::Dialect;
use switchboard_model::{ResolvedTransport, ServerSpec};

use crate::support::{environment, read, read_fixture, stdio, with};

/// A missing variable is the empty text, so each is written with an empty default here.
fn posthog(env: &[(&str, &str)]) -> ServerSpec {
    with(stdio("posthog", "npx", &["-y", "@anthropic/posthog-mcp"]), env)
}

#[test]
fn the_entry() {
    let read = read_fixture("origins/annabelle/posthog/external-mcps.json");
    assert_eq!(read.dialects, [Some(Dialect::Annabelle)]);
    let mut expected = posthog(&[
        ("POSTHOG_HOST", "https://us.posthog.com"),
        ("POSTHOG_API_KEY", "${POSTHOG_API_KEY:-}"),
    ]);
    expected.timing.connect = Duration::from_millis(15_000);
    expected.description = Some("Product analytics and feature flags".to_owned());
    assert_eq!(read.servers(), [expected]);
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn the_environment() {
    let read = read_fixture("origins/annabelle/resolution/external-mcps.json");
    let spec = read.server("posthog");
    let expected = with(
        stdio("posthog", "npx", &[]),
        &[
            ("API_KEY", "${POSTHOG_API_KEY:-}"),
            ("STATIC", "no-substitution"),
            ("MIXED", "prefix-${POSTHOG_API_KEY:-}-suffix"),
        ],
    );
    assert_eq!(*spec, expected);
    let values = |pairs: &[(&str, &str)]| -> Vec<String> {
        let resolved = spec.resolve(&environment(pairs)).unwrap();
        let ResolvedTransport::Stdio { env, .. } = resolved.transport else { panic!("a command") };
        env.iter().map(|(name, value)| format!("{name}={}", value.expose())).collect()
    };
    assert_eq!(
        values(&[("POSTHOG_API_KEY", "phx")]),
        ["API_KEY=phx", "MIXED=prefix-phx-suffix", "STATIC=no-substitution"]
    );
    assert_eq!(values(&[]), ["API_KEY=", "MIXED=prefix--suffix", "STATIC=no-substitution"]);
}

#[test]
fn the_tokens() {
    let read = read_fixture("origins/annabelle/tokens/external-mcps.json");
    let mut github = with(
        stdio("github", "npx", &["-y", "github-mcp"]),
        &[("GITHUB_TOKEN", "${GITHUB_TOKEN:-}")],
    );
    github.sensitive = true;
    let neon =
        with(stdio("neon", "npx", &["-y", "neon-mcp"]), &[("NEON_API_KEY", "${NEON_API_KEY:-}")]);
    let posthog = posthog(&[("POSTHOG_PERSONAL_API_KEY", "${POSTHOG_PERSONAL_API_KEY:-}")]);
    let mut vercel = with(
        stdio("vercel", "npx", &["-y", "vercel-mcp"]),
        &[("VERCEL_API_TOKEN", "${VERCEL_API_TOKEN:-}")],
    );
    vercel.description = Some("Vercel project management and deployments".to_owned());
    assert_eq!(read.servers(), [github, neon, posthog, vercel]);
    assert_eq!(read.codes(), [""; 0]);
}

#[test]
fn only_upper_snake_case_is_a_variable() {
    let cases = [
        ("${UPPER_SNAKE_1}", "${UPPER_SNAKE_1:-}"),
        ("${lower}", "$${lower}"),
        ("${Mixed}", "$${Mixed}"),
        ("${UPPER:-default}", "$${UPPER:-default}"),
        ("${1ST}", "$${1ST}"),
        ("${}", "$${}"),
        ("$UPPER", "$UPPER"),
    ];
    for (written, native) in cases {
        let text = format!(r#"{{"a": {{"command": "x", "env": {{"V": "{written}"}}}}}}"#);
        let read = read(&[("external-mcps.json", &text)]);
        assert_eq!(read.servers(), [with(stdio("a", "x", &[]), &[("V", native)])], "{written}");
        assert_eq!(read.codes(), [""; 0], "{written}");
    }
}

#[test]
fn required_is_told_and_ignored() {
    let text = r#"{"a": {"command": "x", "required": true, "timeout": 2500}}"#;
    let read = read(&[("external-mcps.json", text)]);
    let mut expected = stdio("a", "x", &[]);
    expected.timing.connect = Duration::from_millis(2_500);
    assert_eq!(read.servers(), [expected]);
    assert_eq!(read.codes(), ["warning ignored-key"]);
}
