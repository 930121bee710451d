//! The table against the revisions' own lists of messages.

use super::*;
use crate::era::Revision::{V2025_03_26, V2026_07_28};

/// The names that `sender` sends in `revision`, in the table's order.
fn sent(revision: Revision, sender: Sender, form: Form) -> Vec<&'static str> {
    let sends = |it: &&Method| it.sender(revision) == Some(sender) && it.form == form;
    TABLE.iter().filter(sends).map(|it| it.name).collect()
}

#[test]
fn rows_are_unique_and_notifications_are_called_so() {
    for (nth, method) in TABLE.iter().enumerate() {
        assert_eq!(lookup(method.name), Some(&TABLE[nth]));
        let notification = method.form == Form::Notification;
        assert_eq!(method.name.starts_with("notifications/"), notification, "{}", method.name);
        assert!(method.session.is_some() || method.stateless.is_some());
    }
    assert_eq!(lookup("tools/"), None);
}

#[test]
fn stateless_era() {
    use Form::{Notification, Request};
    assert_eq!(
        sent(V2026_07_28, Client, Request),
        [
            DISCOVER,
            LISTEN,
            TOOLS_LIST,
            TOOLS_CALL,
            RESOURCES_LIST,
            TEMPLATES_LIST,
            RESOURCES_READ,
            PROMPTS_LIST,
            PROMPTS_GET,
            COMPLETE,
            TASKS_GET,
            TASKS_UPDATE,
            TASKS_CANCEL,
        ]
    );
    assert_eq!(sent(V2026_07_28, Server, Request), [""; 0]);
    assert_eq!(sent(V2026_07_28, Sender::Inside, Request), [CREATE_MESSAGE, ELICIT, ROOTS_LIST]);
    assert_eq!(sent(V2026_07_28, Client, Notification), [""; 0]);
    assert_eq!(sent(V2026_07_28, Both, Notification), [CANCELLED]);
    assert_eq!(
        sent(V2026_07_28, Server, Notification),
        [
            PROGRESS,
            LOG_MESSAGE,
            TOOLS_CHANGED,
            RESOURCES_CHANGED,
            RESOURCE_UPDATED,
            PROMPTS_CHANGED,
            TASK_CHANGED,
            ACKNOWLEDGED,
        ]
    );
}

#[test]
fn session_era() {
    let count = |revision| TABLE.iter().filter(|it| it.sender(revision).is_some()).count();
    let counts = Revision::SUPPORTED.map(count);
    assert_eq!(counts, [25, 31, 25, 24, 24], "newest first");
    let check = |name, revision, expected| {
        assert_eq!(lookup(name).unwrap().sender(revision), expected, "{name} in {revision}");
    };
    check(ELICIT, V2025_03_26, None);
    check(ELICIT, JUN25, Some(Server));
    check(TASKS_LIST, JUN25, None);
    check(TASKS_LIST, NOV25, Some(Both));
    check(TASKS_UPDATE, NOV25, None);
    check(INITIALIZE, NOV24, Some(Client));
    check(INITIALIZE, V2026_07_28, None);
}

#[test]
fn subjects() {
    let named: Vec<_> = TABLE.iter().filter_map(|it| Some((it.name, subject(it.name)?))).collect();
    assert_eq!(
        named,
        [
            (TOOLS_CALL, "name"),
            (RESOURCES_READ, "uri"),
            (PROMPTS_GET, "name"),
            (TASKS_GET, "taskId"),
            (TASKS_UPDATE, "taskId"),
            (TASKS_CANCEL, "taskId"),
        ]
    );
}
