//! Who is there and what it can do: `initialize` and `server/discover`. Never negotiates.

use crate::json::{Json, JsonBuf};
use crate::meta;
use crate::peek;
use crate::types::Missing;
use crate::types::page::CacheHint;

/// Name and version of a program, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// All of it, as it came.
    pub raw: JsonBuf,
    /// Its name; empty if it gave none.
    pub name: String,
    /// Its version; empty if it gave none.
    pub version: String,
    /// Its name for people.
    pub title: Option<String>,
}

impl Implementation {
    /// Reads what is there; a program that says nothing of itself is called nothing.
    pub fn read(json: Json<'_>) -> Self {
        let text = |key| json.get(key).and_then(Json::string_lossy).map(String::from);
        Self {
            raw: json.into(),
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            title: text("title"),
        }
    }
}

/// What a client or a server declares that it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities(JsonBuf);

impl Capabilities {
    /// Takes an object; anything else declares nothing.
    pub fn read(json: Option<Json<'_>>) -> Self {
        Self(json.filter(|json| json.is_object()).unwrap_or(Json::EMPTY).into())
    }

    /// All of them, as they came.
    pub fn raw(&self) -> Json<'_> {
        self.0.as_json()
    }

    /// Whether `path` leads to something that is neither `null` nor `false`: `["tools"]`,
    /// `["resources", "subscribe"]`, `["sampling", "tools"]`.
    pub fn has(&self, path: &[&str]) -> bool {
        let found = path.iter().try_fold(self.raw(), |json, key| json.get(key));
        found.is_some_and(|found| !found.is_null() && found.boolean() != Some(false))
    }

    /// The settings of an extension that is declared.
    pub fn extension(&self, name: &str) -> Option<Json<'_>> {
        self.raw().get("extensions")?.get(name).filter(|settings| settings.is_object())
    }

    /// Whether a client can be asked by form: `elicitation` without any mode means that.
    pub fn elicits_by_form(&self) -> bool {
        self.has(&["elicitation"])
            && (self.has(&["elicitation", "form"]) || !self.has(&["elicitation", "url"]))
    }
}

/// The params of `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitializeParams {
    /// The revision that the client asks for, as it wrote it.
    pub protocol_version: String,
    /// What the client can do.
    pub capabilities: Capabilities,
    /// Who the client is.
    pub client_info: Implementation,
}

impl InitializeParams {
    /// Reads them; only the revision cannot be done without.
    pub fn read(params: Json<'_>) -> Result<Self, Missing> {
        Ok(Self {
            protocol_version: text(params, "protocolVersion")?,
            capabilities: Capabilities::read(params.get("capabilities")),
            client_info: Implementation::read(params.get("clientInfo").unwrap_or(Json::EMPTY)),
        })
    }
}

/// The result of `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitializeResult {
    /// The revision that the server chose, as it wrote it.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: Capabilities,
    /// Who the server is.
    pub server_info: Implementation,
    /// What it wants models to know.
    pub instructions: Option<String>,
}

impl InitializeResult {
    /// Reads it; only the revision cannot be done without.
    pub fn read(result: Json<'_>) -> Result<Self, Missing> {
        Ok(Self {
            protocol_version: text(result, "protocolVersion")?,
            capabilities: Capabilities::read(result.get("capabilities")),
            server_info: Implementation::read(result.get("serverInfo").unwrap_or(Json::EMPTY)),
            instructions: instructions(result),
        })
    }
}

/// The result of `server/discover`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoverResult {
    /// The revisions that the server speaks, as it wrote them.
    pub supported_versions: Vec<String>,
    /// What the server can do.
    pub capabilities: Capabilities,
    /// Who the server is, if it says so.
    pub server_info: Option<Implementation>,
    /// What it wants models to know.
    pub instructions: Option<String>,
    /// For how long and for whom this may be kept.
    pub cache: CacheHint,
}

impl DiscoverResult {
    /// Reads it; a result without `supportedVersions` comes from something else.
    pub fn read(result: Json<'_>) -> Result<Self, Missing> {
        let versions = result.get("supportedVersions").ok_or(Missing("supportedVersions"))?;
        let names = versions.elements().filter_map(Json::string).map(String::from);
        let supported_versions: Vec<_> = names.collect();
        if supported_versions.is_empty() {
            return Err(Missing("supportedVersions"));
        }
        let info = peek::meta(result).and_then(|of| of.get(meta::SERVER_INFO));
        Ok(Self {
            supported_versions,
            capabilities: Capabilities::read(result.get("capabilities")),
            server_info: info.map(Implementation::read),
            instructions: instructions(result),
            cache: CacheHint::read(result),
        })
    }
}

fn text(of: Json<'_>, key: &'static str) -> Result<String, Missing> {
    of.get(key).and_then(Json::string).map(String::from).ok_or(Missing(key))
}

fn instructions(result: Json<'_>) -> Option<String> {
    result.get("instructions").and_then(Json::string_lossy).map(String::from)
}
