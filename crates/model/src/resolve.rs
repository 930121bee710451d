//! From a declared server to the values that a connection is made with. Nothing here is kept longer
//! than the connection's start, and nothing here can be printed.

use crate::secret::Secret;
use crate::server::{Auth, HttpKind, KeyPlace, ServerSpec, Transport};
use crate::template::{Env, IfMissing, SecretTemplate, Template};

/// The values to connect with.
#[derive(Debug)]
pub struct Resolved {
    /// How the server is reached, every variable filled in.
    pub transport: ResolvedTransport,
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
        let mut filler = Filler { env, missing: Vec::new(), skip: false };
        let transport = filler.transport(self);
        match filler.missing.is_empty() {
            true => Ok(Resolved { transport }),
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
}

impl Filler<'_> {
    fn transport(&mut self, spec: &ServerSpec) -> ResolvedTransport {
        let mut transport = match &spec.transport {
            Transport::Stdio(stdio) => ResolvedTransport::Stdio {
                command: self.fill(&stdio.command),
                args: stdio.args.iter().map(|arg| self.fill(arg)).collect(),
                env: stdio.env.iter().map(|(k, v)| (k.clone(), self.fill(v.expose()))).collect(),
                cwd: stdio.cwd.as_ref().map(|cwd| self.fill(cwd)),
            },
            Transport::Http(http) => ResolvedTransport::Http {
                kind: http.kind,
                url: self.fill(&http.url),
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

/// Many a variable already holds `Bearer …`; the word must not stand there twice.
fn bearer(token: &Secret) -> Secret {
    match token.expose().split_once(' ') {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("bearer") => token.clone(),
        _ => Secret::new(format!("Bearer {}", token.expose())),
    }
}

#[cfg(test)]
mod tests;
