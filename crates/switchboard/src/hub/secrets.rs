//! The secrets that the hub itself holds: what servers are declared with, in clear or by variables, and their stored
//! credentials. Only gathers their fingerprints; nothing here keeps or shows one.

use serde_json::Value;
use switchboard_core::redact::{Known, says_secret};
use switchboard_model::{
    Auth, Desired, IfMissing, Part, SecretTemplate, ServerSpec, StoreSpec, Template, Transport,
    mask,
};
use switchboard_store::{Result, Store};
use switchboard_upstream::Lookup;

/// A value under a name that says nothing is a secret from this length on: `production` and `us-east-1` are
/// words that people also use.
const LONG: usize = 12;

/// Every secret of what is declared and of the store.
pub(super) async fn known(desired: &Desired, store: &Store, env: &Lookup) -> Result<Known> {
    let mut found = Found { known: Known::default(), env };
    desired.servers.values().for_each(|spec| found.server(spec));
    if let StoreSpec::Postgres { url } = &desired.hub.store {
        found.template(Says::Nothing, url.expose());
    }
    found.secret(desired.hub.traces.as_ref());
    for secret in store.credentials().every_secret().await? {
        found.credential(secret.expose());
    }
    Ok(found.known)
}

/// What a value's name says of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Secret,
    Nothing,
}

impl Says {
    fn by(name: &str) -> Self {
        if says_secret(name) { Self::Secret } else { Self::Nothing }
    }
}

struct Found<'a> {
    known: Known,
    env: &'a Lookup,
}

impl Found<'_> {
    fn server(&mut self, spec: &ServerSpec) {
        match &spec.transport {
            Transport::Stdio(stdio) => {
                for (name, value) in &stdio.env {
                    self.template(Says::by(name), value.expose());
                }
                self.words(&stdio.args);
            }
            Transport::Http(http) => {
                for (name, value) in &http.headers {
                    self.template(Says::by(name), value.expose());
                }
                self.words(std::slice::from_ref(&http.url));
            }
        }
        match &spec.auth {
            Auth::None => {}
            Auth::Bearer { token: secret }
            | Auth::ApiKey { key: secret, .. }
            | Auth::OAuth { client_secret: secret, .. } => self.secret(secret.as_ref()),
        }
    }

    /// Arguments and URLs, of which most are none.
    fn words(&mut self, words: &[Template]) {
        let mut before = Says::Nothing;
        for word in words {
            let source = word.source();
            for part in word.parts() {
                let (name, text) = match part {
                    Part::Literal(text) => {
                        (text.split_once('=').map(|(name, _)| name), text.clone())
                    }
                    Part::Variable { name, .. } => (Some(name.as_str()), self.variable(part)),
                };
                let named = name.map_or(Says::Nothing, Says::by);
                let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
                match before == Says::Secret || named == Says::Secret || mask::looks_secret(value) {
                    true => self.value(Says::Secret, value),
                    false => self.password(&text),
                }
            }
            let is_option = source.starts_with('-') && !source.contains('=');
            before = if is_option { Says::by(&source) } else { Says::Nothing };
        }
    }

    fn secret(&mut self, secret: Option<&SecretTemplate>) {
        if let Some(secret) = secret {
            self.template(Says::Secret, secret.expose());
        }
    }

    fn template(&mut self, says: Says, template: &Template) {
        for part in template.parts() {
            match part {
                Part::Literal(text) => self.value(says, text),
                Part::Variable { name, .. } => {
                    let says = if says == Says::Secret { says } else { Says::by(name) };
                    let value = self.variable(part);
                    self.value(says, &value);
                }
            }
        }
    }

    /// What a variable is now, or is taken for.
    fn variable(&self, part: &Part) -> String {
        let Part::Variable { name, if_missing } = part else { return String::new() };
        match ((self.env)(name).filter(|value| !value.is_empty()), if_missing) {
            (Some(value), _) => value.expose().to_owned(),
            (None, IfMissing::Use(text)) => text.clone(),
            (None, IfMissing::NeedsSetup | IfMissing::Skip) => String::new(),
        }
    }

    fn value(&mut self, says: Says, text: &str) {
        let bare = match text.split_once(' ') {
            Some((scheme, rest)) if mask::is_scheme(&format!("{scheme} ")) => rest,
            _ => text,
        };
        let is_place = bare.starts_with(['/', '.', '~']) || bare.contains("://");
        if says == Says::Secret || (bare.len() >= LONG && !is_place) {
            self.known.add(bare);
        }
        self.password(text);
    }

    /// The password in a URL.
    fn password(&mut self, text: &str) {
        let user = text.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
        if let Some((_, password)) = user.and_then(|(user, _)| user.split_once(':')) {
            self.known.add(password);
        }
    }

    /// A stored credential: a text, or the tokens of a sign-in as JSON.
    fn credential(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(Value::Object(members)) => {
                for (name, value) in &members {
                    if let Some(text) = value.as_str() {
                        self.value(Says::by(name), text);
                    }
                }
            }
            Ok(_) | Err(_) => self.known.add(text),
        }
    }
}
