//! A declaration in two parts: JSON without secrets for its row, and the secrets for the vault.
//! Reading puts them together again; nothing is lost on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use switchboard_model::server::KeyPlace;
use switchboard_model::steering::steers;
use switchboard_model::{
    AuditArguments, Auth, HttpKind, HttpSpec, Limits, Pattern, SecretTemplate, ServerName,
    ServerSpec, Start, StdioSpec, Template, Timing, ToolFilter, Transport, mask,
};
use zeroize::Zeroizing;

use super::template::{self, is_secret, url_looks_secret, word_looks_secret};
use crate::db::Sql;
use crate::error::{Error, Result};

/// A declaration taken apart.
pub(super) struct Parts {
    declaration: String,
    secrets: Map<String, Value>,
}

impl Parts {
    pub(super) fn of(spec: &ServerSpec) -> Self {
        let mut secrets = Map::new();
        let stored = Stored::of(spec, &mut secrets);
        // Only maps with texts for keys are in it, which JSON can always write.
        let declaration = serde_json::to_string(&stored).unwrap_or_default();
        Self { declaration, secrets }
    }

    /// What stands in the row, without anything secret.
    pub(super) fn declaration(&self) -> &str {
        &self.declaration
    }

    /// What the vault gets, if there is anything.
    pub(super) fn secrets(&self) -> Option<Zeroizing<String>> {
        let text = || Zeroizing::new(Value::Object(self.secrets.clone()).to_string());
        (!self.secrets.is_empty()).then(text)
    }

    /// The columns from `transport` to `description`; what people see is masked.
    pub(super) fn bind(&self, query: Sql, spec: &ServerSpec) -> Sql {
        let query = query.bind(spec.transport.as_str());
        let query = match &spec.transport {
            Transport::Stdio(stdio) => {
                let words: Vec<String> = stdio.args.iter().map(Template::source).collect();
                let shown: Value = shown_words(&stdio.command.source(), &words).into();
                let names: Value = stdio.env.keys().map(String::as_str).collect();
                let query = query.bind(stdio.command.to_string()).bind(shown.to_string());
                query.bind(names.to_string()).bind(None::<String>)
            }
            Transport::Http(http) => {
                let url = mask::url(&http.url.source());
                query.bind(None::<String>).bind("[]").bind("[]").bind(url)
            }
        };
        let query = query.bind(&self.declaration).bind(spec.enabled);
        query.bind(spec.category.clone()).bind(spec.description.clone())
    }
}

/// What an administrator approves: command, arguments, directory, the names of variables, also of the one that
/// takes the key, and the values of those that decide which code runs.
pub fn command_hash(spec: &ServerSpec) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(b"switchboard command line 2\0");
    let mut add = |part: &str| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    if let Transport::Stdio(stdio) = &spec.transport {
        add(&template::write(&stdio.command).to_string());
        add(&stdio.args.len().to_string());
        stdio.args.iter().for_each(|word| add(&template::write(word).to_string()));
        add(&stdio.env.len().to_string());
        for (name, value) in &stdio.env {
            let value = steers(name).then(|| template::write(value.expose()));
            add(name);
            add(&value.map_or(Value::Null, |value| json!([value])).to_string());
        }
        add(&stdio.cwd.as_ref().map_or(Value::Null, template::write).to_string());
        add(&json!(spec.key_variable()).to_string());
    }
    hash.finalize().into()
}

/// The declaration put together again.
pub(super) fn read(
    name: &ServerName,
    declaration: &str,
    secrets: Option<&[u8]>,
) -> Result<ServerSpec> {
    let bad = |error| Error::malformed("declaration", error);
    let stored: Stored = serde_json::from_str(declaration).map_err(bad)?;
    let secrets = match secrets {
        Some(bytes) => serde_json::from_slice(bytes).map_err(bad)?,
        None => Map::new(),
    };
    stored.spec(name, &secrets)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    transport: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    command: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    cwd: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    url: Value,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, Value>,
    auth: StoredAuth,
    enabled: bool,
    description: Option<String>,
    category: Option<String>,
    connect_ms: u64,
    call_ms: u64,
    call_total_ms: u64,
    health_interval_ms: u64,
    stop_grace_ms: u64,
    idle_ms: Option<u64>,
    max_in_flight: u32,
    max_output: u64,
    log_buffer: u64,
    lazy: bool,
    sensitive: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    audit_arguments: Option<String>,
    trust_hints: bool,
    allow: Vec<String>,
    deny: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum StoredAuth {
    None,
    Bearer { token: Option<Value> },
    ApiKey { header: Option<String>, variable: Option<String>, key: Option<Value> },
    Oauth { scopes: Vec<String>, client_id: Option<String>, client_secret: Option<Value> },
}

/// Where a part of the declaration goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goes {
    IntoTheRow,
    IntoTheVault,
}

