//! A person as the API shows them.

use serde::Serialize;
use switchboard_store::User;
use utoipa::ToSchema;

use super::time::time;

/// A person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserView {
    /// Who.
    pub(crate) id: String,
    /// What they are called.
    pub(crate) name: String,
    /// `administrator` or `member`.
    pub(crate) role: String,
    /// Whether they can sign in with a password.
    pub(crate) has_password: bool,
    /// Since when they are known.
    pub(crate) created_at: String,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        Self {
            id: user.id.to_string(),
            name: user.name.clone(),
            role: user.role.as_str().to_owned(),
            has_password: user.has_password,
            created_at: time(user.created_at),
        }
    }
}
