//! Who is at the other end and what it can do, and how requests to it are marked.

use switchboard_wire::types::{Capabilities, DiscoverResult, Implementation, InitializeResult};
use switchboard_wire::{Edit, Era, Json, JsonBuf, Revision, meta, rewrite, write};

use crate::context::Identity;

/// What a page is that a server brings along, by the extension for those.
const UI_PAGE: &str = "text/html;profile=mcp-app";

/// A server as it introduced itself.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The revision that both speak.
    pub revision: Revision,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Its name and version.
    pub server: Implementation,
    /// What it wants models to know.
    pub instructions: Option<String>,
    pub(crate) client: JsonBuf,
}

impl Peer {
    /// Its era.
    pub fn era(&self) -> Era {
        self.revision.era()
    }

    pub(crate) fn from_initialize(
        result: InitializeResult,
        revision: Revision,
        identity: &Identity,
    ) -> Self {
        Self {
            revision,
            capabilities: able(result.capabilities, revision),
            server: result.server_info,
            instructions: result.instructions,
            client: client_info(identity),
        }
    }

    pub(crate) fn from_discover(
        result: DiscoverResult,
        revision: Revision,
        identity: &Identity,
    ) -> Self {
        Self {
            revision,
            capabilities: result.capabilities,
            server: result.server_info.unwrap_or_else(|| Implementation::read(Json::EMPTY)),
            instructions: result.instructions,
            client: client_info(identity),
        }
    }

    /// The params of a request of the hub's own.
    pub(crate) fn own(&self, params: Json<'_>) -> JsonBuf {
        match self.era() {
            Era::Session => params.into(),
            Era::Stateless => stamped(params, self.revision, &self.client),
        }
    }

    /// `name version`, as far as it said.
    pub fn title(&self) -> String {
        format!("{} {}", self.server.name, self.server.version).trim().to_owned()
    }
}

/// What a server can do that has no word for all of it: in the first revision any may complete.
fn able(capabilities: Capabilities, revision: Revision) -> Capabilities {
    if revision > Revision::V2024_11_05 {
        return capabilities;
    }
    let completes = [Edit::default("completions", Json::EMPTY)];
    match rewrite::edited(capabilities.raw(), &completes) {
        Ok(able) => Capabilities::read(Some(able.as_json())),
        Err(_) => capabilities,
    }
}

/// Params with what a stateless-era request says about itself.
pub(crate) fn stamped(params: Json<'_>, revision: Revision, client: &JsonBuf) -> JsonBuf {
    let abilities = abilities(revision);
    let about = [
        Edit::text(meta::PROTOCOL_VERSION, revision.as_str()),
        Edit::set(meta::CLIENT_CAPABILITIES, abilities.as_json()),
        Edit::set(meta::CLIENT_INFO, client.as_json()),
    ];
    // Params of our own have nothing twice.
    rewrite::edited(params, &[Edit::inside(meta::META, &about)]).unwrap_or_else(|_| params.into())
}

/// What clients can do in general: what the one behind a call cannot, it is not asked. A server is told so
/// in either era, since some list only what a client can use.
pub(crate) fn abilities(revision: Revision) -> JsonBuf {
    write::object(|abilities| {
        abilities.object("roots", |_| {});
        abilities.object("sampling", |kinds| {
            if revision >= Revision::V2025_11_25 {
                kinds.object("tools", |_| {});
                kinds.object("context", |_| {});
            }
        });
        abilities.object("extensions", |extensions| {
            extensions.object(meta::APPS_EXTENSION, |ui| ui.texts("mimeTypes", [UI_PAGE]));
        });
        if revision >= Revision::V2025_11_25 {
            abilities.object("elicitation", |modes| {
                modes.object("form", |_| {});
                modes.object("url", |_| {});
            });
        } else if revision >= Revision::V2025_06_18 {
            abilities.object("elicitation", |_| {});
        }
    })
}

/// How the hub introduces itself.
pub(crate) fn client_info(identity: &Identity) -> JsonBuf {
    write::object(|info| {
        info.text("name", &identity.name);
        info.text("version", &identity.version);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use switchboard_wire::Limits;

    #[test]
    fn any_server_of_the_first_revision_may_complete() {
        let check = |revision, said: &str, able: &str| {
            let said = Json::parse(said.as_bytes(), &Limits::DEFAULT).unwrap();
            let able_to = super::able(Capabilities::read(Some(said)), revision);
            assert_eq!(able_to.raw().as_str(), able);
        };
        let (prompts, both) = (r#"{"prompts":{}}"#, r#"{"prompts":{},"completions":{}}"#);
        check(Revision::V2024_11_05, prompts, both);
        check(Revision::V2025_03_26, prompts, prompts);
        check(Revision::V2025_03_26, both, both);
    }
}
