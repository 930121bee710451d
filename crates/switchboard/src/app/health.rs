//! The health page: that the hub is there and how many servers are declared and connected. It needs no
//! credential, so it says nothing more.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use switchboard_rest::port::{self, Declared};
use switchboard_upstream::Upstreams;

#[derive(Clone)]
struct Now {
    declarations: Arc<dyn port::Hub>,
    upstreams: Upstreams,
}

pub(super) fn router(declarations: Arc<dyn port::Hub>, upstreams: Upstreams) -> Router {
    let now = Now { declarations, upstreams };
    Router::new().route("/", get(page)).with_state(now)
}

async fn page(State(now): State<Now>) -> Response {
    let declared = now.declarations.declared();
    let running = now.upstreams.status();
    let connected = running.iter().filter(|status| status.state.is_connected()).count();
    let mut response = Html(render(&declared, connected)).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn render(declared: &Declared, connected: usize) -> String {
    let servers = &declared.desired.servers;
    let errors = declared.problems.iter().filter(|problem| problem.is_error()).count();
    let warnings = declared.problems.len() - errors;
    let (class, word) = match errors {
        0 => ("good", "Running"),
        _ => ("bad", "Running, with errors in the configuration"),
    };
    let advice = match (servers.len(), errors + warnings) {
        (0, 0) => {
            "Nothing is declared yet. Add a server with <code>switchboard add</code>, or bring yours with <code>switchboard import</code>."
        }
        (_, 0) => "The configuration has no problems.",
        (_, _) => "Run <code>switchboard check</code> to see what is wrong and how to mend it.",
    };
    PAGE.replace("{{class}}", class)
        .replace("{{word}}", word)
        .replace("{{advice}}", advice)
        .replace("{{version}}", env!("CARGO_PKG_VERSION"))
        .replace("{{servers}}", &servers.len().to_string())
        .replace("{{connected}}", &connected.to_string())
        .replace("{{agents}}", &declared.desired.agents.len().to_string())
        .replace("{{errors}}", &errors.to_string())
        .replace("{{warnings}}", &warnings.to_string())
}

const PAGE: &str = include_str!("health.html");
