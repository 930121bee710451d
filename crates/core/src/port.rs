//! The ports: what the path of a call needs from others, and what it hands to them. Only the words;
//! who stands behind them is decided where everything is wired.

mod caller;
mod error;

pub use caller::{BoxFuture, Caller, ClientPort, Inputs};
pub use error::{CallError, Delivery, RpcError};
