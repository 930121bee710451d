//! Looking into lists, results and notifications on their way to whoever called: names, URIs, ids
//! of tasks, texts; and what a request is about. What is not named stays byte for byte.

mod aim;
mod begun;
mod below;
mod failure;
mod introduced;
mod list;
mod narrow;
mod splice;
#[cfg(test)]
mod tests;
mod text;
mod unite;
mod visit;

pub use aim::{Aim, Aimed, aim};
pub use begun::{TASK_ID, begun};
pub use below::below;
pub use failure::{failed_at, failed_uri, not_found};
pub use introduced::Giver;
pub use list::{List, listed};
pub use narrow::{narrow_result, narrow_tool};
pub use text::{
    Size, cut, error_result, failed, full_result, full_text, measure, no_suggestions, read_part,
    read_result, reading_tool, text_result, text_template,
};
pub use unite::united;
pub use visit::{Hit, Place, is_error, rewritten};
