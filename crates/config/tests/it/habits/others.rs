//! Codex, opencode and Cline.

use switchboard_config::Dialect::{Codex, McpServers, OpenCode};
use switchboard_model::HttpKind::{Sse, Streamable};
use switchboard_model::{Auth, SecretTemplate, ServerSpec, Transport};

use super::{calling, check, connecting, disabled, offering};
use crate::support::{http, stdio, template, with};

fn secret(text: &str) -> Option<SecretTemplate> {
    Some(SecretTemplate::new(template(text)))
}

fn running_in(mut spec: ServerSpec, cwd: &str) -> ServerSpec {
    if let Transport::Stdio(stdio) = &mut spec.transport {
        stdio.cwd = Some(template(cwd));
    }
    spec
}

#[test]
fn codex() {
    let context7 = with(
        stdio("context7", "npx", &["-y", "@upstash/context7-mcp"]),
        &[
            ("MODE", "fast"),
            ("LOCAL_TOKEN", "${LOCAL_TOKEN:-}"),
            ("REMOTE_TOKEN", "${REMOTE_TOKEN:-}"),
        ],
    );
    let context7 = connecting(calling(running_in(context7, "/Users/me/code"), 45.5), 20_000);
    let figma = with(
        http("figma", Streamable, "https://mcp.figma.com/mcp"),
        &[("x-figma-region", "us-east-1"), ("x-team", "${FIGMA_TEAM}")],
    );
    let auth = Auth::Bearer { token: secret("${FIGMA_OAUTH_TOKEN}") };
    check(
        "codex/config.toml",
        Codex,
        vec![
            offering(context7, &["open", "screenshot"], &["screenshot"]),
            disabled(ServerSpec { auth, ..figma }),
            connecting(stdio("legacy", "legacy", &[]), 5_000),
        ],
        &["warning ignored-key"],
    );
}

#[test]
fn opencode() {
    let everything = with(
        stdio("everything", "npx", &["-y", "@modelcontextprotocol/server-everything"]),
        &[("MY_ENV_VAR", "${MY_VALUE}"), ("PLAIN", "x")],
    );
    let sentry = with(
        http("sentry", Streamable, "https://mcp.sentry.dev/mcp"),
        &[("authorization", "Bearer ${SENTRY_TOKEN}")],
    );
    let auth = Auth::OAuth {
        scopes: vec!["tools:read".into(), "tools:execute".into()],
        client_id: Some("{env:ID}".into()),
        client_secret: secret("${SECRET}"),
    };
    check(
        "opencode/opencode.jsonc",
        OpenCode,
        vec![
            connecting(everything, 10_000),
            disabled(ServerSpec { auth, ..sentry }),
            stdio("spaced", "/opt/My Tools/run", &[]),
        ],
        &["warning unsupported"],
    );
    let everything = calling(stdio("everything", "npx", &["everything"]), 90.0);
    check(
        "opencode/newer/opencode.json",
        OpenCode,
        vec![
            disabled(connecting(everything, 5_000)),
            http("sentry", Streamable, "https://mcp.sentry.dev/mcp"),
        ],
        &[],
    );
}

#[test]
fn cline() {
    let local = with(stdio("local", "node", &["/path/to/server.js"]), &[("API_KEY", "${API_KEY}")]);
    let bare = with(
        http("bare", Sse, "https://example.com/mcp-endpoint"),
        &[("authorization", "Bearer your-token")],
    );
    check(
        "cline/cline_mcp_settings.json",
        McpServers,
        vec![
            calling(local, 120.0),
            disabled(bare),
            http("typed", Streamable, "https://example.com/mcp"),
            stdio("nested", "npx", &["x"]),
            http("legacy", Streamable, "https://example.com/legacy"),
        ],
        &[],
    );
}
