//! One change of the state: a transaction, what it touches and who did it. The audit log gets its
//! row in the same transaction, so that neither is there without the other.

use std::collections::BTreeSet;

use switchboard_model::{AgentId, ServerKey, UserId};

use crate::actor::Actor;
use crate::audit::{self, Entry, Noted, Sheet};
use crate::db::Tx;
use crate::error::Result;
use crate::store::Store;
use crate::topics::{self, Topic};

/// A transaction under way. Dropped, nothing has happened.
pub(crate) struct Change<'a> {
    store: &'a Store,
    pub(crate) tx: Tx,
    topics: BTreeSet<Topic>,
    acts: Vec<Entry>,
}

/// What an act was done to.
pub(crate) enum To<'a> {
    Server(&'a ServerKey),
    User(&'a UserId),
    Agent(&'a AgentId),
    Named(&'a str),
}

impl<'a> Change<'a> {
    pub(crate) async fn begin(store: &'a Store) -> Result<Self> {
        let tx = store.db().begin().await?;
        Ok(Self { store, tx, topics: BTreeSet::new(), acts: Vec::new() })
    }

    /// Whoever watches this topic is told when it is done.
    pub(crate) fn touch(&mut self, topic: Topic) -> &mut Self {
        self.topics.insert(topic);
        self
    }

    /// Who did what to what. `detail` must hold nothing secret.
    pub(crate) fn act(
        &mut self,
        by: &Actor,
        action: &'static str,
        to: To<'_>,
        mut detail: serde_json::Value,
    ) -> &mut Self {
        let mut entry = Entry::act(self.store.now(), by, action);
        let target = match to {
            To::Server(key) => {
                entry.server = Some(key.clone());
                None
            }
            To::User(id) => Some(("user", id.as_str())),
            To::Agent(id) => Some(("agent", id.as_str())),
            To::Named(name) => Some(("name", name)),
        };
        if let (Some((word, id)), Some(detail)) = (target, detail.as_object_mut()) {
            detail.insert(word.to_owned(), id.into());
        }
        entry.detail = detail.as_object().is_some_and(|o| !o.is_empty()).then_some(detail);
        self.acts.push(entry);
        self
    }

    /// Makes it so, and tells. The head of the audit log is locked last and shortly.
    pub(crate) async fn commit(mut self) -> Result<()> {
        let mut counted = Vec::new();
        for topic in &self.topics {
            counted.push((*topic, topics::count(&mut self.tx, *topic).await?));
        }
        if !self.acts.is_empty() {
            let sheet = Sheet::of(self.acts.iter().map(Noted::Entry));
            audit::append(&mut self.tx, self.store, &sheet).await?;
        }
        self.tx.commit().await?;
        // Whoever hears of a change and asks who somebody is must find it made.
        let reloaded = match self.topics.contains(&Topic::People) {
            true => self.store.access().reload().await,
            false => Ok(()),
        };
        for (topic, counter) in counted {
            self.store.topics().saw(topic, counter);
        }
        reloaded
    }
}
