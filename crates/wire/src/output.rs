//! Looking into lists, results and notifications on their way to whoever called: names, URIs, ids
//! of tasks, texts; and what a request is about. What is not named stays byte for byte.

mod aim;
mod list;
mod splice;
#[cfg(test)]
mod tests;
mod text;
mod unite;
mod visit;

pub use aim::{Aim, Aimed, aim};
pub use list::{List, listed};
pub use text::{
    Size, cut, error_result, failed, full_text, measure, read_result, reading_tool, text_result,
};
pub use unite::united;
pub use visit::{Hit, Place, is_error, rewritten};
