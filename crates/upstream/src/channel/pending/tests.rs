//! Which call a server asks for that does not say so.

use switchboard_core::port::{BoxFuture, RpcError, Who};
use switchboard_model::AgentId;

use super::*;

struct Client(Option<Who>);

impl ClientPort for Client {
    fn who(&self) -> Option<&Who> {
        self.0.as_ref()
    }

    fn request<'a>(
        &'a self,
        _: &'a str,
        _: Option<JsonBuf>,
    ) -> BoxFuture<'a, Result<JsonBuf, RpcError>> {
        Box::pin(std::future::ready(Err(RpcError::new(0, "no"))))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Now,
    Not,
}

/// Calls by who makes them, and whether their client is being asked.
#[track_caller]
fn check(calls: &[(Option<&str>, Asked)], expected: Option<u64>) {
    let table = Table::default();
    let pulses: Vec<Arc<Pulse>> = calls.iter().map(|_| Arc::default()).collect();
    for (nth, (who, asked)) in calls.iter().enumerate() {
        let who = who.map(|id| Who::agent(AgentId::parse(id).unwrap(), None));
        let port: Arc<dyn ClientPort> = Arc::new(Client(who));
        let waiting = Waiting { port: Some(port), ..Waiting::default() };
        assert!(table.insert(nth as u64, Pending { pulse: pulses[nth].clone(), waiting }));
        if *asked == Asked::Now {
            assert_eq!(pulses[nth].hold(1), Some(0));
        }
    }
    // The hub's own requests have nobody behind them.
    let own = Pending { pulse: Arc::default(), waiting: Waiting::default() };
    assert!(table.insert(100, own));
    assert_eq!(table.likely(), expected);
}

#[test]
fn a_question_without_a_call_goes_to_one_caller_only() {
    let (cto, dev) = (Some("cto"), Some("dev"));
    check(&[], None);
    check(&[(cto, Asked::Not)], Some(0));
    check(&[(None, Asked::Not)], Some(0));
    check(&[(cto, Asked::Not), (cto, Asked::Not)], Some(1));
    check(&[(cto, Asked::Not), (cto, Asked::Now)], Some(0));
    check(&[(cto, Asked::Now), (cto, Asked::Now)], Some(1));
    check(&[(cto, Asked::Not), (dev, Asked::Now)], None);
    check(&[(cto, Asked::Not), (cto, Asked::Not), (dev, Asked::Not)], None);
    check(&[(None, Asked::Not), (None, Asked::Not)], None);
}
