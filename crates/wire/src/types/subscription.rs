//! What a `subscriptions/listen` request asks to hear, and what its acknowledgement promises.
//! Never keeps a subscription.

use crate::json::{Json, JsonBuf};
use crate::types::Missing;
use crate::write::object;

/// The `notifications` of a listen request or of its acknowledgement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Changes of the list of tools.
    pub tools: bool,
    /// Changes of the list of prompts.
    pub prompts: bool,
    /// Changes of the list of resources.
    pub resources: bool,
    /// Changes of these resources.
    pub uris: Vec<String>,
    /// Changes of these tasks (tasks extension).
    pub task_ids: Vec<String>,
}

impl Filter {
    /// Reads it from the params of either message.
    pub fn read(params: Json<'_>) -> Result<Self, Missing> {
        let wanted = params.get("notifications").filter(|wanted| wanted.is_object());
        let wanted = wanted.ok_or(Missing("notifications"))?;
        let flag = |key| wanted.get(key).and_then(Json::boolean) == Some(true);
        let texts = |key| {
            let list = wanted.get(key).into_iter().flat_map(Json::elements);
            list.filter_map(Json::string).map(String::from).collect()
        };
        Ok(Self {
            tools: flag("toolsListChanged"),
            prompts: flag("promptsListChanged"),
            resources: flag("resourcesListChanged"),
            uris: texts("resourceSubscriptions"),
            task_ids: texts("taskIds"),
        })
    }

    /// The value of `notifications`: only what is wanted is named.
    pub fn to_json(&self) -> JsonBuf {
        object(|filter| {
            let flags = [
                ("toolsListChanged", self.tools),
                ("promptsListChanged", self.prompts),
                ("resourcesListChanged", self.resources),
            ];
            for (key, _) in flags.into_iter().filter(|(_, wanted)| *wanted) {
                filter.boolean(key, true);
            }
            for (key, list) in [("resourceSubscriptions", &self.uris), ("taskIds", &self.task_ids)]
            {
                if !list.is_empty() {
                    filter.texts(key, list.iter().map(String::as_str));
                }
            }
        })
    }
}
