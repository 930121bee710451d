//! Hides what looks like a secret in texts that people read. A help, not the wall: what is known to
//! be secret lies in [`Secret`](crate::Secret) or [`SecretTemplate`](crate::SecretTemplate).

/// What stands in a secret's place.
pub const MASK: &str = "***";

/// A text in which nothing hides: characters that move a terminal's cursor, have no width or turn the
/// direction of writing are written out.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

/// Whether nobody sees this character, or it changes how others are seen.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Hides every word of `text` that looks like a key, a token or a password.
pub fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |n| start + n);
        shown.push_str(&rest[..start]);
        let word = &rest[start..end];
        shown.push_str(if looks_secret(word) { MASK } else { word });
        rest = &rest[end..];
    }
    shown.push_str(rest);
    shown
}

/// A URL without its password and the values of its query, which often are keys. Works on the text,
/// since variables may stand anywhere in it.
pub fn url(url: &str) -> String {
    let url = &*visible(url);
    let Some((scheme, rest)) = url.split_once("://") else { return text(url) };
    let (rest, fragment) = split_at(rest, '#');
    let (rest, query) = split_at(rest, '?');
    let (authority, path) = split_at(rest, '/');
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((name, password)) if !is_variable(password) => format!("{name}:{MASK}@{host}"),
            _ => authority.to_owned(),
        },
        None => match lost_password(authority) {
            Some(at) => format!("{}{MASK}", &authority[..at]),
            None => authority.to_owned(),
        },
    };
    let query: Vec<String> = query.split('&').map(parameter).collect();
    format!("{scheme}://{authority}{}{}{}", text(path), query.join("&"), text(fragment))
}

/// Where in a URL's authority without `@` a password may begin: behind a colon that no port follows.
pub fn lost_password(authority: &str) -> Option<usize> {
    let (host, port) = authority.split_once(':').filter(|_| !authority.starts_with('['))?;
    let fine = port.bytes().all(|b| b.is_ascii_digit()) || port.starts_with("${");
    (!fine).then_some(host.len() + 1)
}

fn parameter(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if !value.is_empty() && !is_variable(value) => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    }
}

/// The part before `mark`, and the part that begins with it.
fn split_at(text: &str, mark: char) -> (&str, &str) {
    text.split_at(text.find(mark).unwrap_or(text.len()))
}

/// A command line, with the value after an option such as `--api-key` hidden too.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut hide_next = false;
    for word in words {
        let option = word.starts_with('-');
        let hidden = match word.split_once('=') {
            _ if hide_next && !option => MASK.to_owned(),
            Some((name, value)) if option && is_secret_key(name) && !is_variable(value) => {
                format!("{name}={MASK}")
            }
            _ if word.contains("://") => url(word),
            _ => text(word),
        };
        shown.push(quoted(hidden));
        hide_next = option && is_secret_key(word) && !word.contains('=');
    }
    shown.join(" ")
}

/// Whether something in a word of a command line is hidden, given the word before it.
pub fn hides_word(before: Option<&str>, word: &str) -> bool {
    !word.contains(MASK) && command_line(before.into_iter().chain([word])).contains(MASK)
}

/// One word, as one would type it, with nothing hidden in it.
fn quoted(word: String) -> String {
    let spaced = word.is_empty() || word.contains(char::is_whitespace);
    match (visible(&word), spaced) {
        (word, true) => format!("'{}'", word.replace('\'', "'\\''")),
        (word, false) => word,
    }
}

/// Whether a key of this name usually holds a secret.
pub fn is_secret_key(key: &str) -> bool {
    let key: String = key.to_ascii_lowercase().replace(['-', '_', '.'], "");
    const MARKS: [&str; 9] = [
        "token",
        "secret",
        "password",
        "passwd",
        "apikey",
        "accesskey",
        "privatekey",
        "credential",
        "authorization",
    ];
    MARKS.iter().any(|mark| key.contains(mark))
}

/// `Bearer ` and its like, which stand before a secret and are none.
pub fn is_scheme(text: &str) -> bool {
    ["bearer ", "basic ", "token ", "apikey "].iter().any(|s| text.eq_ignore_ascii_case(s))
}

/// Whether one word looks like a key: a known prefix, or long with letters and digits mixed.
pub fn looks_secret(word: &str) -> bool {
    const PREFIXES: [&str; 17] = [
        "sk-",
        "sk_",
        "pk_live",
        "rk_live",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "github_pat_",
        "xox",
        "glpat-",
        "AKIA",
        "phx_",
        "ntn_",
        "secret_",
        "lin_api_",
        "eyJ",
    ];
    if word.len() >= 12 && PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
        return true;
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    word.len() >= 20 && digits >= 3 && letters >= 1
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn is_variable(value: &str) -> bool {
    value.starts_with("${") && value.ends_with('}')
}

#[cfg(test)]
mod tests;
