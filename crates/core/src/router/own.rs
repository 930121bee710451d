//! What the router answers itself: results that were kept, and calls of what nobody offers. Both
//! are calls of the hub's own server, decided, guarded and recorded like any other.

use std::sync::LazyLock;

use switchboard_model::{ServerKey, ServerName};
use switchboard_wire::JsonBuf;

use super::record::Recording;
use super::resolve::Kept;
use super::{Request, Router};
use crate::naming::{HOUSE, READ_RESULT};
use crate::port::{Call, CallError, Caller};
use crate::registry::{Home, Offer};
use crate::results;

/// What a call of something that nobody offers is recorded as. Its own name is anybody's to choose,
/// and names that are recorded are kept.
const UNKNOWN: &str = "unknown";

static OWN: LazyLock<(ServerKey, Offer)> = LazyLock::new(|| {
    let tools = results::tool().into_iter().collect();
    (own_key(), Offer { tools, home: Home::Hub, ..Offer::default() })
});

#[expect(clippy::expect_used, reason = "the name is a constant, and the tests read it")]
fn own_key() -> ServerKey {
    ServerKey::global(ServerName::parse(HOUSE).expect("it is a name"))
}

/// The hub's own server, as which it answers.
pub(super) fn house() -> &'static ServerKey {
    &OWN.0
}

impl Router {
    /// Answers from a result that was kept.
    pub(super) async fn kept(
        &self,
        request: &Request<'_>,
        kept: &Kept<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        let subject = match kept {
            Kept::Tool => READ_RESULT,
            // Ids are anybody's to invent.
            Kept::Resource(_) => results::FAMILY,
        };
        let call = own(request, subject);
        let mut recording = Recording::begin(&self.0.ports, call);
        let result = self.answer(&call, kept, caller, &mut recording).await;
        recording.end(&result);
        result
    }

    async fn answer(
        &self,
        call: &Call<'_>,
        kept: &Kept<'_>,
        caller: &Caller,
        recording: &mut Recording<'_>,
    ) -> Result<JsonBuf, CallError> {
        let verdict = self.decide(call)?;
        recording.decided(&verdict);
        self.approve(call, &verdict, caller).await?;
        let changed = self.guard_request(call)?;
        let params = changed.as_ref().map_or(call.params, JsonBuf::as_json);
        let result = self.0.results.answer(call.who, kept, params)?;
        recording.received(&result);
        self.guard_result(call, result)
    }

    /// Takes note of a call that led nowhere.
    pub(super) fn unresolved(&self, request: &Request<'_>, error: CallError) -> CallError {
        let recording = Recording::begin(&self.0.ports, own(request, UNKNOWN));
        recording.led_nowhere();
        error
    }
}

fn own<'c>(request: &Request<'c>, subject: &'c str) -> Call<'c> {
    let (server, offer) = &*OWN;
    Call {
        who: request.who,
        origin: request.origin,
        server,
        offer,
        method: request.method,
        subject,
        published: subject,
        tool: offer.tools.iter().find(|tool| tool.name == subject),
        params: request.params.json(),
        arguments: request.params.arguments(),
        trace: request.trace(),
    }
}
