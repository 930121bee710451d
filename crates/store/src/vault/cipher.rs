//! One key and what it seals: XChaCha20-Poly1305, whose nonces are long enough to be random.
//! Never knows what the bytes mean.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The first byte of everything sealed, so that another cipher can come one day.
const VERSION: u8 = 1;
const NONCE: usize = 24;

/// Thirty-two secret bytes.
#[derive(Clone)]
pub(super) struct Key(Zeroizing<[u8; 32]>);

impl Key {
    pub(super) fn random() -> Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut())?;
        Ok(Self(bytes))
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(Zeroizing::new(bytes.try_into().ok()?)))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Seals `plain`, bound to `bound_to`, which is not stored.
    pub(super) fn seal(&self, plain: &[u8], bound_to: &[u8]) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce)?;
        let sealed = self
            .cipher()
            .encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: bound_to })
            .map_err(|_| Error::Refused("the value is too long to be sealed"))?;
        Ok([&[VERSION][..], &nonce, &sealed].concat())
    }

    /// Opens what this key sealed for the same place.
    pub(super) fn open(&self, sealed: &[u8], bound_to: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (version, rest) = sealed.split_first()?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().filter(|_| *version == VERSION)?;
        let payload = Payload { msg: sealed, aad: bound_to };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).ok().map(Zeroizing::new)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.bytes().into())
    }
}
