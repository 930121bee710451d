//! Sends spans to the collector, batch by batch. A collector that is away is tried again for a
//! while; then its batch is dropped, counted and said.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::span::Span;
use super::target::Target;
use super::{Tally, otlp};

/// A span waits at most so long before it is sent.
const INTERVAL: Duration = Duration::from_secs(1);
/// So many are sent together, at most.
const BATCH: usize = 512;
/// A request may take so long.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often a batch is tried.
const TRIES: u32 = 5;
/// The wait before the second try; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// A collector may ask for a longer one, up to this.
const LONGEST: Duration = Duration::from_secs(30);
/// An answer says little; the rest of a long one is not read.
const ANSWER: usize = 64 * 1024;

pub(super) struct Sender {
    target: Target,
    client: Client,
    tally: Arc<Tally>,
    is_failing: bool,
}

/// Why a batch was not taken.
enum Refused {
    /// It may be taken later, not before this.
    ForNow(String, Option<Duration>),
    /// It never will be.
    ForGood(String),
}

impl Sender {
    pub(super) fn new(target: Target, client: Client, tally: Arc<Tally>) -> Self {
        Self { target, client, tally, is_failing: false }
    }

    pub(super) async fn run(
        mut self,
        mut spans: mpsc::Receiver<Span>,
        end: CancellationToken,
        give_up: CancellationToken,
    ) {
        let tally = self.tally.clone();
        let mut batch = Vec::with_capacity(BATCH);
        let mut is_last = false;
        while !is_last {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = tally.many.notified() => {}
                () = end.cancelled() => {
                    // What comes now finds it closed, and counts as dropped.
                    spans.close();
                    is_last = true;
                }
            }
            loop {
                let room = std::iter::from_fn(|| spans.try_recv().ok()).take(BATCH);
                batch.extend(room);
                if batch.is_empty() {
                    break;
                }
                tally.in_hand.store(batch.len(), Ordering::Relaxed);
                let taken = tokio::select! {
                    biased;
                    taken = self.send(&batch, &end) => taken,
                    () = give_up.cancelled() => 0,
                };
                let lost = (batch.len() as u64).saturating_sub(taken);
                tally.sent.fetch_add(taken, Ordering::Relaxed);
                tally.dropped.fetch_add(lost, Ordering::Relaxed);
                tally.in_hand.store(0, Ordering::Relaxed);
                batch.clear();
            }
        }
    }

    /// How many of a batch were taken in the end.
    async fn send(&mut self, batch: &[Span], end: &CancellationToken) -> u64 {
        let body = otlp::request(batch, &self.target.service);
        let mut pause = PAUSE;
        for left in (0..TRIES).rev() {
            let (why, asked) = match self.post(body.clone()).await {
                Ok(rejected) => {
                    self.say_recovered();
                    return (batch.len() as u64).saturating_sub(rejected);
                }
                Err(Refused::ForNow(why, asked)) => (why, asked),
                Err(Refused::ForGood(why)) => {
                    self.say_failing(&why);
                    return 0;
                }
            };
            self.say_failing(&why);
            // At the end nobody waits for a collector that is away.
            if left == 0 || end.is_cancelled() {
                break;
            }
            tokio::select! {
                () = tokio::time::sleep(asked.unwrap_or(pause).clamp(pause, LONGEST)) => {}
                () = end.cancelled() => {}
            }
            pause *= 2;
        }
        0
    }

    /// One try; how many of its spans the collector did not want.
    async fn post(&self, body: String) -> Result<u64, Refused> {
        let mut request = self.client.post(self.target.url.expose()).timeout(TIMEOUT);
        request = request.header(CONTENT_TYPE, "application/json");
        for (name, value) in &self.target.headers {
            request = request.header(name, value.expose());
        }
        let failed = |error: reqwest::Error| {
            let mut cause: &dyn std::error::Error = &error.without_url();
            let mut why = cause.to_string();
            while let Some(next) = cause.source() {
                why = format!("{why}: {next}");
                cause = next;
            }
            Refused::ForNow(why, None)
        };
        let mut answer = request.body(body).send().await.map_err(failed)?;
        let status = answer.status();
        if !status.is_success() {
            let asked = answer.headers().get(RETRY_AFTER).and_then(|text| text.to_str().ok());
            let asked = asked.and_then(|text| text.parse().ok()).map(Duration::from_secs);
            let why = format!("it answered {status}");
            return Err(match is_passing(status) {
                true => Refused::ForNow(why, asked),
                false => Refused::ForGood(why),
            });
        }
        let mut said = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(failed)? {
            said.extend_from_slice(&part);
            if said.len() > ANSWER {
                break;
            }
        }
        Ok(otlp::rejected(&said))
    }

    fn say_failing(&mut self, why: &str) {
        if !std::mem::replace(&mut self.is_failing, true) {
            tracing::warn!(
                "traces do not arrive at the collector, {why}; they are kept for a while and then \
                 dropped, calls go on. It must take OTLP over HTTP, as a rule on port 4318"
            );
        }
    }

    fn say_recovered(&mut self) {
        if std::mem::replace(&mut self.is_failing, false) {
            tracing::info!("traces arrive at the collector again");
        }
    }
}

/// What OTLP says may be tried again.
fn is_passing(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}
