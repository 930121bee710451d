//! Changes the master key and the data key under a store that stays in use. Never half done: what a
//! crash leaves is finished at the next start.

use std::sync::Arc;

use super::{Key, KeySource, Ring, Slot, Vault, insert, unwrap, wrapped};
use crate::db::{Db, Row, sql};
use crate::error::{Error, Result};

/// How many are looked up at once.
const BATCH: i64 = 500;

/// The tables and columns that hold sealed values, as fixed texts.
const SLOTS: &[(&str, &str)] = crate::sealed::ALL;

impl Vault {
    /// A new master key wraps the old data keys and a new one, at once; then everything is sealed
    /// anew, one by one.
    pub(crate) async fn rotate(&self, db: &Db, to: KeySource, now: i64) -> Result<()> {
        let mut tx = db.begin().await?;
        // Nobody opens the store, or rotates it too, between the new key and its use.
        crate::migrate::lock(&mut tx).await?;
        let master = to.clone().prepare().await?;
        sql("UPDATE data_keys SET state = 'retiring'").run(&mut tx).await?;
        let rows = wrapped(&mut tx).await?;
        let (old, _) = unwrap(&rows, &self.source.load()).await?;
        for (id, key) in &old.keys {
            let query = sql("UPDATE data_keys SET wrapped = $2 WHERE id = $1");
            query.bind(*id).bind(master.wrap(*id, key)?).run(&mut tx).await?;
        }
        let (id, key) = (old.keys.keys().max().map_or(1, |last| last + 1), Key::random()?);
        insert(&mut tx, &master, id, &key, now).await?;
        tx.commit().await?;
        let mut keys = old.keys;
        keys.insert(id, key);
        self.ring.store(Arc::new(Ring { active: id, keys }));
        self.source.store(Arc::new(to.clone()));
        to.settle(master).await?;
        self.finish_rotation(db).await
    }

    /// Seals anew what an old data key still seals, then forgets the old ones. Nothing to do, it
    /// does nothing.
    pub(crate) async fn finish_rotation(&self, db: &Db) -> Result<()> {
        loop {
            let mut tx = db.begin().await?;
            let query = sql("SELECT owner, id, field FROM sealed WHERE key_id IN
                 (SELECT id FROM data_keys WHERE state = 'retiring') LIMIT $1");
            let rows = query.bind(BATCH).all(&mut tx).await?;
            if rows.is_empty() {
                let unused = sql("DELETE FROM data_keys WHERE state = 'retiring'
                     AND NOT EXISTS (SELECT 1 FROM sealed WHERE key_id = data_keys.id)");
                unused.run(&mut tx).await?;
                tx.commit().await?;
                break;
            }
            drop(tx);
            for row in rows {
                // One at a time: whoever holds a lock here waits for no other.
                self.reseal(db, &row).await?;
            }
        }
        let ring = self.ring.load_full();
        if ring.keys.len() > 1 {
            let keys = ring.keys.iter().filter(|(id, _)| **id == ring.active);
            let keys = keys.map(|(id, key)| (*id, key.clone())).collect();
            self.ring.store(Arc::new(Ring { active: ring.active, keys }));
        }
        Ok(())
    }

    async fn reseal(&self, db: &Db, row: &Row) -> Result<()> {
        let (owner, id, field) = (row.text("owner")?, row.text("id")?, row.text("field")?);
        let Some((owner, field)) = SLOTS.iter().find(|(o, f)| *o == owner && *f == field) else {
            return Err(Error::malformed("sealed value", format!("{owner}/{field} is unknown")));
        };
        let mut tx = db.begin().await?;
        // Locks the row: what another writes meanwhile must not be overwritten with the old value.
        let query =
            sql("UPDATE sealed SET field = field WHERE owner = $1 AND id = $2 AND field = $3");
        query.bind(*owner).bind(&id).bind(*field).run(&mut tx).await?;
        let slot = Slot { owner, id: &id, field };
        if let Some(value) = self.get(&mut tx, slot).await? {
            self.put(&mut tx, slot, &value).await?;
        }
        tx.commit().await
    }
}
