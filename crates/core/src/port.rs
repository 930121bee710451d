//! The ports: what the path of a call needs from others, and what it hands to them. Only the words;
//! who stands behind them is decided where everything is wired.

mod call;
mod caller;
mod decide;
mod error;
mod guard;
mod record;
mod servers;
mod trace;

pub use call::{Behind, Call, LONGEST_NAME, LONGEST_TRACE, Who};
pub use caller::{BoxFuture, Caller, ClientPort, Inputs, Progressed, Wish};
pub use decide::{AllowAll, Answer, Decide, Undecided, Verdict};
pub use error::{CallError, Delivery, RpcError, Thing};
pub use guard::{Blocked, Checked, Guard, PassAll};
pub use record::{Done, Record, RecordNothing};
pub use servers::{House, Servers};
pub use trace::Trace;
