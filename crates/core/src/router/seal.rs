//! Ids of tasks that say which server made them and for whom, sealed so that nobody else can use
//! or guess them. Keeps nothing: any hub with the same key can open them.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use switchboard_model::{Scope, ServerKey};

use crate::port::{Behind, Who};
use crate::registry::{Part, View};

/// Bytes of the seal: 128 bits cannot be guessed.
const SEAL: usize = 16;

/// The key of the seals.
pub(super) struct Seal([u8; 32]);

/// A task of a server's.
pub(super) struct Opened<'o> {
    pub(super) part: &'o Part,
    /// The server's own id.
    pub(super) id: &'o str,
}

impl Seal {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The id under which the caller knows a server's task.
    pub(super) fn close(&self, who: &Who, part: &Part, id: &str) -> Option<String> {
        let seal = self.mac(who, &part.key, id)?.finalize().into_bytes();
        Some(format!("{}:{}:{id}", BASE64.encode(&seal[..SEAL]), part.host()))
    }

    /// The task behind an id, if a server of this view made it for this caller.
    pub(super) fn open<'o>(
        &self,
        view: &'o View,
        who: &Who,
        sealed: &'o str,
    ) -> Option<Opened<'o>> {
        let (seal, rest) = sealed.split_once(':')?;
        let (host, id) = rest.split_once(':')?;
        let part = view.part_at(host)?;
        let seal = BASE64.decode(seal).ok().filter(|seal| seal.len() == SEAL)?;
        self.mac(who, &part.key, id)?.verify_truncated_left(&seal).ok()?;
        Some(Opened { part, id })
    }

    /// Bound to the caller, whatever the session: a task outlives it.
    fn mac(&self, who: &Who, server: &ServerKey, id: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        let (scope, owner) = match &server.scope {
            Scope::Global => ("global", ""),
            Scope::User(user) => ("user", user.as_str()),
            Scope::Agent(agent) => ("agent", agent.as_str()),
        };
        let agent = who.agent.as_ref().map_or("", |agent| agent.as_str());
        let user = who.user.as_ref().map_or("", |user| user.as_str());
        for part in [agent, user, scope, owner, server.name.as_str(), id] {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part.as_bytes());
        }
        // Nothing more for the agent itself: ids that were given out stay good.
        match who.behind {
            Behind::Itself => {}
            Behind::Administrator => mac.update(b"administrator"),
        }
        Some(mac)
    }
}
