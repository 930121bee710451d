//! Seals what is secret and opens it again; the only place where a stored secret is in clear.
//!
//! Values are sealed under a data key, which the master key wraps. A sealed value carries the id of
//! its data key and is bound to its table, row and column, so that it opens nowhere else.

mod cipher;
mod master;
mod rotate;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use switchboard_model::Secret;
use zeroize::Zeroizing;

use crate::db::{Tx, sql};
use crate::error::{Error, Result};
use cipher::Key;
pub use master::KeySource;
use master::MasterKey;

/// Where a sealed value belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) owner: &'static str,
    pub(crate) id: &'a str,
    pub(crate) field: &'static str,
}

/// The keys in use.
#[derive(Clone)]
pub(crate) struct Vault {
    source: Arc<ArcSwap<KeySource>>,
    ring: Arc<ArcSwap<Ring>>,
}

#[derive(Default)]
struct Ring {
    active: i64,
    keys: BTreeMap<i64, Key>,
}

impl Vault {
    /// Opens the data keys with the master key, or makes the first of both for a new store.
    pub(crate) async fn open(tx: &mut Tx, source: KeySource, now: i64) -> Result<Self> {
        let wrapped = wrapped(tx).await?;
        // The caller holds the lock of the schema, so that no rotation is between its two steps.
        let ring = if wrapped.is_empty() {
            let master = source.clone().load_or_create().await?;
            first(tx, &master, now).await?
        } else {
            let (ring, master) = unwrap(&wrapped, &source).await?;
            source.clone().settle(master).await?;
            ring
        };
        Ok(Self {
            source: Arc::new(ArcSwap::from_pointee(source)),
            ring: Arc::new(ArcSwap::from_pointee(ring)),
        })
    }

    /// Seals a value where it belongs, over what was there.
    pub(crate) async fn put(&self, tx: &mut Tx, slot: Slot<'_>, value: &[u8]) -> Result<()> {
        let ring = self.ring.load_full();
        if let Some(key) = ring.keys.get(&ring.active)
            && write(tx, slot, ring.active, key.seal(value, &slot.bound_to(ring.active))?).await?
        {
            return Ok(());
        }
        // Another instance has made a new key since.
        let (active, ring) = self.current(tx).await?;
        let key = ring.keys.get(&active).ok_or_else(|| slot.tampered())?;
        match write(tx, slot, active, key.seal(value, &slot.bound_to(active))?).await? {
            true => Ok(()),
            false => Err(slot.tampered()),
        }
    }

    /// Whether it could seal and open something now: the key in use is known, or can be read.
    pub(crate) async fn check(&self, tx: &mut Tx) -> Result<()> {
        self.current(tx).await.map(drop)
    }

    /// Opens what is sealed there, if anything is.
    pub(crate) async fn get(
        &self,
        tx: &mut Tx,
        slot: Slot<'_>,
    ) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let query =
            sql("SELECT key_id, value FROM sealed WHERE owner = $1 AND id = $2 AND field = $3");
        let row = query.bind(slot.owner).bind(slot.id).bind(slot.field).optional(tx).await?;
        let Some(row) = row else { return Ok(None) };
        self.unseal(tx, slot, row.int("key_id")?, &row.blob("value")?).await.map(Some)
    }

    /// The same as a text.
    pub(crate) async fn get_text(&self, tx: &mut Tx, slot: Slot<'_>) -> Result<Option<Secret>> {
        let Some(bytes) = self.get(tx, slot).await? else { return Ok(None) };
        let text = std::str::from_utf8(&bytes).map_err(|_| slot.tampered())?;
        Ok(Some(Secret::new(text)))
    }

    /// Opens everything of one kind, by row.
    pub(crate) async fn all(
        &self,
        tx: &mut Tx,
        owner: &'static str,
        field: &'static str,
    ) -> Result<BTreeMap<String, Zeroizing<Vec<u8>>>> {
        let query = sql("SELECT id, key_id, value FROM sealed WHERE owner = $1 AND field = $2");
        let rows = query.bind(owner).bind(field).all(tx).await?;
        let mut opened = BTreeMap::new();
        for row in rows {
            let id = row.text("id")?;
            let slot = Slot { owner, id: &id, field };
            let value = self.unseal(tx, slot, row.int("key_id")?, &row.blob("value")?).await?;
            opened.insert(id, value);
        }
        Ok(opened)
    }

    /// Forgets everything that is sealed for a row.
    pub(crate) async fn forget(&self, tx: &mut Tx, owner: &'static str, id: &str) -> Result<()> {
        let query = sql("DELETE FROM sealed WHERE owner = $1 AND id = $2");
        query.bind(owner).bind(id).run(tx).await.map(drop)
    }

    async fn unseal(
        &self,
        tx: &mut Tx,
        slot: Slot<'_>,
        key: i64,
        value: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        let ring = self.ring_with(tx, key).await?;
        let opened = ring.keys.get(&key).and_then(|k| k.open(value, &slot.bound_to(key)));
        opened.ok_or_else(|| slot.tampered())
    }

    /// The data key in use, and a ring that has it.
    async fn current(&self, tx: &mut Tx) -> Result<(i64, Arc<Ring>)> {
        let active = sql("SELECT id FROM data_keys WHERE state = 'active'");
        let active = active.one(tx).await?.int("id")?;
        Ok((active, self.ring_with(tx, active).await?))
    }

    /// The ring, read again if another instance has made this key since.
    async fn ring_with(&self, tx: &mut Tx, key: i64) -> Result<Arc<Ring>> {
        let ring = self.ring.load_full();
        if ring.keys.contains_key(&key) {
            return Ok(ring);
        }
        let source = self.source.load_full();
        let (ring, _) = unwrap(&wrapped(tx).await?, &source).await?;
        self.ring.store(Arc::new(ring));
        Ok(self.ring.load_full())
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault").field("source", &self.source.load().place()).finish_non_exhaustive()
    }
}

