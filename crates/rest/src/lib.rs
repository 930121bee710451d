//! The hub over REST: one table of routes, one file for each operation. Never decides what runs:
//! every change goes to the store, and the hub is asked to make it so before the answer returns.

mod answers;
mod api;
mod error;
mod gate;
mod input;
mod ops;
mod origins;
pub mod port;
mod table;
mod view;
mod who;

pub use api::{Api, Parts, openapi};
pub use error::Problem;
pub use table::{Access, ROUTES, Route};
pub use who::{Caller, Local};
