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

/// Who makes a call.
#[derive(Clone, Copy)]
enum By {
    /// A client of this agent's.
    Agent(&'static str),
    /// A client that does not say whose it is.
    Unknown,
    /// Somebody without a client: over REST, on the command line.
    Nobody,
}

impl By {
    fn waiting(self, turns: &Arc<Turns>) -> Waiting {
        let who = match self {
            Self::Agent(id) => Some(Who::agent(AgentId::parse(id).unwrap(), None)),
            Self::Unknown | Self::Nobody => None,
        };
        let port: Option<Arc<dyn ClientPort>> = match self {
            Self::Agent(_) | Self::Unknown => Some(Arc::new(Client(who))),
            Self::Nobody => None,
        };
        Waiting { port, turns: Some(turns.clone()), ..Waiting::default() }
    }
}

/// Calls by who makes them, and whether their client is being asked.
#[track_caller]
fn check(calls: &[(By, Asked)], expected: Option<u64>) {
    let (table, turns) = (Table::default(), Turns::new(1));
    let pulses: Vec<Arc<Pulse>> = calls.iter().map(|_| Arc::default()).collect();
    for (nth, (by, asked)) in calls.iter().enumerate() {
        let waiting = by.waiting(&turns);
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
    let (cto, dev) = (By::Agent("cto"), By::Agent("dev"));
    check(&[], None);
    check(&[(cto, Asked::Not)], Some(0));
    check(&[(By::Unknown, Asked::Not)], Some(0));
    check(&[(cto, Asked::Not), (cto, Asked::Not)], Some(1));
    check(&[(cto, Asked::Not), (cto, Asked::Now)], Some(0));
    check(&[(cto, Asked::Now), (cto, Asked::Now)], Some(1));
    check(&[(cto, Asked::Not), (dev, Asked::Now)], None);
    check(&[(cto, Asked::Not), (cto, Asked::Not), (dev, Asked::Not)], None);
    check(&[(By::Unknown, Asked::Not), (By::Unknown, Asked::Not)], None);
    // Where there is no client, it is not another's that is asked instead.
    check(&[(cto, Asked::Not), (By::Nobody, Asked::Not)], None);
    check(&[(By::Nobody, Asked::Not), (cto, Asked::Not), (cto, Asked::Not)], None);
    check(&[(By::Nobody, Asked::Not), (By::Nobody, Asked::Not)], None);
}

/// Calls by who makes them, with the task whose result they wait for and whether their client is being
/// asked; whom a question of the task `t` is for.
#[track_caller]
fn check_task(calls: &[(By, &str, Asked)], expected: Option<u64>) {
    let (table, turns) = (Table::default(), Turns::new(1));
    for (nth, (by, task, asked)) in calls.iter().enumerate() {
        let pulse = Arc::<Pulse>::default();
        if *asked == Asked::Now {
            assert_eq!(pulse.hold(1), Some(0));
        }
        let task = Some(*task).filter(|task| !task.is_empty()).map(Arc::from);
        let waiting = Waiting { task, ..by.waiting(&turns) };
        assert!(table.insert(nth as u64, Pending { pulse, waiting }));
    }
    assert_eq!(table.awaits("t"), expected);
}

#[test]
fn a_question_that_names_its_task_goes_to_who_waits_for_that() {
    let (cto, dev) = (By::Agent("cto"), By::Agent("dev"));
    check_task(&[], None);
    check_task(&[(dev, "", Asked::Not)], None);
    check_task(&[(cto, "t", Asked::Not), (cto, "", Asked::Not)], Some(0));
    check_task(&[(cto, "t", Asked::Not), (dev, "", Asked::Not)], Some(0));
    check_task(&[(cto, "t", Asked::Now), (dev, "u", Asked::Not)], Some(0));
    check_task(&[(cto, "t", Asked::Not), (cto, "t", Asked::Not)], Some(1));
    check_task(&[(cto, "t", Asked::Not), (cto, "t", Asked::Now)], Some(0));
}
