//! From a declared server to the values that a connection is made with. Nothing here is kept longer
//! than the connection's start, and nothing here can be printed.

use crate::conceal::Concealed;
use crate::mask;
use crate::secret::Secret;
use crate::server::{Auth, HttpKind, KeyPlace, ServerSpec, Transport};
use crate::template::{Env, IfMissing, SecretTemplate, Template};

/// The values to connect with.
#[derive(Debug)]
pub struct Resolved {
    /// How the server is reached, every variable filled in.
    pub transport: ResolvedTransport,
    /// What variables stand for in places that are not secret as a whole.
    variables: Vec<(String, Secret)>,
}

impl Resolved {
    /// What of it must not be told, whoever repeats it: everything in the environment and in headers, and
    /// what stands for a variable, in an option or in an address.
    pub fn concealed(&self) -> Concealed {
        let mut named: Vec<(&str, &Secret)> =
            self.variables.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let found = match &self.transport {
            ResolvedTransport::Stdio { args, env, .. } => {
                named.extend(env.iter().map(|(name, value)| (name.as_str(), value)));
                options(args)
            }
            ResolvedTransport::Http { url, headers, .. } => {
                named.extend(headers.iter().map(|(name, value)| (name.as_str(), value)));
                parameters(url.expose())
            }
        };
        let found = found.iter().map(|(name, value)| (name.as_str(), value));
        Concealed::of(named.into_iter().chain(found))
    }
}

/// The values of options that say they are secret: `--api-key VALUE`, `--token=VALUE`.
fn options(words: &[Secret]) -> Vec<(String, Secret)> {
    let is_secret = |word: &str| word.starts_with('-') && mask::is_secret_key(word);
    let given = words.iter().filter_map(|word| {
        let (name, value) = word.expose().split_once('=')?;
        is_secret(name).then(|| (name.to_owned(), Secret::new(value)))
    });
    let follows = words.windows(2).filter_map(|pair| {
        let (name, value) = (pair[0].expose(), pair[1].expose());
        let follows = is_secret(name) && !name.contains('=') && !value.starts_with('-');
        follows.then(|| (name.to_owned(), pair[1].clone()))
    });
    given.chain(follows).collect()
}

/// What stands behind the question mark of an address, and its password.
fn parameters(url: &str) -> Vec<(String, Secret)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut found: Vec<(String, Secret)> =
        pairs.map(|(name, value)| (name.to_owned(), Secret::new(value))).collect();
    // As a piece of the address it is found by whoever takes that apart.
    let user = url.split_once("://").and_then(|(_, rest)| rest.split('/').next()?.rsplit_once('@'));
    if let Some((_, password)) = user.and_then(|(user, _)| user.split_once(':')) {
        found.push(("password".to_owned(), Secret::new(password)));
    }
    found
}

/// How a server is reached, every variable filled in.
#[derive(Debug)]
pub enum ResolvedTransport {
    /// A command to start.
    Stdio {
        /// The program.
        command: Secret,
        /// Its arguments.
        args: Vec<Secret>,
        /// What its environment has besides the small base.
        env: Vec<(String, Secret)>,
        /// Where it runs.
        cwd: Option<Secret>,
    },
    /// A URL to speak to.
    Http {
        /// Which of the two HTTP transports.
        kind: HttpKind,
        /// The endpoint.
        url: Secret,
        /// What every request carries.
        headers: Vec<(String, Secret)>,
    },
}

/// Variables that are missing, so that no connection can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not set: {}", variables.join(", "))]
pub struct Unresolved {
    /// Their names, each once, in the order of use.
    pub variables: Vec<String>,
    /// Whether the dialect wants the server left out rather than shown as waiting.
    pub skip: bool,
}

impl ServerSpec {
    /// Fills every variable in, with the environment that `env` looks up. All that is missing is
    /// named at once.
    pub fn resolve(&self, env: Env<'_>) -> Result<Resolved, Unresolved> {
        let mut filler = Filler { env, missing: Vec::new(), skip: false, variables: Vec::new() };
        let transport = filler.transport(self);
        match filler.missing.is_empty() {
            true => Ok(Resolved { transport, variables: filler.variables }),
            false => Err(Unresolved { variables: filler.missing, skip: filler.skip }),
        }
    }

