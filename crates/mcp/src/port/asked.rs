//! What a session's client is asked: on the call's stream; once nobody can read that, on the session's
//! own. Where that is not read either, the server hears at once that nobody is there.

use std::sync::Arc;

use switchboard_core::port::RpcError;
use switchboard_wire::{JsonBuf, code, method, write};
use tokio::time::timeout;

use super::{Hearing, Port, Speech, beyond, silence};
use crate::outbox::{Outbox, Weight};
use crate::session::{Input, Session};

impl Port {
    /// The client of a session is gone before there was a stream to come back to. What it was asked is
    /// asked on the session's own stream, if that is read; else nobody can answer it.
    pub(crate) fn detach(&self) {
        let Speech::Session(session) = &self.speech else { return };
        let mut state = self.lock();
        state.hearing = Hearing::Nobody;
        let numbers = std::mem::take(&mut state.numbers);
        let unheard = self.out.take_needed();
        match session.streams(|streams| streams.heard()) {
            Some(own) => {
                state.numbers = numbers;
                drop(state);
                unheard.into_iter().for_each(|message| own.push(message, Weight::Needed));
            }
            None => {
                drop(state);
                // Whoever waits is told by that nothing can come any more.
                numbers.into_iter().for_each(|number| drop(session.forget(number)));
            }
        }
    }

    pub(super) async fn ask_session(
        &self,
        session: &Arc<Session>,
        asked: &str,
        params: Option<&JsonBuf>,
    ) -> Input {
        let (number, answer) = session.ask();
        let mut message = Vec::new();
        let named = beyond::named(asked, params);
        let params = named.as_ref().or(params);
        write::request(&mut message, number.into(), asked, params.map(JsonBuf::as_json));
        let Some(out) = self.say(session, number, message) else {
            session.forget(number);
            return Err(nobody());
        };
        let mut waiting = Waiting { port: self, out, session, number, open: true };
        let answer = timeout(self.patience, answer).await;
        let answer = match answer {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(_)) => Some(Err(nobody())),
            Err(_) => None,
        };
        waiting.open = answer.is_none();
        answer.unwrap_or_else(|| Err(silence()))
    }

    /// Puts a question where it can be heard; `None` if that is nowhere.
    fn say(&self, session: &Session, number: u64, message: Vec<u8>) -> Option<Arc<Outbox>> {
        // Until it is there, or nobody could move it when the client is lost.
        let mut state = self.lock();
        let out = match state.hearing {
            Hearing::Stream => self.out.clone(),
            Hearing::Nobody => session.streams(|streams| streams.heard())?,
        };
        state.numbers.push(number);
        out.push(message.into(), Weight::Needed);
        Some(out)
    }
}

/// A question that is open until it is answered; one that is given up is called off.
struct Waiting<'w> {
    port: &'w Port,
    out: Arc<Outbox>,
    session: &'w Session,
    number: u64,
    open: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.port.lock().numbers.retain(|number| *number != self.number);
        if !self.open {
            return;
        }
        self.session.forget(self.number);
        let params = write::object(|params| {
            params.integer("requestId", i64::try_from(self.number).unwrap_or(i64::MAX));
        });
        let mut message = Vec::new();
        write::notification(&mut message, method::CANCELLED, Some(params.as_json()));
        self.out.push(message.into(), Weight::Notice);
    }
}

fn nobody() -> RpcError {
    RpcError::new(code::INTERNAL_ERROR, "the client is gone and cannot be asked")
}

#[cfg(test)]
mod tests;
