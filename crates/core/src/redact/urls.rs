//! Secrets in URLs: the password before the host, and what the query holds under names that say so.

use std::ops::Range;

use switchboard_model::mask;

use super::names;

/// A user without a password that is longer is a token.
const USER: usize = 16;

pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    for (mark, _) in text.match_indices("://") {
        let start = mark + 3;
        let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>');
        let url = text[start..].split(ends).next().unwrap_or_default();
        let mut push = |span: Range<usize>| found.push(start + span.start..start + span.end);
        if let Some(span) = password(url) {
            push(span);
        }
        parameters(url).for_each(&mut push);
    }
}

/// The password, or the user where that is a token. A password may hold what a host cannot, so it goes on to the
/// last `@`.
fn password(url: &str) -> Option<Range<usize>> {
    let authority = url.split(['/', '?', '#']).next().unwrap_or_default();
    let colon =
        url.find(':').filter(|colon| *colon < authority.len() || url[..*colon].contains('@'));
    match (url.rfind('@'), colon) {
        (Some(at), Some(colon)) if colon < at => {
            // Behind a port, `@` is a part of the path.
            let is_port = authority.len() < at && mask::lost_password(authority).is_none();
            (!is_port || authority.contains('@')).then_some(colon + 1..at)
        }
        (Some(_), _) => {
            let at = authority.rfind('@')?;
            let user = &authority[..at];
            (user.len() >= USER || mask::looks_secret(user)).then_some(0..at)
        }
        (None, _) => mask::lost_password(authority).map(|from| from..url.len()),
    }
}

fn parameters(url: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let query = url.find(['?', '#']).map_or(url.len(), |mark| mark + 1);
    let mut at = query;
    url[query..].split(['&', ';', '#']).filter_map(move |pair| {
        let start = at;
        at += pair.len() + 1;
        let (name, value) = pair.split_once('=')?;
        let from = start + name.len() + 1;
        names::says_secret_in_url(name).then_some(from..from + value.len())
    })
}
