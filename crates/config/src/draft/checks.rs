//! What must hold of a server's entry beyond the types of its keys.

use switchboard_model::server::KeyPlace;
use switchboard_model::{Auth, Code, Part, Template, Transport, mask};
use url::Url;

use super::{Draft, Kind};
use crate::decode::{Report, Spanned, Text};

/// The transport that is named must be the one that is described.
pub(super) fn kind_fits(draft: &Draft, key: &str, allowed: &[Kind], report: &mut Report) {
    let Some(kind) = &draft.kind else { return };
    if !allowed.contains(&kind.value) {
        let message = format!("the transport named here does not go with {key}");
        let remedy = "Remove it: the transport is inferred from `command` or `url`.";
        report.error(Code::BadValue, &kind.span, message, remedy);
    }
}

/// A key that has no effect on this kind of server.
pub(super) fn ignored(found: Option<&Text>, key: &str, what: &str, report: &mut Report) {
    let Some(found) = found else { return };
    let message = format!("`{key}` has no effect on a server that is {what}");
    report.warning(Code::IgnoredKey, &found.span, message, format!("Remove `{key}`."));
}

pub(super) fn variable_name(name: &Text, report: &mut Report) {
    if name.value.is_empty() || name.value.contains(['=', '\0']) {
        let message = format!("`{}` cannot be the name of a variable", name.value.escape_debug());
        report.error(Code::BadName, &name.span, message, "Write a name such as API_KEY.");
    }
}

pub(super) fn header(name: &Text, value: &Text, report: &mut Report) {
    if !is_header_name(&name.value) {
        let message = format!("`{}` cannot be the name of a header", name.value.escape_debug());
        report.error(Code::BadName, &name.span, message, "Write a name such as Authorization.");
    }
    one_line(value, &format!("the value of `{}`", name.value), report);
}

/// A header ends with its line.
pub(super) fn one_line(value: &Text, what: &str, report: &mut Report) {
    if value.value.contains(['\n', '\r']) {
        let message = format!("{what} has more than one line");
        report.error(Code::BadValue, &value.span, message, "Write it on one line.");
    }
}

/// Whether a text can be the name of a header (RFC 9110's token).
pub(crate) fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// As much of a URL as is known before its variables are.
pub(super) fn url(template: &Template, written: &Text, report: &mut Report) {
    let why = match template.parts() {
        [Part::Literal(text)] => why_not(text),
        [Part::Literal(text), ..] if text.contains("://") => {
            // A placeholder for what is not known yet; a port needs a number.
            let known: String = template.parts().iter().map(stand_in).collect();
            why_not(&known)
        }
        [] => Some("it is empty".to_owned()),
        _ => None,
    };
    if let Some(why) = why {
        let shown = mask::url(&written.value);
        let message = format!("`{shown}` is not a URL that can be connected to: {why}");
        let remedy = "Write the server's endpoint, such as \"https://example.com/mcp\".";
        report.error(Code::BadUrl, &written.span, message, remedy);
    }
}

fn stand_in(part: &Part) -> &str {
    match part {
        Part::Literal(text) => text,
        Part::Variable { .. } => "1",
    }
}

fn why_not(text: &str) -> Option<String> {
    match Url::parse(text.trim()) {
        Err(error) => Some(error.to_string()),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            Some(format!("it begins with `{}:`, not with `http:` or `https:`", url.scheme()))
        }
        Ok(url) if url.host_str().is_none_or(str::is_empty) => Some("it names no host".to_owned()),
        Ok(_) => None,
    }
}

/// A header goes with a URL, a variable with a command.
pub(super) fn auth_fits(auth: &Spanned<Auth>, transport: &Transport, report: &mut Report) {
    let wrong = match (&auth.value, transport) {
        (Auth::Bearer { .. } | Auth::OAuth { .. }, Transport::Stdio(_)) => {
            Some("a command takes its key from a variable: `type = \"api_key\"` with `variable`")
        }
        (Auth::ApiKey { place: KeyPlace::Header(_), .. }, Transport::Stdio(_)) => {
            Some("a command takes its key from a variable: `variable` instead of `header`")
        }
        (Auth::ApiKey { place: KeyPlace::Variable(_), .. }, Transport::Http(_)) => {
            Some("a URL takes its key from a header: `header` instead of `variable`")
        }
        (Auth::None, _)
        | (Auth::Bearer { .. } | Auth::OAuth { .. }, Transport::Http(_))
        | (Auth::ApiKey { place: KeyPlace::Header(_), .. }, Transport::Http(_))
        | (Auth::ApiKey { place: KeyPlace::Variable(_), .. }, Transport::Stdio(_)) => None,
    };
    if let Some(remedy) = wrong {
        let message = format!("this `auth` does not go with {}", transport.as_str());
        report.error(Code::BadValue, &auth.span, message, format!("Write it so: {remedy}."));
    }
}