    /// Every template of the server, in the order of use.
    pub fn templates(&self) -> Vec<&Template> {
        let mut all: Vec<&Template> = Vec::new();
        match &self.transport {
            Transport::Stdio(stdio) => {
                all.push(&stdio.command);
                all.extend(&stdio.args);
                all.extend(stdio.env.values().map(SecretTemplate::expose));
                all.extend(&stdio.cwd);
            }
            Transport::Http(http) => {
                all.push(&http.url);
                all.extend(http.headers.values().map(SecretTemplate::expose));
            }
        }
        match &self.auth {
            Auth::None => {}
            Auth::Bearer { token: secret }
            | Auth::ApiKey { key: secret, .. }
            | Auth::OAuth { client_secret: secret, .. } => {
                all.extend(secret.iter().map(SecretTemplate::expose));
            }
        }
        all
    }
}

struct Filler<'a> {
    env: Env<'a>,
    missing: Vec<String>,
    skip: bool,
    variables: Vec<(String, Secret)>,
}

impl Filler<'_> {
    fn transport(&mut self, spec: &ServerSpec) -> ResolvedTransport {
        let mut transport = match &spec.transport {
            Transport::Stdio(stdio) => ResolvedTransport::Stdio {
                command: self.fill(&stdio.command),
                args: stdio.args.iter().map(|arg| self.note(arg)).collect(),
                env: stdio.env.iter().map(|(k, v)| (k.clone(), self.fill(v.expose()))).collect(),
                cwd: stdio.cwd.as_ref().map(|cwd| self.fill(cwd)),
            },
            Transport::Http(http) => ResolvedTransport::Http {
                kind: http.kind,
                url: self.note(&http.url),
                headers: http
                    .headers
                    .iter()
                    .map(|(k, v)| (k.clone(), self.fill(v.expose())))
                    .collect(),
            },
        };
        self.authenticate(&spec.auth, &mut transport);
        transport
    }

    /// Puts a declared key where it belongs. Keys from the store and OAuth tokens come later, from
    /// whoever holds them.
    fn authenticate(&mut self, auth: &Auth, transport: &mut ResolvedTransport) {
        let (name, value) = match auth {
            Auth::None | Auth::OAuth { .. } => return,
            Auth::Bearer { token: None } | Auth::ApiKey { key: None, .. } => return,
            Auth::Bearer { token: Some(token) } => {
                (KeyPlace::Header("authorization".into()), bearer(&self.fill(token.expose())))
            }
            Auth::ApiKey { place, key: Some(key) } => (place.clone(), self.fill(key.expose())),
        };
        match (transport, name) {
            (ResolvedTransport::Http { headers, .. }, KeyPlace::Header(header)) => {
                headers.retain(|(name, _)| *name != header);
                headers.push((header, value));
            }
            (ResolvedTransport::Stdio { env, .. }, KeyPlace::Variable(variable)) => {
                env.retain(|(name, _)| *name != variable);
                env.push((variable, value));
            }
            // `check` refuses a header for a command and a variable for a URL.
            (ResolvedTransport::Http { .. }, KeyPlace::Variable(_))
            | (ResolvedTransport::Stdio { .. }, KeyPlace::Header(_)) => {}
        }
    }

    /// Fills a text that is not secret as a whole, and remembers what its variables stand for.
    fn note(&mut self, template: &Template) -> Secret {
        let values = template.variables().filter_map(|(name, _)| {
            (self.env)(name).filter(|value| !value.is_empty()).map(|value| (name.to_owned(), value))
        });
        self.variables.extend(values);
        self.fill(template)
    }

    fn fill(&mut self, template: &Template) -> Secret {
        let (missing, skip) = (&mut self.missing, &mut self.skip);
        template.resolve(self.env, &mut |name, if_missing| {
            *skip |= *if_missing == IfMissing::Skip;
            if !missing.iter().any(|known| known == name) {
                missing.push(name.to_owned());
            }
        })
    }
}

/// What `Authorization` carries for a token. Many a variable already holds `Bearer …`; the word must not
/// stand there twice.
pub fn bearer(token: &Secret) -> Secret {
    match token.expose().split_once(' ') {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("bearer") => token.clone(),
        _ => Secret::new(format!("Bearer {}", token.expose())),
    }
}

#[cfg(test)]
mod tests;
