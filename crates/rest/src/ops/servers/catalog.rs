//! Servers that are known by name alone, in our words and in Nebo's, with the key that they take. Pure.

use switchboard_config::catalog;
use switchboard_model::{
    Auth, Part, SecretTemplate, ServerName, ServerSpec, Template, Transport, mask,
};

use super::entry;
use crate::error::{Problem, Result};

/// A server of the catalog, with this key where its entry has a variable.
pub(crate) fn known(word: &str, name: Option<&str>, key: Option<&str>) -> Result<ServerSpec> {
    let spec = ServerName::parse(word).ok().and_then(|word| catalog::find(&word));
    let mut spec = spec.ok_or_else(|| unknown(word))?;
    spec.name = entry::name(name.unwrap_or(word))?;
    if let Some(key) = key {
        let mut filled = 0;
        secrets(&mut spec).for_each(|secret| filled += fill(secret, key));
        if filled == 0 {
            return Err(Problem::invalid(format!("`{word}` takes no key")));
        }
    }
    Ok(spec)
}

/// Puts another key where a server takes one: where the catalog says, or its own declaration; a URL takes
/// it as `Authorization: Bearer …`. The key stands for itself, whatever is in it.
pub(crate) fn set_key(spec: &mut ServerSpec, key: &str) -> Result<()> {
    let known = catalog::name_of(spec).and_then(|name| ServerName::parse(name).ok());
    if let Some(mut known) = known.and_then(|name| catalog::find(&name)) {
        let mut filled = 0;
        secrets(&mut known).for_each(|secret| filled += fill(secret, key));
        match (&mut spec.transport, known.transport) {
            (Transport::Stdio(spec), Transport::Stdio(known)) => spec.env.extend(known.env),
            (Transport::Http(spec), Transport::Http(known)) => spec.headers.extend(known.headers),
            (Transport::Stdio(_) | Transport::Http(_), _) => {}
        }
        if filled > 0 {
            return Ok(());
        }
    }
    let literal = SecretTemplate::new(Template::literal(key));
    match (&mut spec.transport, &mut spec.auth) {
        (_, Auth::ApiKey { key, .. }) => *key = Some(literal),
        (Transport::Http(_), auth) => *auth = Auth::Bearer { token: Some(literal) },
        (Transport::Stdio(stdio), _) => {
            let mut places = stdio.env.iter_mut().filter(|(name, _)| mask::is_secret_key(name));
            match (places.next(), places.next()) {
                (Some((_, place)), None) => *place = literal,
                _ => {
                    let text = "which of the command's variables takes the key is not known";
                    return Err(Problem::invalid(text).remedy("Send it in `commandEnv`."));
                }
            }
        }
    }
    Ok(())
}

/// The catalog's name of what Nebo calls so: its page writes `Notion`, and `slack` for one that has another
/// name here.
pub(crate) fn name_of_type(server_type: &str) -> Option<&'static str> {
    catalog::names().find(|name| {
        name.eq_ignore_ascii_case(server_type) || type_of(name).eq_ignore_ascii_case(server_type)
    })
}

/// What Nebo calls a server of the catalog.
pub(crate) fn type_of(name: &str) -> &str {
    if name == "slack-mcp" { "slack" } else { name }
}

/// Nobody knows that name.
pub(crate) fn unknown(word: &str) -> Problem {
    let text = format!("the catalog has no `{word}`");
    Problem::invalid(text).remedy("`GET /api/v1/catalog` says what it has.")
}

/// Whether a server of the catalog is reached as Nebo's word says: without a key, with one, or by signing in.
pub(crate) fn check_type(spec: &ServerSpec, word: Option<&str>, key: Option<&str>) -> Result<()> {
    let Some(word) = word else { return Ok(()) };
    let secrets = match &spec.transport {
        Transport::Stdio(stdio) => !stdio.env.is_empty(),
        Transport::Http(http) => !http.headers.is_empty(),
    };
    let wrong = match word {
        "none" if key.is_none() && !secrets => return Ok(()),
        "api_key" | "bearer" if secrets => return Ok(()),
        "oauth" if matches!(spec.auth, Auth::OAuth { .. }) => return Ok(()),
        "none" => "takes a key",
        "api_key" | "bearer" => "takes no key",
        "oauth" => "knows no signing in",
        _ => return Err(Problem::invalid("`authType` is `none`, `api_key` or `oauth`")),
    };
    let is = if secrets { "api_key" } else { "none" };
    let text = format!("`authType` is `{word}`, and `{}` {wrong}", spec.name);
    Err(Problem::invalid(text).remedy(format!("Leave it out, or send `{is}`.")))
}

fn secrets(spec: &mut ServerSpec) -> impl Iterator<Item = &mut SecretTemplate> {
    match &mut spec.transport {
        Transport::Stdio(stdio) => stdio.env.values_mut(),
        Transport::Http(http) => http.headers.values_mut(),
    }
}

/// Puts a key in the place of every variable; how many there were.
fn fill(secret: &mut SecretTemplate, key: &str) -> usize {
    let mut filled = 0;
    let parts = secret.expose().parts().iter().map(|part| match part {
        Part::Literal(_) => part.clone(),
        Part::Variable { .. } => {
            filled += 1;
            Part::Literal(key.to_owned())
        }
    });
    let parts: Vec<Part> = parts.collect();
    *secret = SecretTemplate::new(Template::from_parts(parts));
    filled
}