impl Goes {
    fn by(secret: bool) -> Self {
        if secret { Self::IntoTheVault } else { Self::IntoTheRow }
    }
}

/// Puts a template into the row, or what is secret into the vault and a mark into the row.
fn put(secrets: &mut Map<String, Value>, place: String, goes: Goes, template: &Template) -> Value {
    let written = template::write(template);
    if goes == Goes::IntoTheRow {
        return written;
    }
    secrets.insert(place.clone(), written);
    json!({"sealed": place})
}

fn put_secret(secrets: &mut Map<String, Value>, place: String, template: &SecretTemplate) -> Value {
    put(secrets, place, Goes::by(is_secret(template)), template.expose())
}

fn take(secrets: &Map<String, Value>, value: &Value) -> Result<Template> {
    let Some(place) = value.get("sealed").and_then(Value::as_str) else {
        return template::read(value);
    };
    let sealed = secrets.get(place);
    template::read(
        sealed.ok_or_else(|| Error::malformed("declaration", format!("{place} is not sealed")))?,
    )
}

impl Stored {
    fn of(spec: &ServerSpec, secrets: &mut Map<String, Value>) -> Self {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let globs = |list: &[Pattern]| list.iter().map(|glob| glob.as_str().to_owned()).collect();
        let mut stored = Self {
            transport: spec.transport.as_str().to_owned(),
            command: Value::Null,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: Value::Null,
            url: Value::Null,
            headers: BTreeMap::new(),
            auth: stored_auth(&spec.auth, secrets),
            enabled: spec.enabled,
            description: spec.description.clone(),
            category: spec.category.clone(),
            connect_ms: ms(spec.timing.connect),
            call_ms: ms(spec.timing.call),
            call_total_ms: ms(spec.timing.call_total),
            health_interval_ms: ms(spec.timing.health_interval),
            stop_grace_ms: ms(spec.timing.stop_grace),
            idle_ms: spec.timing.idle.map(ms),
            max_in_flight: spec.limits.max_in_flight,
            max_output: spec.limits.max_output,
            log_buffer: spec.limits.log_buffer,
            lazy: spec.start == Start::Lazy,
            sensitive: spec.sensitive,
            audit_arguments: spec.audit_arguments.map(|what| what.as_str().to_owned()),
            trust_hints: spec.trust_hints,
            allow: globs(&spec.tools.allow),
            deny: globs(&spec.tools.deny),
        };
        match &spec.transport {
            Transport::Stdio(stdio) => stored.put_stdio(stdio, secrets),
            Transport::Http(http) => stored.put_http(http, secrets),
        }
        stored
    }

    fn put_stdio(&mut self, stdio: &StdioSpec, secrets: &mut Map<String, Value>) {
        let command = stdio.command.source();
        let goes = Goes::by(word_looks_secret(None, &command));
        self.command = put(secrets, "command".to_owned(), goes, &stdio.command);
        let mut before = command;
        for (at, word) in stdio.args.iter().enumerate() {
            let source = word.source();
            let goes = Goes::by(word_looks_secret(Some(&before), &source));
            self.args.push(put(secrets, format!("args/{at}"), goes, word));
            before = source;
        }
        for (name, value) in &stdio.env {
            self.env.insert(name.clone(), put_secret(secrets, format!("env/{name}"), value));
        }
        if let Some(cwd) = &stdio.cwd {
            self.cwd = template::write(cwd);
        }
    }

    fn put_http(&mut self, http: &HttpSpec, secrets: &mut Map<String, Value>) {
        let goes = Goes::by(url_looks_secret(&http.url.source()));
        self.url = put(secrets, "url".to_owned(), goes, &http.url);
        for (name, value) in &http.headers {
            self.headers
                .insert(name.clone(), put_secret(secrets, format!("headers/{name}"), value));
        }
    }