impl Slot<'_> {
    /// Each part with its length, so that no two slots are written alike.
    fn bound_to(&self, key: i64) -> Vec<u8> {
        let parts = [self.owner, self.id, self.field];
        let parts = parts
            .iter()
            .flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.bytes()));
        parts.chain(key.to_be_bytes()).collect()
    }

    fn tampered(&self) -> Error {
        let [owner, id, field] = [self.owner, self.id, self.field].map(str::to_owned);
        Error::Tampered { owner, id, field }
    }
}

/// Puts a sealed value in its place, if the key that sealed it is the one in use.
async fn write(tx: &mut Tx, slot: Slot<'_>, key: i64, value: Vec<u8>) -> Result<bool> {
    let query = sql("INSERT INTO sealed (owner, id, field, key_id, value)
         SELECT $1, $2, $3, id, $5 FROM data_keys WHERE id = $4 AND state = 'active'
         ON CONFLICT (owner, id, field) DO UPDATE SET key_id = excluded.key_id, value = excluded.value");
    let query = query.bind(slot.owner).bind(slot.id).bind(slot.field);
    Ok(query.bind(key).bind(value).run(tx).await? > 0)
}

struct Wrapped {
    id: i64,
    active: bool,
    wrapped: Vec<u8>,
}

async fn wrapped(tx: &mut Tx) -> Result<Vec<Wrapped>> {
    let rows = sql("SELECT id, state, wrapped FROM data_keys ORDER BY id").all(tx).await?;
    let read = |row: &crate::db::Row| {
        Ok(Wrapped {
            id: row.int("id")?,
            active: row.text("state")? == "active",
            wrapped: row.blob("wrapped")?,
        })
    };
    rows.iter().map(read).collect()
}

/// The first data key of a new store.
async fn first(tx: &mut Tx, master: &MasterKey, now: i64) -> Result<Ring> {
    let key = Key::random()?;
    insert(tx, master, 1, &key, now).await?;
    Ok(Ring { active: 1, keys: BTreeMap::from([(1, key)]) })
}

async fn insert(tx: &mut Tx, master: &MasterKey, id: i64, key: &Key, now: i64) -> Result<()> {
    let query =
        sql("INSERT INTO data_keys (id, wrapped, state, created_at) VALUES ($1, $2, 'active', $3)");
    query.bind(id).bind(master.wrap(id, key)?).bind(now).run(tx).await.map(drop)
}

/// Opens every data key, or says that the master key is lost or another one.
async fn unwrap(wrapped: &[Wrapped], source: &KeySource) -> Result<(Ring, MasterKey)> {
    let candidates = source.clone().load().await?;
    if candidates.is_empty() {
        return Err(Error::KeyLost { place: source.place() });
    }
    for candidate in candidates {
        let open = |row: &Wrapped| Some((row.id, candidate.unwrap(row.id, &row.wrapped)?));
        let Some(keys) = wrapped.iter().map(open).collect::<Option<BTreeMap<_, _>>>() else {
            continue;
        };
        let active = wrapped.iter().find(|row| row.active).map_or(0, |row| row.id);
        return Ok((Ring { active, keys }, candidate));
    }
    Err(Error::KeyWrong { place: source.place() })
}

#[cfg(test)]
mod tests;
