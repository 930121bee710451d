//! Every method and notification of both eras, who sends it, and since when. Never handles one.

#[cfg(test)]
mod tests;

use crate::era::Era;
use crate::era::Revision::{
    self, V2024_11_05 as NOV24, V2025_06_18 as JUN25, V2025_11_25 as NOV25,
};

macro_rules! names {
    ($($constant:ident = $name:literal;)*) => {
        $(#[doc = concat!("`", $name, "`")] pub const $constant: &str = $name;)*
    };
}

names! {
    INITIALIZE = "initialize";
    PING = "ping";
    DISCOVER = "server/discover";
    LISTEN = "subscriptions/listen";
    TOOLS_LIST = "tools/list";
    TOOLS_CALL = "tools/call";
    RESOURCES_LIST = "resources/list";
    TEMPLATES_LIST = "resources/templates/list";
    RESOURCES_READ = "resources/read";
    SUBSCRIBE = "resources/subscribe";
    UNSUBSCRIBE = "resources/unsubscribe";
    PROMPTS_LIST = "prompts/list";
    PROMPTS_GET = "prompts/get";
    COMPLETE = "completion/complete";
    SET_LEVEL = "logging/setLevel";
    TASKS_GET = "tasks/get";
    TASKS_RESULT = "tasks/result";
    TASKS_LIST = "tasks/list";
    TASKS_UPDATE = "tasks/update";
    TASKS_CANCEL = "tasks/cancel";
    CREATE_MESSAGE = "sampling/createMessage";
    ELICIT = "elicitation/create";
    ROOTS_LIST = "roots/list";
    INITIALIZED = "notifications/initialized";
    CANCELLED = "notifications/cancelled";
    PROGRESS = "notifications/progress";
    LOG_MESSAGE = "notifications/message";
    TOOLS_CHANGED = "notifications/tools/list_changed";
    RESOURCES_CHANGED = "notifications/resources/list_changed";
    RESOURCE_UPDATED = "notifications/resources/updated";
    PROMPTS_CHANGED = "notifications/prompts/list_changed";
    ROOTS_CHANGED = "notifications/roots/list_changed";
    ELICITATION_COMPLETE = "notifications/elicitation/complete";
    TASK_STATUS = "notifications/tasks/status";
    TASK_CHANGED = "notifications/tasks";
    ACKNOWLEDGED = "notifications/subscriptions/acknowledged";
}

/// Whether it wants an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It does.
    Request,
    /// It does not.
    Notification,
}

/// Who sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The agent's side.
    Client,
    /// The tools' side.
    Server,
    /// Either.
    Both,
    /// Nobody as a message: it stands inside of an `input_required` result.
    Inside,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// The name on the wire.
    pub name: &'static str,
    /// Whether it wants an answer.
    pub form: Form,
    /// Who sends it in the session era, and since which revision.
    pub session: Option<(Sender, Revision)>,
    /// Who sends it in the stateless era.
    pub stateless: Option<Sender>,
}

impl Method {
    /// Who sends it in that revision; `None` if it does not have it.
    pub fn sender(&self, revision: Revision) -> Option<Sender> {
        match revision.era() {
            Era::Session => {
                self.session.and_then(|(from, since)| (revision >= since).then_some(from))
            }
            Era::Stateless => self.stateless,
        }
    }
}

/// The row of that name.
pub fn lookup(name: &str) -> Option<&'static Method> {
    TABLE.iter().find(|method| method.name == name)
}

/// The member of `params` that names what the request is about, and that `Mcp-Name` mirrors.
pub fn subject(method: &str) -> Option<&'static str> {
    match method {
        TOOLS_CALL | PROMPTS_GET => Some("name"),
        RESOURCES_READ => Some("uri"),
        TASKS_GET | TASKS_UPDATE | TASKS_CANCEL => Some("taskId"),
        _ => None,
    }
}

const fn request(
    name: &'static str,
    session: Option<(Sender, Revision)>,
    stateless: Option<Sender>,
) -> Method {
    Method { name, form: Form::Request, session, stateless }
}

const fn notification(
    name: &'static str,
    session: Option<(Sender, Revision)>,
    stateless: Option<Sender>,
) -> Method {
    Method { name, form: Form::Notification, session, stateless }
}

use Sender::{Both, Client, Server};

/// All of them.
#[rustfmt::skip]
pub const TABLE: &[Method] = &[
    request(INITIALIZE,      Some((Client, NOV24)), None),
    request(PING,            Some((Both,   NOV24)), None),
    request(DISCOVER,        None,                  Some(Client)),
    request(LISTEN,          None,                  Some(Client)),
    request(TOOLS_LIST,      Some((Client, NOV24)), Some(Client)),
    request(TOOLS_CALL,      Some((Client, NOV24)), Some(Client)),
    request(RESOURCES_LIST,  Some((Client, NOV24)), Some(Client)),
    request(TEMPLATES_LIST,  Some((Client, NOV24)), Some(Client)),
    request(RESOURCES_READ,  Some((Client, NOV24)), Some(Client)),
    request(SUBSCRIBE,       Some((Client, NOV24)), None),
    request(UNSUBSCRIBE,     Some((Client, NOV24)), None),
    request(PROMPTS_LIST,    Some((Client, NOV24)), Some(Client)),
    request(PROMPTS_GET,     Some((Client, NOV24)), Some(Client)),
    request(COMPLETE,        Some((Client, NOV24)), Some(Client)),
    request(SET_LEVEL,       Some((Client, NOV24)), None),
    request(TASKS_GET,       Some((Both,   NOV25)), Some(Client)),
    request(TASKS_RESULT,    Some((Both,   NOV25)), None),
    request(TASKS_LIST,      Some((Both,   NOV25)), None),
    request(TASKS_UPDATE,    None,                  Some(Client)),
    request(TASKS_CANCEL,    Some((Both,   NOV25)), Some(Client)),
    request(CREATE_MESSAGE,  Some((Server, NOV24)), Some(Sender::Inside)),
    request(ELICIT,          Some((Server, JUN25)), Some(Sender::Inside)),
    request(ROOTS_LIST,      Some((Server, NOV24)), Some(Sender::Inside)),
    notification(INITIALIZED,          Some((Client, NOV24)), None),
    notification(CANCELLED,            Some((Both,   NOV24)), Some(Both)),
    notification(PROGRESS,             Some((Both,   NOV24)), Some(Server)),
    notification(LOG_MESSAGE,          Some((Server, NOV24)), Some(Server)),
    notification(TOOLS_CHANGED,        Some((Server, NOV24)), Some(Server)),
    notification(RESOURCES_CHANGED,    Some((Server, NOV24)), Some(Server)),
    notification(RESOURCE_UPDATED,     Some((Server, NOV24)), Some(Server)),
    notification(PROMPTS_CHANGED,      Some((Server, NOV24)), Some(Server)),
    notification(ROOTS_CHANGED,        Some((Client, NOV24)), None),
    notification(ELICITATION_COMPLETE, Some((Server, NOV25)), None),
    notification(TASK_STATUS,          Some((Both,   NOV25)), None),
    notification(TASK_CHANGED,         None,                  Some(Server)),
    notification(ACKNOWLEDGED,         None,                  Some(Server)),
];