    fn spec(self, name: &ServerName, secrets: &Map<String, Value>) -> Result<ServerSpec> {
        let transport = self.transport(secrets)?;
        let globs = |list: &[String]| {
            let glob =
                |glob: &String| Pattern::parse(glob).map_err(|e| Error::malformed("glob", e));
            list.iter().map(glob).collect::<Result<Vec<_>>>()
        };
        let ms = Duration::from_millis;
        // What the store declares was declared by somebody: whatever else a server can be to the
        // hub stays at its default.
        let mut spec = ServerSpec::new(name.clone(), transport);
        spec.auth = read_auth(&self.auth, secrets)?;
        spec.enabled = self.enabled;
        spec.tools = ToolFilter { allow: globs(&self.allow)?, deny: globs(&self.deny)? };
        spec.timing = Timing {
            connect: ms(self.connect_ms),
            call: ms(self.call_ms),
            call_total: ms(self.call_total_ms),
            health_interval: ms(self.health_interval_ms),
            stop_grace: ms(self.stop_grace_ms),
            idle: self.idle_ms.map(ms),
        };
        spec.limits = Limits {
            max_in_flight: self.max_in_flight,
            max_output: self.max_output,
            log_buffer: self.log_buffer,
        };
        spec.start = if self.lazy { Start::Lazy } else { Start::Eager };
        spec.sensitive = self.sensitive;
        spec.audit_arguments = self.audit_arguments.as_deref().map(read_audited).transpose()?;
        spec.trust_hints = self.trust_hints;
        spec.description = self.description;
        spec.category = self.category;
        Ok(spec)
    }

    fn transport(&self, secrets: &Map<String, Value>) -> Result<Transport> {
        let secret = |(name, value): (&String, &Value)| {
            Ok((name.clone(), SecretTemplate::new(take(secrets, value)?)))
        };
        let kind = match self.transport.as_str() {
            "stdio" => {
                return Ok(Transport::Stdio(StdioSpec {
                    command: take(secrets, &self.command)?,
                    args: self
                        .args
                        .iter()
                        .map(|word| take(secrets, word))
                        .collect::<Result<_>>()?,
                    env: self.env.iter().map(secret).collect::<Result<_>>()?,
                    cwd: if self.cwd.is_null() { None } else { Some(take(secrets, &self.cwd)?) },
                }));
            }
            "http" => HttpKind::Streamable,
            "sse" => HttpKind::Sse,
            other => return Err(Error::malformed("declaration", format!("transport `{other}`"))),
        };
        let headers = self.headers.iter().map(secret).collect::<Result<_>>()?;
        Ok(Transport::Http(HttpSpec { kind, url: take(secrets, &self.url)?, headers }))
    }
}

fn read_audited(word: &str) -> Result<AuditArguments> {
    let known = AuditArguments::ALL.into_iter().find(|what| what.as_str() == word);
    known.ok_or_else(|| Error::malformed("declaration", format!("arguments `{word}`")))
}

fn stored_auth(auth: &Auth, secrets: &mut Map<String, Value>) -> StoredAuth {
    let mut put = |place: &str, value: &Option<SecretTemplate>| {
        value.as_ref().map(|value| put_secret(secrets, place.to_owned(), value))
    };
    match auth {
        Auth::None => StoredAuth::None,
        Auth::Bearer { token } => StoredAuth::Bearer { token: put("auth/token", token) },
        Auth::ApiKey { place, key } => {
            let (header, variable) = match place {
                KeyPlace::Header(name) => (Some(name.clone()), None),
                KeyPlace::Variable(name) => (None, Some(name.clone())),
            };
            StoredAuth::ApiKey { header, variable, key: put("auth/key", key) }
        }
        Auth::OAuth { scopes, client_id, client_secret } => StoredAuth::Oauth {
            scopes: scopes.clone(),
            client_id: client_id.clone(),
            client_secret: put("auth/client_secret", client_secret),
        },
    }
}

fn read_auth(auth: &StoredAuth, secrets: &Map<String, Value>) -> Result<Auth> {
    let take = |value: &Option<Value>| {
        value.as_ref().map(|value| take(secrets, value).map(SecretTemplate::new)).transpose()
    };
    Ok(match auth {
        StoredAuth::None => Auth::None,
        StoredAuth::Bearer { token } => Auth::Bearer { token: take(token)? },
        StoredAuth::ApiKey { header, variable, key } => {
            let place = match (header, variable) {
                (Some(name), None) => KeyPlace::Header(name.clone()),
                (None, Some(name)) => KeyPlace::Variable(name.clone()),
                _ => return Err(Error::malformed("declaration", "a key with no place, or two")),
            };
            Auth::ApiKey { place, key: take(key)? }
        }
        StoredAuth::Oauth { scopes, client_id, client_secret } => Auth::OAuth {
            scopes: scopes.clone(),
            client_id: client_id.clone(),
            client_secret: take(client_secret)?,
        },
    })
}

/// The arguments as a person may see them.
fn shown_words(command: &str, words: &[String]) -> Vec<Value> {
    let mut before = command;
    let mut shown = Vec::with_capacity(words.len());
    for word in words {
        let secret = word_looks_secret(Some(before), word);
        shown.push(if secret { mask::MASK.into() } else { word.as_str().into() });
        before = word;
    }
    shown
}
