-- The audit log in blocks. Nothing was released with rows one by one: what a store from before holds of them goes,
-- and its chain begins anew.
DROP TABLE audit;
DROP TABLE audit_head;
DROP TABLE audit_marks;
DELETE FROM sealed WHERE owner = 'audit';

-- What filters ask for, each combination once. The hash is of all of them together.
CREATE TABLE audit_subjects (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    hash      BLOB   NOT NULL UNIQUE,
    action    TEXT NOT NULL,
    source    TEXT NOT NULL,
    user_id   TEXT,
    agent     TEXT,
    server    TEXT,
    tool      TEXT,
    origin    TEXT,
    decision  TEXT,
    outcome   TEXT
);
CREATE INDEX audit_subjects_by_user ON audit_subjects (user_id);
CREATE INDEX audit_subjects_by_agent ON audit_subjects (agent);
CREATE INDEX audit_subjects_by_server ON audit_subjects (server);
CREATE INDEX audit_subjects_by_tool ON audit_subjects (tool);

-- Consecutive rows, one line each: [at, subject, duration_us, bytes_in, bytes_out, trace, detail]. The body comes last, so
-- that whoever looks only at the times does not read it.
CREATE TABLE audit_blocks (
    first   INTEGER PRIMARY KEY,
    last    BIGINT NOT NULL,
    number  BIGINT NOT NULL,
    low     BIGINT NOT NULL,
    high    BIGINT NOT NULL,
    hash    BLOB   NOT NULL,
    body    TEXT   NOT NULL
);
-- Which blocks hold a row of which subject.
CREATE TABLE audit_index (
    subject  BIGINT NOT NULL,
    block    BIGINT NOT NULL,
    PRIMARY KEY (subject, block)
) WITHOUT ROWID;
-- The least and the greatest time of many blocks together, so that a filter on time passes over them at once.
CREATE TABLE audit_spans (
    first  INTEGER PRIMARY KEY,
    last   BIGINT NOT NULL,
    low    BIGINT NOT NULL,
    high   BIGINT NOT NULL
);
-- Whoever writes locks this row. It counts how often subjects were taken away.
CREATE TABLE audit_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    generation  BIGINT NOT NULL
);
CREATE TABLE audit_marks (
    seq   INTEGER PRIMARY KEY,
    kind  TEXT   NOT NULL CHECK (kind IN ('mark', 'anchor')),
    hash  BLOB   NOT NULL
);
