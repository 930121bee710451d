//! Configuration: text in, desired state out. Reads our own file and every dialect, merges them,
//! finds what is wrong, watches and edits the files. Never connects to anything.

pub mod catalog;
pub mod check;
pub mod clients;
pub mod declared;
mod decode;
pub mod dialect;
mod draft;
pub mod edit;
pub mod environment;
mod expand;
pub mod file;
pub mod internal;
pub mod load;
pub mod locate;
pub mod merge;
pub mod parse;
pub mod schema;
pub mod shape;
pub mod show;
pub mod syntax;
pub mod watch;

pub use clients::Client;
pub use dialect::{Dialect, is_own};
pub use load::{Loaded, LoadedFile, Loader};
pub use locate::{Places, Selection};
pub use merge::Origin;
