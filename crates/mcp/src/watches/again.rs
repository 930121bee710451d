//! Asking servers again for what they do not tell of, though somebody wants to hear of it: one that is there
//! anew, and one that has taken back what it agreed to. Never tells anybody that they are not heard: no revision
//! has a word for it.

use std::sync::Arc;

use switchboard_core::port::CallError;
use switchboard_model::ServerKey;
use switchboard_wire::code;
use tokio::time::sleep;

use super::Place;
use crate::endpoint::Inner;
use crate::patience::wait;

/// How often a server is asked, in the course of some twenty minutes. Whoever comes after that asks for themselves, and
/// so does whatever changes at that server.
const TRIES: u32 = 12;

impl Inner {
    /// A server is there again, and perhaps another one than before: it is asked for what it has not agreed to. What
    /// happened meanwhile was told to nobody, so whoever hears of it from now on is told to look.
    pub(crate) fn ask_again(self: &Arc<Self>, server: &ServerKey) {
        for (place, who, agreed) in self.watches.unagreed(server) {
            let inner = self.clone();
            self.tasks.spawn(self.stop.clone().run_until_cancelled_owned(async move {
                match inner.agree(agreed, &who, &place).await {
                    Ok(()) => inner.resource_updated(&place.0, &place.1),
                    Err(error) => {
                        tracing::warn!(server = %place.0, %error, "not subscribed again");
                        inner.ask_later(place);
                    }
                }
            }));
        }
    }

    /// A server does not tell any more of a resource, by its own URI. Nobody is promised it until it agrees anew.
    pub(crate) fn resource_untold(self: &Arc<Self>, server: &ServerKey, uri: &str) {
        let place = (server.clone(), uri.to_owned());
        if self.watches.forget_agreed_to(&place) {
            self.ask_later(place);
        }
    }

    /// Asks later and later, while somebody wants to hear of it.
    fn ask_later(self: &Arc<Self>, place: Place) {
        if !self.watches.pursue(&place) {
            return;
        }
        let inner = self.clone();
        self.tasks.spawn(self.stop.clone().run_until_cancelled_owned(async move {
            for tries in 0..TRIES {
                if inner.watches.pursued(&place).is_none() {
                    return;
                }
                sleep(wait(tries)).await;
                let Some((who, agreed)) = inner.watches.pursued(&place) else { return };
                match inner.agree(agreed, &who, &place).await {
                    Ok(()) => inner.resource_updated(&place.0, &place.1),
                    // It has no such thing, and will not have it before it is another one.
                    Err(CallError::Rpc(error)) if error.code == code::METHOD_NOT_FOUND => break,
                    Err(error) => {
                        tracing::debug!(server = %place.0, %error, "not subscribed again")
                    }
                }
            }
            inner.watches.let_go(&place);
        }));
    }
}
