//! Where this hub is: what leads back to it is no server of its own.

use std::net::SocketAddr;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use switchboard_config::is_own;
use switchboard_model::ServerSpec;

use crate::api::Api;
use crate::error::{Problem, Result};

/// The hub's addresses: where it is told to listen, and where whoever asks has found it.
pub(crate) struct Here(Vec<SocketAddr>);

impl FromRequestParts<Api> for Here {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self> {
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.map(|host| host.replacen("localhost:", "127.0.0.1:", 1));
        let asked = host.and_then(|host| host.parse().ok());
        let told = api.hub().declared().desired.hub.listen;
        Ok(Self(std::iter::once(told).chain(asked).collect()))
    }
}

impl Here {
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.0
    }

    /// Refuses a server that leads back here: its tools would be the hub's, and theirs again.
    pub(crate) fn refuse(&self, spec: &ServerSpec) -> Result<()> {
        if !is_own(spec, &self.0) {
            return Ok(());
        }
        let text = format!("`{}` is this hub's own endpoint, not a server", spec.name);
        Err(Problem::invalid(text).remedy("Give the address or the command of another server."))
    }
}
