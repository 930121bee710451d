//! The path itself, and what each of its steps does with a port's answer.

use switchboard_model::Decision;
use switchboard_wire::{JsonBuf, Params, method, output};

use super::record::Recording;
use super::resolve::Way;
use super::towards::fitting;
use super::{Request, Router, complete, related};
use crate::port::{Answer, Call, CallError, Caller, Checked, Verdict};
use crate::registry::{Home, Part, View};
use crate::trim;

impl Router {
    /// Makes a call and brings its result, in the caller's words. Dropping the future cancels it,
    /// which is recorded too.
    pub async fn call(&self, request: &Request<'_>, caller: &Caller) -> Result<JsonBuf, CallError> {
        let target = match self.resolve(request) {
            Ok(Way::Server(target)) => target,
            Ok(Way::Kept(kept)) => return self.kept(request, &kept, caller).await,
            Err(error) => return Err(self.unresolved(request, error)),
        };
        let call = target.call(request);
        let mut recording = Recording::begin(&self.0.ports, call);
        let (to, params) = ((request.view, target.part), target.params(request));
        let result = self.run(&call, to, params, caller, &mut recording).await;
        recording.end(&result);
        let result = result.map_err(|error| target.failed(request.method, error))?;
        let result = self.towards(request.view, request.who, target.part, request.method, result);
        Ok(fitting(target.part, request.method, caller, result))
    }

    /// From the decision to the trimmed result.
    async fn run(
        &self,
        call: &Call<'_>,
        to: (&View, &Part),
        params: Params<'_>,
        caller: &Caller,
        recording: &mut Recording<'_>,
    ) -> Result<JsonBuf, CallError> {
        let verdict = self.decide(call)?;
        recording.decided(&verdict);
        self.approve(call, &verdict, caller).await?;
        let changed = self.guard_request(call)?;
        let params = changed.as_ref().map_or(params, |changed| changed.as_json().into());
        let traced = recording.span().and_then(|span| output::below(params.json(), span));
        let params = traced.as_ref().map_or(params, |traced| traced.as_json().into());
        let result = match self.send(call, to, params, caller).await {
            Ok(result) => result,
            Err(error) if complete::is_unknown(call, &error) => output::no_suggestions(),
            Err(error) => return Err(trim::failure(call, to.0, error, &self.0.results)),
        };
        recording.received(&result);
        let result = self.guard_result(call, result)?;
        let trimmed = trim::trim(call, to.0, result, &self.0.results);
        recording.cut(trimmed.cut);
        Ok(trimmed.result)
    }

    /// No decision is a refusal.
    pub(super) fn decide(&self, call: &Call<'_>) -> Result<Verdict, CallError> {
        self.0.ports.decide.decide(call).map_err(|error| denied(error.to_string()))
    }

    pub(super) async fn approve(
        &self,
        call: &Call<'_>,
        verdict: &Verdict,
        caller: &Caller,
    ) -> Result<(), CallError> {
        match verdict.decision {
            Decision::Allow => Ok(()),
            Decision::Deny => Err(denied(verdict.reason.clone())),
            Decision::Ask => match self.0.ports.decide.approve(call, verdict, caller).await {
                Ok(Answer::Approved) => Ok(()),
                Ok(Answer::Refused(reason)) => Err(denied(reason)),
                Err(error) => Err(denied(error.to_string())),
            },
        }
    }

    pub(super) fn guard_request(&self, call: &Call<'_>) -> Result<Option<JsonBuf>, CallError> {
        match self.0.ports.guard.request(call) {
            Ok(Checked::Pass) => Ok(None),
            Ok(Checked::Replaced(params)) => Ok(Some(params)),
            Err(blocked) => Err(CallError::Blocked { reason: blocked.0 }),
        }
    }

    pub(super) fn guard_result(
        &self,
        call: &Call<'_>,
        result: JsonBuf,
    ) -> Result<JsonBuf, CallError> {
        match self.0.ports.guard.result(call, &result) {
            Ok(Checked::Pass) => Ok(result),
            Ok(Checked::Replaced(result)) => Ok(result),
            Err(blocked) => Err(CallError::Blocked { reason: blocked.0 }),
        }
    }

    async fn send(
        &self,
        call: &Call<'_>,
        (view, part): (&View, &Part),
        params: Params<'_>,
        caller: &Caller,
    ) -> Result<JsonBuf, CallError> {
        if complete::is_beyond(call) {
            return Ok(output::no_suggestions());
        }
        let ports = &self.0.ports;
        match (part.offer.home, &ports.hub) {
            (Home::Outside, _) if call.method == method::TASKS_RESULT => {
                // In a box: calls of anything else would carry it along.
                Box::pin(async move {
                    let caller = related::to_task(call, caller);
                    ports.servers.call(&part.key, call.method, Some(params), &caller).await
                })
                .await
            }
            (Home::Outside, _) => {
                ports.servers.call(&part.key, call.method, Some(params), caller).await
            }
            (Home::Hub, Some(hub)) => hub.call(call, view, params.json()).await,
            (Home::Hub, None) => Err(CallError::Unknown),
        }
    }
}

fn denied(reason: impl Into<String>) -> CallError {
    CallError::Denied { reason: reason.into() }
}
