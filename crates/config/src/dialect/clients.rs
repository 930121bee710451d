//! What the clients' files have in common, and the shapes that are not an `mcpServers` map.

pub(crate) mod codex;
pub(crate) mod continue_dev;
pub(crate) mod goose;
pub(crate) mod opencode;
pub(crate) mod own;
pub(crate) mod vscode;
pub(crate) mod zed;

use std::path::Path;

use switchboard_model::{Auth, Code, Pattern, SecretTemplate};

use crate::decode::{Fields, Report, Spanned, Text, Unit, Unknown};
use crate::draft::{self, Draft};
use crate::expand::Notation;
use crate::syntax::{Node, Value};

/// Whether a map under `servers` is VS Code's rather than ours: by the file's name and by `type`,
/// which ours does not have. Its older settings have the same under `mcp`, as opencode may.
pub(super) fn is_vscode(path: &Path, root: &Node) -> bool {
    let typed = |servers: &Node, words: &[&str]| {
        let word = |entry: &Node| entry.get("type").and_then(Node::as_str).map(str::to_owned);
        let mut words_of = servers.fields().iter().filter_map(|field| word(&field.value));
        words_of.any(|word| words.contains(&word.as_str()))
    };
    let words = ["stdio", "http", "sse"];
    if let Some(mcp) = root.get("mcp").filter(|mcp| mcp.get("servers").is_some()) {
        let of_opencode = mcp.get("servers").is_some_and(|s| typed(s, &["local", "remote"]));
        return !of_opencode && (mcp.get("inputs").is_some() || root.get("inputs").is_some())
            || mcp.get("servers").is_some_and(|servers| typed(servers, &words));
    }
    let Some(servers) = root.get("servers").filter(|servers| servers.is_map()) else {
        return false;
    };
    let named = path.file_name().is_some_and(|name| name == "mcp.json");
    root.get("inputs").is_some() || named || typed(servers, &words)
}

/// `enabled` and `disabled`.
pub(super) fn switches(fields: &mut Fields<'_>, draft: &mut Draft, report: &mut Report) {
    let enabled = fields.flag("enabled", report).is_none_or(|flag| flag.value);
    let disabled = fields.flag("disabled", report).is_some_and(|flag| flag.value);
    draft.enabled = enabled && !disabled;
}

/// A client's `timeout`, which is that of a call.
pub(super) fn call_timeout(
    fields: &mut Fields<'_>,
    key: &'static str,
    unit: Unit,
    draft: &mut Draft,
    report: &mut Report,
) {
    if let Some(timeout) = fields.duration(key, unit, report) {
        draft.timing.call = timeout;
        draft.timing.call_total = draft.timing.call_total.max(timeout);
    }
}

/// The tools that a client lets through and those it does not.
pub(super) fn filters(fields: &mut Fields<'_>, draft: &mut Draft, report: &mut Report) {
    for key in ["tools", "includeTools", "enabledTools", "enabled_tools", "available_tools"] {
        let given = patterns(fields, key, report);
        // An empty list is none of the tools; only goose means all of them.
        if given.as_ref().is_some_and(Vec::is_empty) && key != "available_tools" {
            draft.tools.deny.extend(Pattern::parse("*"));
        }
        draft.tools.allow.extend(given.unwrap_or_default());
    }
    for key in ["excludeTools", "disabledTools", "disabled_tools"] {
        draft.tools.deny.extend(patterns(fields, key, report).unwrap_or_default());
    }
    if draft.tools.allow.iter().any(|pattern| pattern.as_str() == "*") {
        draft.tools.allow.clear();
    }
}

fn patterns(
    fields: &mut Fields<'_>,
    key: &'static str,
    report: &mut Report,
) -> Option<Vec<Pattern>> {
    // Codex has a table of approvals under `tools`, which is not a filter.
    let node = &fields.take(key)?.value;
    let Value::List(items) = &node.value else { return None };
    let names = items.iter().filter_map(|item| crate::decode::text(item, key, report));
    // Gemini may name arguments in parentheses.
    let names: Vec<Text> =
        names.map(|t| t.map(|t| t.split('(').next().unwrap_or_default().to_owned())).collect();
    Some(names.iter().filter_map(|text| super::native::pattern(text, report)).collect())
}

/// `oauth: { clientId, clientSecret, scopes }`, in every spelling; Cursor's is `auth`.
pub(super) fn oauth(
    fields: &mut Fields<'_>,
    notation: &Notation,
    report: &mut Report,
) -> Option<Spanned<Auth>> {
    fields.skip(&["oauthClientId", "oauthClient", "oauth_resource"]);
    let given = [fields.take("oauth"), fields.take("auth")];
    let field = given.into_iter().flatten().find(|field| field.value.is_map())?;
    let mut inner = Fields::of(&field.value, "`oauth`", report)?;
    let off = inner.flag("enabled", report).is_some_and(|flag| !flag.value);
    let mut first = |keys: [&'static str; 3]| {
        keys.map(|key| inner.text(key, report)).into_iter().flatten().next()
    };
    let client_id = first(["clientId", "client_id", "CLIENT_ID"]);
    let secret = first(["clientSecret", "client_secret", "CLIENT_SECRET"]);
    let scope = inner.text("scope", report).map(|text| text.value).unwrap_or_default();
    let mut scopes: Vec<String> = scope.split_whitespace().map(str::to_owned).collect();
    scopes.extend(inner.texts("scopes", report).unwrap_or_default().into_iter().map(|t| t.value));
    inner.finish(Unknown::Ignored, report);
    if let Some(id) = client_id.as_ref().filter(|id| id.value.contains('{')) {
        let message = "a variable in a client's id is not filled in";
        report.warning(Code::Unsupported, &id.span, message, "Write the id itself.");
    }
    let client_id = client_id.map(|text| text.value);
    let client_secret =
        secret.and_then(|s| draft::template(&s, notation, report)).map(SecretTemplate::new);
    (!off)
        .then(|| Spanned::new(Auth::OAuth { scopes, client_id, client_secret }, &field.value.span))
}

/// Keys whose effect would be missed.
pub(super) fn unsupported(fields: &mut Fields<'_>, keys: &[&'static str], report: &mut Report) {
    for key in keys {
        if let Some(field) = fields.take(key) {
            let message = format!("`{key}` is not read");
            let remedy =
                "Write what it brings into `env` or `headers`, with ${VARIABLES} for secrets.";
            report.warning(Code::Unsupported, &field.key_span, message, remedy);
        }
    }
}
