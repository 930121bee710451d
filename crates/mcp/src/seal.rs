//! What we give to callers to keep: sealed, so that nobody else can make, read or change it. Never
//! decides whether what it says still holds.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use switchboard_core::port::Who;
use switchboard_model::{AgentId, UserId};
use switchboard_wire::write::Object;
use switchboard_wire::{Json, JsonBuf, Limits};

const NONCE: usize = 24;

/// What a seal is for: one kind cannot stand in for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The id of a session.
    Session,
    /// The `requestState` of a call that asks back.
    State,
}

/// The key of the seals.
pub(crate) struct Seal(XChaCha20Poly1305);

impl Seal {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self(XChaCha20Poly1305::new(&key.into()))
    }

    /// Text of visible ASCII that only this key opens; `None` if there is no randomness.
    pub(crate) fn close(&self, purpose: Purpose, plain: Json<'_>) -> Option<String> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).ok()?;
        let payload = Payload { msg: plain.as_bytes(), aad: purpose.label() };
        let sealed = self.0.encrypt(&XNonce::from(nonce), payload).ok()?;
        Some(BASE64.encode([&nonce[..], &sealed].concat()))
    }

    pub(crate) fn open(&self, purpose: Purpose, text: &str) -> Option<JsonBuf> {
        let bytes = BASE64.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE>()?;
        let payload = Payload { msg: sealed, aad: purpose.label() };
        let plain = self.0.decrypt(&XNonce::from(*nonce), payload).ok()?;
        JsonBuf::parse(plain.into(), &Limits::DEFAULT).ok()
    }
}

impl Purpose {
    const fn label(self) -> &'static [u8] {
        match self {
            Self::Session => b"switchboard session 1",
            Self::State => b"switchboard state 1",
        }
    }
}

/// Writes whose it is.
pub(crate) fn put_owner(plain: &mut Object<'_>, who: &Who) {
    if let Some(agent) = &who.agent {
        plain.text("a", agent.as_str());
    }
    if let Some(user) = &who.user {
        plain.text("u", user.as_str());
    }
}

/// Whether it is theirs. Possession is not enough.
pub(crate) fn is_owner(plain: Json<'_>, who: &Who) -> bool {
    let text = |key| plain.get(key).and_then(Json::string);
    text("a").as_deref() == who.agent.as_ref().map(AgentId::as_str)
        && text("u").as_deref() == who.user.as_ref().map(UserId::as_str)
}

/// A number that nobody can guess.
pub(crate) fn random() -> u128 {
    let mut bytes = [0; 16];
    // Without randomness nothing can be sealed either, so nothing is given out under it.
    let _ = getrandom::fill(&mut bytes);
    u128::from_le_bytes(bytes)
}
