//! Counts for Prometheus, of what the caller sees. Names of servers and tools are labels; nothing else
//! that anybody wrote is in it.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use switchboard_core::{Kind, Surface};
use switchboard_model::ServerKey;
use switchboard_store::{CLASSES, ServerCalls};
use switchboard_upstream::Status;

use crate::answers::Guarded;
use crate::api::Api;
use crate::port::Spans;
use crate::view::server::key_id;
use crate::who::Caller;

/// Shows metrics
///
/// In Prometheus's text format, of the servers that the caller sees.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "hub",
    responses((status = 200, body = String, content_type = "text/plain"), Guarded)
)]
pub(super) async fn metrics(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
) -> Response {
    let status = api.upstreams().status();
    let seen: Vec<&Status> =
        status.iter().filter(|status| caller.sees(&status.key, api.store())).collect();
    let mut text = Text::default();
    servers(&mut text, &seen);
    if let Some(recorder) = api.recorder() {
        let mut calls = recorder.calls();
        calls.retain(|server, _| caller.sees(server, api.store()));
        self::calls(&mut text, &calls);
    }
    if caller.is_administrator() {
        hub(&mut text, &api);
    }
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text.0).into_response()
}

/// A name, what it means, and its value for a server.
type Gauge = (&'static str, &'static str, fn(&Status) -> u64);

fn servers(text: &mut Text, seen: &[&Status]) {
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    seen.iter().for_each(|status| *states.entry(status.state.code()).or_default() += 1);
    text.head("switchboard_servers", "gauge", "Servers by state.");
    for (state, count) in states {
        text.sample("switchboard_servers", &[("state", state)], count);
    }
    let each: [Gauge; 5] = [
        ("switchboard_server_up", "Whether it is connected.", |status| {
            u64::from(status.state.is_connected())
        }),
        ("switchboard_server_failures", "Tries that failed in a row.", |status| {
            u64::from(status.state.failures())
        }),
        ("switchboard_server_tools", "Tools it offers.", |status| status.counts.tools as u64),
        ("switchboard_server_calls_in_flight", "Calls under way.", |status| {
            u64::from(status.in_flight)
        }),
        ("switchboard_server_calls_served", "Calls of this connection.", |status| status.served),
    ];
    for (name, help, value) in each {
        text.head(name, "gauge", help);
        for status in seen {
            text.sample(name, &[("server", &key_id(&status.key))], value(status));
        }
    }
}

fn calls(text: &mut Text, servers: &BTreeMap<ServerKey, ServerCalls>) {
    let name = "switchboard_calls_total";
    text.head(name, "counter", "Calls since the start, by how they ended.");
    for (server, counts) in servers {
        for (tool, outcomes) in &counts.calls {
            for (outcome, count) in outcomes {
                let labels = [("server", &*key_id(server)), ("tool", tool), ("outcome", outcome)];
                text.sample(name, &labels, count);
            }
        }
    }
    let name = "switchboard_call_duration_seconds";
    text.head(name, "histogram", "How long calls took that reached the server.");
    for (server, counts) in servers {
        let (server, durations) = (key_id(server), &counts.durations);
        let ends = CLASSES.iter().map(|end| Duration::from_millis(*end).as_secs_f64().to_string());
        let mut below = 0;
        for (end, count) in ends.chain(["+Inf".to_owned()]).zip(durations.classes) {
            below += count;
            let labels = [("server", &*server), ("le", &*end)];
            text.sample(&format!("{name}_bucket"), &labels, below);
        }
        let labels = [("server", &*server)];
        text.sample(&format!("{name}_sum"), &labels, durations.sum.as_secs_f64());
        text.sample(&format!("{name}_count"), &labels, durations.count());
    }
}

fn hub(text: &mut Text, api: &Api) {
    let everything = api.registry().load().everything(&Surface::model());
    text.head("switchboard_tools", "gauge", "Tools on offer.");
    text.sample("switchboard_tools", &[], everything.count(Kind::Tools));
    if let Some(counters) = api.recorder().map(switchboard_store::Recorder::counters) {
        let (written, dropped) = (counters.written, counters.dropped);
        text.count("switchboard_records_written_total", "Records in the store.", written);
        text.count("switchboard_records_dropped_total", "Records lost.", dropped);
        text.head("switchboard_records_queued", "gauge", "Records that wait.");
        text.sample("switchboard_records_queued", &[], counters.queued);
    }
    if let Some(counters) = api.spans().map(Spans::counters) {
        text.count("switchboard_spans_sent_total", "Spans at the collector.", counters.sent);
        text.count("switchboard_spans_dropped_total", "Spans lost.", counters.dropped);
        text.head("switchboard_spans_queued", "gauge", "Spans that wait.");
        text.sample("switchboard_spans_queued", &[], counters.queued);
    }
}

/// Prometheus's text format.
#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn count(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.sample(name, &[], value);
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(name, value)| format!("{name}=\"{}\"", quoted(value))).collect();
        let _ = match labels.is_empty() {
            true => writeln!(self.0, "{name} {value}"),
            false => writeln!(self.0, "{name}{{{}}} {value}", labels.join(",")),
        };
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
