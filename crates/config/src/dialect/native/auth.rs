//! `auth`: how the hub proves to a server who it is.

use switchboard_model::server::KeyPlace;
use switchboard_model::steering::steers;
use switchboard_model::{Auth, Code, SecretTemplate};

use crate::decode::{Fields, Report, Spanned, Text, Unknown};
use crate::draft::{self, is_header_name};
use crate::expand::Notation;
use crate::syntax::Node;

#[derive(Clone, Copy)]
enum Kind {
    None,
    Bearer,
    ApiKey,
    OAuth,
}

const KINDS: [(&str, Kind); 4] = [
    ("none", Kind::None),
    ("bearer", Kind::Bearer),
    ("api_key", Kind::ApiKey),
    ("oauth", Kind::OAuth),
];

/// `auth = "oauth"`, or a table with a `type`.
pub(super) fn read(node: &Node, report: &mut Report) -> Option<Spanned<Auth>> {
    let wrapped;
    let node = match node.as_str() {
        None => node,
        Some(_) => {
            wrapped = word(node);
            &wrapped
        }
    };
    let mut fields = Fields::of(node, "`auth`", report)?;
    let before = report.errors();
    let kind = fields.choice("type", &KINDS, report);
    if kind.is_none() && report.errors() == before {
        let remedy = "Add `type`: \"none\", \"bearer\", \"api_key\" or \"oauth\".";
        report.error(Code::MissingKey, &node.span, "`auth` has no `type`", remedy);
    }
    let auth = match kind?.value {
        Kind::None => Auth::None,
        Kind::Bearer => Auth::Bearer { token: header_value(fields.text("token", report), report) },
        Kind::ApiKey => api_key(&mut fields, report)?,
        Kind::OAuth => Auth::OAuth {
            scopes: fields
                .texts("scopes", report)
                .unwrap_or_default()
                .into_iter()
                .map(|text| text.value)
                .collect(),
            client_id: fields.some_text("client_id", report).map(|text| text.value),
            client_secret: secret(fields.text("client_secret", report), report),
        },
    };
    fields.finish(Unknown::Error, report);
    Some(Spanned::new(auth, &node.span))
}

fn api_key(fields: &mut Fields<'_>, report: &mut Report) -> Option<Auth> {
    let key = header_value(fields.text("key", report), report);
    let header = fields.some_text("header", report);
    let variable = fields.some_text("variable", report);
    let place = match (header, variable) {
        (Some(header), None) if is_header_name(&header.value) => {
            KeyPlace::Header(header.value.to_ascii_lowercase())
        }
        (Some(header), None) => {
            let message = format!("`{}` cannot be the name of a header", header.value);
            report.error(Code::BadName, &header.span, message, "Write a name such as X-API-Key.");
            return None;
        }
        (None, Some(variable)) if steers(&variable.value) => {
            // Whoever may set a key, their own for a server of all too, would say what runs.
            let message = format!("`{}` decides which code runs, and takes no key", variable.value);
            let remedy = "Name the variable that the server reads its key from, such as API_KEY.";
            report.error(Code::BadName, &variable.span, message, remedy);
            return None;
        }
        (None, Some(variable)) if variable.value.contains(['=', '\0']) => {
            let message =
                format!("`{}` cannot be the name of a variable", variable.value.escape_debug());
            report.error(Code::BadName, &variable.span, message, "Write a name such as API_KEY.");
            return None;
        }
        (None, Some(variable)) => KeyPlace::Variable(variable.value),
        (Some(_), Some(both)) => {
            let remedy = "Keep `header` for a URL or `variable` for a command.";
            report.error(
                Code::BadValue,
                &both.span,
                "both `header` and `variable` are set",
                remedy,
            );
            return None;
        }
        (None, None) => {
            let message = "`auth` does not say where the key goes";
            let remedy = "Add `header` for a URL or `variable` for a command.";
            report.error(Code::MissingKey, &fields.span, message, remedy);
            return None;
        }
    };
    Some(Auth::ApiKey { place, key })
}

/// A key for a variable could have lines, but none does.
fn header_value(text: Option<Text>, report: &mut Report) -> Option<SecretTemplate> {
    draft::header_value(&text?, &Notation::Native, report)
}

fn secret(text: Option<Text>, report: &mut Report) -> Option<SecretTemplate> {
    draft::template(&text?, &Notation::Native, report).map(SecretTemplate::new)
}

/// `"oauth"` is short for `{ type = "oauth" }`.
fn word(node: &Node) -> Node {
    use crate::syntax::{Field, Value};
    let field = Field { key: "type".into(), key_span: node.span.clone(), value: node.clone() };
    Node { span: node.span.clone(), value: Value::Map(vec![field]) }
}
