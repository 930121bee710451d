//! What a server of the stateless era has agreed to tell on one connection: what it was asked for, and
//! what it acknowledged. Never asks, and never tells anybody what comes.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_core::port::{BoxFuture, CallError, ClientPort, RpcError};
use switchboard_wire::types::Filter;
use switchboard_wire::{Json, JsonBuf, code, method};
use tokio::sync::watch;

use crate::channel::Kinds;

/// How often it was asked, and how it stands with the last time.
#[derive(Debug, Default)]
pub(crate) struct Agreement(watch::Sender<Round>);

/// One `subscriptions/listen`. Those of a connection are counted from one.
#[derive(Clone, Debug, Default)]
struct Round {
    number: u64,
    asked: Filter,
    answer: Answer,
    /// What is heard meanwhile: the last round that was acknowledged, as long as its stream is open.
    stands: Option<Standing>,
    /// What it refused last of what somebody waits for, and in which round: the next may have begun before they look.
    refused: BTreeMap<String, (u64, CallError)>,
}

/// What was acknowledged in that round.
#[derive(Clone, Debug)]
struct Standing {
    number: u64,
    /// The last round to which it is the answer: its own, or one that was found to want nothing else.
    answers: u64,
    agreed: Filter,
}

#[derive(Clone, Debug, Default)]
enum Answer {
    #[default]
    Awaited,
    Acknowledged(Filter),
    Refused(CallError),
    /// It cannot be listened to, and is not asked again.
    Never(CallError),
}

impl Agreement {
    /// It is asked for something else: the number of the round, and whom the answer is for. What it agreed to
    /// before stands until then.
    pub(crate) fn begin(self: &Arc<Self>, asked: Filter) -> (u64, Arc<dyn ClientPort>) {
        let number = self.round() + 1;
        self.0.send_modify(|round| {
            (round.number, round.asked, round.answer) = (number, asked, Answer::Awaited);
        });
        (number, Arc::new(Ear { agreement: self.clone(), number }))
    }

    /// What stands since that round is all that is wanted, and the answer to whoever has asked meanwhile; `false` if
    /// something else stands, or a resource is not told of.
    pub(crate) fn confirm(&self, number: u64, wanted: &Filter) -> bool {
        self.0.send_if_modified(|round| {
            let stands = round.stands.as_mut().filter(|stands| stands.number == number);
            let Some(stands) = stands else { return false };
            let is_told = wanted.uris.iter().all(|uri| stands.agreed.uris.contains(uri));
            if is_told {
                (round.number, round.asked) = (round.number + 1, wanted.clone());
                stands.answers = round.number;
                round.refused.retain(|uri, _| !wanted.uris.contains(uri));
                round.answer = Answer::Acknowledged(stands.agreed.clone());
            }
            is_told
        })
    }

    /// The stream of a round that was acknowledged is over.
    pub(crate) fn fell(&self, number: u64) {
        self.0.send_if_modified(|round| {
            let is_it = |stands: &mut Standing| stands.number == number;
            round.stands.take_if(is_it).is_some()
        });
    }

    /// The number of the round that is under way, or was the last.
    pub(crate) fn round(&self) -> u64 {
        self.0.borrow().number
    }

    /// Returns when that round is acknowledged.
    pub(crate) async fn acknowledged(&self, number: u64) {
        let mut rounds = self.0.subscribe();
        let _ = rounds.wait_for(|round| round.is_acknowledged(number)).await;
    }

    /// Whether that round is acknowledged.
    pub(crate) fn is_acknowledged(&self, number: u64) -> bool {
        self.0.borrow().is_acknowledged(number)
    }

    /// What is said in this round is the answer to whoever waits for these, too.
    pub(crate) fn answers(&self, uris: impl Iterator<Item = String>) {
        self.0.send_if_modified(|round| {
            round.asked.uris.extend(uris);
            false
        });
    }

    /// The round is over. If nothing was acknowledged, nothing was agreed upon.
    pub(crate) fn over(&self, ended: &Result<JsonBuf, CallError>) {
        let error = match ended {
            Ok(_) => refused("the server ended the subscription before it acknowledged it"),
            Err(error) => error.clone(),
        };
        self.0.send_if_modified(|round| {
            let is_open = matches!(round.answer, Answer::Awaited);
            if is_open {
                round.refuse(|_| true, &error);
                round.answer = Answer::Refused(error);
            }
            is_open
        });
    }

    /// It cannot be listened to at all.
    pub(crate) fn give_up(&self) {
        self.0.send_modify(|round| {
            let error = match std::mem::take(&mut round.answer) {
                Answer::Refused(error) | Answer::Never(error) => error,
                Answer::Awaited | Answer::Acknowledged(_) => {
                    refused("the server has no subscriptions")
                }
            };
            round.answer = Answer::Never(error);
        });
    }

