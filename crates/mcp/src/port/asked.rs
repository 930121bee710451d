//! What a session's client is asked: on the call's stream; once nobody can read that, on the session's
//! own. Where that is not read either, the server hears at once that nobody is there.

use std::sync::Arc;

use switchboard_core::port::{Progressed, RpcError};
use switchboard_wire::{Edit, Era, JsonBuf, code, meta, method, peek, rewrite, write};
use tokio::time::timeout;

use super::{Asking, Hearing, Port, Speech, beyond, sampling, silence};
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

    /// Asks whatever the client can be asked; how far it is with that goes to `progressed`.
    pub(super) async fn ask(
        &self,
        asked: &str,
        params: Option<JsonBuf>,
        progressed: Option<Progressed>,
    ) -> Input {
        let known = [method::ELICIT, method::CREATE_MESSAGE, method::ROOTS_LIST];
        let asked = known.into_iter().find(|known| *known == asked);
        let Some(asked) = asked.filter(|_| self.asking == Asking::Allowed) else {
            return Err(RpcError::new(code::METHOD_NOT_FOUND, "Method not found"));
        };
        if let Some(needed) = self.lacks(asked, params.as_ref()) {
            self.lock().missing = Some(needed);
            if self.speech.era() == Era::Stateless {
                self.hold_back().await;
            }
            let text = format!("the client behind this call does not support `{asked}`");
            return Err(RpcError::new(code::METHOD_NOT_FOUND, &text));
        }
        let params = match asked {
            method::CREATE_MESSAGE => sampling::fitting(params, self.abilities(), self.revision()),
            _ => params,
        };
        match &self.speech {
            Speech::Session(session) => {
                self.ask_session(session, asked, params.as_ref(), progressed).await
            }
            Speech::Stateless { .. } => self.ask_back(asked, params).await,
        }
    }

    async fn ask_session(
        &self,
        session: &Arc<Session>,
        asked: &str,
        params: Option<&JsonBuf>,
        progressed: Option<Progressed>,
    ) -> Input {
        let (number, answer) = session.ask(progressed);
        let mut message = Vec::new();
        let named = beyond::named(asked, params);
        let params = named.as_ref().or(params);
        let numbered = params.and_then(|params| numbered(params, number));
        let params = numbered.as_ref().or(params);
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

/// With the question's own number as the token for progress, where the server wants to hear of it: that
/// of another server may be the same. `None` if they can stay as they are.
fn numbered(params: &JsonBuf, number: u64) -> Option<JsonBuf> {
    peek::progress_token(params.as_json())?;
    let inside = [Edit::number(meta::PROGRESS_TOKEN, number)];
    rewrite::edited(params.as_json(), &[Edit::inside(meta::META, &inside)]).ok()
}

fn nobody() -> RpcError {
    RpcError::new(code::INTERNAL_ERROR, "the client is gone and cannot be asked")
}

#[cfg(test)]
mod tests;
