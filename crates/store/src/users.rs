//! People: who they are, what they may do, their passwords. Deleting one deletes what is theirs.

mod removal;

use std::time::SystemTime;

use serde_json::json;
use switchboard_model::{AgentId, Secret, ServerKey, UserId};

use crate::actor::Actor;
use crate::change::{Change, To};
use crate::db::{Engine, Row, Tx, sql};
use crate::error::{Error, Result};
use crate::password;
use crate::store::Store;
use crate::topics::Topic;

/// What a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Administrator,
    /// What concerns their own things.
    Member,
}

impl Role {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Member => "member",
        }
    }

    /// The role of that word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Administrator, Self::Member].into_iter().find(|role| role.as_str() == word)
    }
}

/// A person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Who.
    pub id: UserId,
    /// What they are called.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Whether they can sign in with a password.
    pub has_password: bool,
    /// Since when they are known.
    pub created_at: SystemTime,
}

impl User {
    /// Another one whenever something else is known about the person.
    pub fn revision(&self) -> i64 {
        let known = format!(
            "{}\0{}\0{}\0{}\0{:?}",
            self.id,
            self.name,
            self.role.as_str(),
            self.has_password,
            self.created_at
        );
        let hash = crate::random::hash(&known);
        let first = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        // Without the sign, which no etag has.
        i64::try_from(first >> 1).unwrap_or_default()
    }
}

/// What changes about a person; what is not given stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserEdit<'a> {
    /// What they are called from now on.
    pub name: Option<&'a str>,
    /// What they may do from now on.
    pub role: Option<Role>,
}

/// What went with a person, and must stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Their servers and their agents' servers.
    pub servers: Vec<ServerKey>,
    /// Other servers to which they had a credential of their own.
    pub credentials: Vec<ServerKey>,
    /// Their agents.
    pub agents: Vec<AgentId>,
}

/// People.
#[derive(Clone, Copy, Debug)]
pub struct Users<'a>(pub(crate) &'a Store);

/// PostgreSQL's lock for taking administrators away: any number that nothing else locks.
const LOCK: i64 = 0x5377_6974_6368_6164;

const COLUMNS: &str =
    "SELECT id, name, role, password IS NOT NULL AS has_password, created_at FROM users";