    /// The lists that it was asked for and of which it does not tell now.
    pub(crate) fn unheard(&self) -> Kinds {
        let round = self.0.borrow();
        match (&round.answer, &round.stands) {
            (Answer::Never(_), _) => Kinds::ALL,
            (_, Some(stands)) => kinds(&round.asked).without(kinds(&stands.agreed)),
            (_, None) => kinds(&round.asked),
        }
    }

    /// Of these resources, those that it was asked for and did not agree to tell of.
    pub(crate) fn untold<'u>(&self, uris: &'u [String]) -> Vec<&'u String> {
        let round = self.0.borrow();
        let agreed = match &round.answer {
            Answer::Acknowledged(agreed) => &agreed.uris[..],
            Answer::Awaited | Answer::Refused(_) | Answer::Never(_) => &[],
        };
        uris.iter().filter(|uri| round.asked.uris.contains(uri) && !agreed.contains(uri)).collect()
    }

    /// Nobody waits for these any more, or nobody has waited until that round: what was said of them before is no answer.
    pub(crate) fn forget(&self, is_over: impl Fn(&str, u64) -> bool) {
        self.0.send_if_modified(|round| {
            round.refused.retain(|uri, (number, _)| !is_over(uri, *number));
            false
        });
    }

    /// Returns when it is known whether it tells of a resource, by a round after that one.
    pub(crate) async fn covers(&self, uri: &str, after: u64) -> Result<(), CallError> {
        let mut rounds = self.0.subscribe();
        let decided = rounds.wait_for(|round| round.says(uri, after).is_some());
        let said = decided.await.ok().and_then(|round| round.says(uri, after));
        said.unwrap_or_else(|| Err(refused("the connection has ended")))
    }
}

impl Round {
    fn is_acknowledged(&self, number: u64) -> bool {
        self.number == number && matches!(self.answer, Answer::Acknowledged(_))
    }

    /// Whether it tells of a resource now by its answer to a round after that one, whatever it is being asked for.
    fn tells(&self, uri: &str, after: u64) -> bool {
        let stands = self.stands.as_ref().filter(|stands| stands.answers > after);
        stands.is_some_and(|stands| stands.agreed.uris.iter().any(|told| told == uri))
    }

    /// Its answer to whoever wants to hear of a resource, if a round after that one has brought any.
    fn says(&self, uri: &str, after: u64) -> Option<Result<(), CallError>> {
        let is_it = |told: &String| told == uri;
        let refused = self.refused.get(uri).filter(|(number, _)| *number > after);
        match (&self.answer, refused) {
            _ if self.tells(uri, after) => Some(Ok(())),
            // Its stream may have ended at once.
            (Answer::Acknowledged(agreed), _)
                if self.number > after && agreed.uris.iter().any(is_it) =>
            {
                Some(Ok(()))
            }
            (_, Some((_, error))) | (Answer::Never(error), None) => Some(Err(error.clone())),
            (Answer::Awaited | Answer::Acknowledged(_) | Answer::Refused(_), None) => None,
        }
    }

    /// What was asked for is refused, where that is said of it.
    fn refuse(&mut self, is_of: impl Fn(&String) -> bool, error: &CallError) {
        let uris = self.asked.uris.iter().filter(|uri| is_of(uri));
        self.refused.extend(uris.map(|uri| (uri.clone(), (self.number, error.clone()))));
    }
}

/// The lists that a filter names.
pub(crate) fn kinds(filter: &Filter) -> Kinds {
    let named = [
        (filter.tools, Kinds::TOOLS),
        (filter.resources, Kinds::RESOURCES),
        (filter.prompts, Kinds::PROMPTS),
    ];
    let named = named.into_iter().filter(|(is_named, _)| *is_named);
    named.fold(Kinds::NONE, |all, (_, kind)| all.with(kind))
}

fn refused(text: &str) -> CallError {
    RpcError::new(code::INVALID_PARAMS, text).into()
}

/// Hears what belongs to one round.
struct Ear {
    agreement: Arc<Agreement>,
    number: u64,
}

impl ClientPort for Ear {
    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        let error = RpcError::new(code::METHOD_NOT_FOUND, "nobody is asked on this stream");
        Box::pin(std::future::ready(Err(error)))
    }

    fn notify(&self, told: &str, params: JsonBuf) {
        if told != method::ACKNOWLEDGED {
            return;
        }
        let agreed = acknowledged(params.as_json());
        self.agreement.0.send_if_modified(|round| {
            let is_ours = round.number == self.number;
            if is_ours {
                let number = self.number;
                let error = refused("the server does not agree to tell when this resource changes");
                round.refused.retain(|uri, _| !agreed.uris.contains(uri));
                round.refuse(|uri| !agreed.uris.contains(uri), &error);
                round.stands = Some(Standing { number, answers: number, agreed: agreed.clone() });
                round.answer = Answer::Acknowledged(agreed);
            }
            is_ours
        });
    }
}

/// What does not say what is honoured honours nothing.
fn acknowledged(params: Json<'_>) -> Filter {
    Filter::read(params).unwrap_or_default()
}
