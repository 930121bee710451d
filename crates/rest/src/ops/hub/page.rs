//! The description of everything here, for people: one page made from the OpenAPI document, with
//! nothing from elsewhere on it.

use std::fmt::Write as _;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// Nothing runs on it, and nothing but its style is fetched.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Shows the API to people
#[utoipa::path(
    get,
    path = "/api",
    tag = "hub",
    security(()),
    responses((status = 200, body = String, content_type = "text/html"))
)]
pub(super) async fn page() -> Response {
    let document = serde_json::from_str(crate::api::document()).unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, html(&document)).into_response()
}

fn html(document: &Value) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Switchboard's API</title>\n\
         <link rel=\"stylesheet\" href=\"/api/style.css\">\n<h1>Switchboard's API</h1>\n\
         <p>Send <code>Authorization: Bearer …</code> with a token. The same as \
         <a href=\"/api/v1/openapi.json\">OpenAPI document</a>.</p>\n",
    );
    for (tag, operations) in by_tag(document) {
        let _ = writeln!(page, "<h2>{}</h2>", escape(&tag));
        operations.iter().for_each(|(method, path, operation)| {
            write_operation(&mut page, method, path, operation);
        });
    }
    page.push_str("</html>\n");
    page
}

type Operation<'d> = (String, &'d str, &'d Value);

/// The operations of each tag, in the order of the document.
fn by_tag(document: &Value) -> Vec<(String, Vec<Operation<'_>>)> {
    let mut tags: Vec<(String, Vec<Operation<'_>>)> = Vec::new();
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, item) in paths {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let tag = operation["tags"][0].as_str().unwrap_or("other");
            let operation = (method.to_uppercase(), path.as_str(), operation);
            match tags.iter_mut().find(|(known, _)| known == tag) {
                Some((_, operations)) => operations.push(operation),
                None => tags.push((tag.to_owned(), vec![operation])),
            }
        }
    }
    tags
}

fn write_operation(page: &mut String, method: &str, path: &str, operation: &Value) {
    let summary = operation["summary"].as_str().unwrap_or_default();
    let _ = writeln!(
        page,
        "<details><summary><b>{}</b> <code>{}</code> {}</summary>",
        escape(method),
        escape(path),
        escape(summary)
    );
    if let Some(text) = operation["description"].as_str() {
        let _ = writeln!(page, "<p>{}</p>", escape(text));
    }
    page.push_str("<table>\n");
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        row(page, name, parameter["description"].as_str().unwrap_or_default());
    }
    if let Some(schema) = operation.pointer("/requestBody/content/application~1json/schema/$ref") {
        row(page, "body", schema.as_str().unwrap_or_default());
    }
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        row(page, status, response["description"].as_str().unwrap_or_default());
    }
    page.push_str("</table></details>\n");
}

fn row(page: &mut String, name: &str, text: &str) {
    let text = text.strip_prefix("#/components/schemas/").unwrap_or(text);
    let _ = writeln!(page, "<tr><td><code>{}</code><td>{}", escape(name), escape(text));
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