impl Users<'_> {
    /// Makes the administrator of a new store; nothing where there is somebody already.
    pub async fn first(self, id: &UserId, name: &str) -> Result<Option<User>> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("INSERT INTO users (id, name, role, created_at)
             SELECT $1, $2, 'administrator', $3 WHERE NOT EXISTS (SELECT 1 FROM users)
             ON CONFLICT (id) DO NOTHING");
        let now = self.0.now();
        let made = query.bind(id.as_str()).bind(name).bind(now).run(&mut change.tx).await?;
        if made == 0 {
            return Ok(None);
        }
        let role = Role::Administrator.as_str();
        change.act(&Actor::system(), "user.create", To::User(id), json!({"role": role}));
        change.touch(Topic::People);
        change.commit().await?;
        self.get(id).await
    }

    /// Makes this person an administrator where nobody is one any more; a new person, if need be.
    pub async fn restore(self, id: &UserId, name: &str) -> Result<User> {
        let mut change = Change::begin(self.0).await?;
        one_at_a_time(&mut change.tx).await?;
        let query = sql("INSERT INTO users (id, name, role, created_at)
             SELECT $1, $2, 'administrator', $3
             WHERE NOT EXISTS (SELECT 1 FROM users WHERE role = 'administrator')
             ON CONFLICT (id) DO UPDATE SET role = excluded.role");
        let query = query.bind(id.as_str()).bind(name).bind(self.0.now());
        if query.run(&mut change.tx).await? > 0 {
            let role = Role::Administrator.as_str();
            change.act(&Actor::system(), "user.role", To::User(id), json!({"role": role}));
            change.touch(Topic::People);
        }
        change.commit().await?;
        self.existing(id).await
    }

    /// Adds a person.
    pub async fn create(self, id: &UserId, name: &str, role: Role, by: &Actor) -> Result<User> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("INSERT INTO users (id, name, role, created_at) VALUES ($1, $2, $3, $4)");
        let query = query.bind(id.as_str()).bind(name).bind(role.as_str()).bind(self.0.now());
        query.run(&mut change.tx).await.map_err(|e| e.or_exists("user", id.as_str()))?;
        change.act(by, "user.create", To::User(id), json!({"role": role.as_str()}));
        change.touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// The person of this id.
    pub async fn get(self, id: &UserId) -> Result<Option<User>> {
        let mut tx = self.0.db().read().await?;
        let query = crate::db::made(format!("{COLUMNS} WHERE id = $1"));
        query.bind(id.as_str()).optional(&mut tx).await?.as_ref().map(read).transpose()
    }

    /// Everybody.
    pub async fn list(self) -> Result<Vec<User>> {
        all(&mut self.0.db().read().await?).await
    }

    /// Gives a person another name.
    pub async fn rename(self, id: &UserId, name: &str, by: &Actor) -> Result<User> {
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE users SET name = $2 WHERE id = $1");
        found(query.bind(id.as_str()).bind(name).run(&mut change.tx).await?, id)?;
        change.act(by, "user.rename", To::User(id), json!({})).touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// Gives a person another role; the last administrator stays one.
    pub async fn set_role(self, id: &UserId, role: Role, by: &Actor) -> Result<User> {
        let mut change = Change::begin(self.0).await?;
        one_at_a_time(&mut change.tx).await?;
        let query = sql("UPDATE users SET role = $2 WHERE id = $1");
        found(query.bind(id.as_str()).bind(role.as_str()).run(&mut change.tx).await?, id)?;
        some_administrator(&mut change.tx).await?;
        change.act(by, "user.role", To::User(id), json!({"role": role.as_str()}));
        change.touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// Gives a person another name, another role, or both at once. With a revision, only if it is still that
    /// one; the last administrator stays one.
    pub async fn update(
        self,
        id: &UserId,
        edit: UserEdit<'_>,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<User> {
        let mut change = Change::begin(self.0).await?;
        // Locks the row, so that what is compared is what is changed.
        let query = sql("UPDATE users SET name = name WHERE id = $1");
        found(query.bind(id.as_str()).run(&mut change.tx).await?, id)?;
        let query = crate::db::made(format!("{COLUMNS} WHERE id = $1"));
        let is = read(&query.bind(id.as_str()).one(&mut change.tx).await?)?;
        if expected.is_some_and(|expected| expected != is.revision()) {
            return Err(Error::Stale { what: "user", id: id.to_string() });
        }
        if let Some(name) = edit.name.filter(|name| *name != is.name) {
            let query = sql("UPDATE users SET name = $2 WHERE id = $1");
            query.bind(id.as_str()).bind(name).run(&mut change.tx).await?;
            change.act(by, "user.rename", To::User(id), json!({}));
        }
        if let Some(role) = edit.role.filter(|role| *role != is.role) {
            let query = sql("UPDATE users SET role = $2 WHERE id = $1");
            query.bind(id.as_str()).bind(role.as_str()).run(&mut change.tx).await?;
            some_administrator(&mut change.tx).await?;
            change.act(by, "user.role", To::User(id), json!({"role": role.as_str()}));
        }
        change.touch(Topic::People);
        change.commit().await?;
        self.existing(id).await
    }

    /// Sets a password, or takes it away. Every session of the page ends.
    pub async fn set_password(self, id: &UserId, new: Option<Secret>, by: &Actor) -> Result<()> {
        let hash = match new {
            Some(new) => Some(password::hash(new).await?),
            None => None,
        };
        let mut change = Change::begin(self.0).await?;
        let query = sql("UPDATE users SET password = $2 WHERE id = $1");
        found(query.bind(id.as_str()).bind(hash).run(&mut change.tx).await?, id)?;
        let query = sql("DELETE FROM sessions WHERE user_id = $1");
        query.bind(id.as_str()).run(&mut change.tx).await?;
        change.act(by, "user.password", To::User(id), json!({})).touch(Topic::People);
        change.commit().await
    }

    /// The person, if that is their password. Takes as long when it is not, or nobody has that id.
    pub async fn check_password(self, id: &UserId, given: Secret) -> Result<Option<User>> {
        let mut tx = self.0.db().read().await?;
        let query = sql("SELECT password FROM users WHERE id = $1");
        let row = query.bind(id.as_str()).optional(&mut tx).await?;
        let kept = row.map(|row| row.get::<Option<String>>("password")).transpose()?.flatten();
        drop(tx);
        if !password::matches(given, kept).await? {
            return Ok(None);
        }
        self.get(id).await
    }

    async fn existing(self, id: &UserId) -> Result<User> {
        self.get(id).await?.ok_or_else(|| missing(id))
    }
}

/// Everybody, as one state sees them.
pub(crate) async fn all(tx: &mut Tx) -> Result<Vec<User>> {
    let query = crate::db::made(format!("{COLUMNS} ORDER BY id"));
    query.all(tx).await?.iter().map(read).collect()
}

/// The id in a column.
pub(crate) fn id(text: &str) -> Result<UserId> {
    UserId::parse(text).map_err(|e| Error::malformed("user id", e))
}

fn read(row: &Row) -> Result<User> {
    Ok(User {
        id: id(&row.text("id")?)?,
        name: row.text("name")?,
        role: row.word("role", Role::parse)?,
        has_password: row.get("has_password")?,
        created_at: row.time("created_at")?,
    })
}

fn found(touched: u64, id: &UserId) -> Result<()> {
    if touched == 0 { Err(missing(id)) } else { Ok(()) }
}

fn missing(id: &UserId) -> Error {
    Error::NotFound { what: "user", id: id.to_string() }
}

/// Whoever takes an administrator away waits for others who do: two that each count the other's would
/// leave none. SQLite's transaction is that lock already.
async fn one_at_a_time(tx: &mut Tx) -> Result<()> {
    if tx.engine() == Engine::Postgres {
        sql("SELECT pg_advisory_xact_lock($1)").bind(LOCK).run(tx).await?;
    }
    Ok(())
}

/// Nobody could ever become an administrator again.
async fn some_administrator(tx: &mut Tx) -> Result<()> {
    let query = sql("SELECT COUNT(*) AS n FROM users WHERE role = 'administrator'");
    match query.one(tx).await?.int("n")? {
        0 => Err(Error::Refused("it is the last administrator: make another one first")),
        _ => Ok(()),
    }
}
