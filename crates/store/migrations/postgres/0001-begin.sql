-- Times are milliseconds since 1970, yes and no are 1 and 0, JSON is text: both engines read the same.

-- What is sealed lies in one table, whatever table it belongs to. A data key that still seals
-- something cannot be deleted: the foreign key forbids it.
CREATE TABLE data_keys (
    id          BIGINT PRIMARY KEY,
    wrapped     BYTEA  NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('active', 'retiring')),
    created_at  BIGINT NOT NULL
);
CREATE TABLE sealed (
    owner   TEXT   NOT NULL,
    id      TEXT   NOT NULL,
    field   TEXT   NOT NULL,
    key_id  BIGINT NOT NULL REFERENCES data_keys (id),
    value   BYTEA  NOT NULL,
    PRIMARY KEY (owner, id, field)
);
CREATE INDEX sealed_by_key ON sealed (key_id);

CREATE TABLE counters (
    name   TEXT   PRIMARY KEY,
    value  BIGINT NOT NULL
);
CREATE TABLE settings (
    name        TEXT   PRIMARY KEY,
    value       TEXT   NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE TABLE leases (
    name    TEXT   PRIMARY KEY,
    holder  TEXT   NOT NULL,
    until   BIGINT NOT NULL
);

CREATE TABLE users (
    id          TEXT   PRIMARY KEY,
    name        TEXT   NOT NULL,
    role        TEXT   NOT NULL CHECK (role IN ('administrator', 'member')),
    password    TEXT,
    created_at  BIGINT NOT NULL
);
CREATE TABLE sign_in_links (
    hash        BYTEA  PRIMARY KEY,
    user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX sign_in_links_by_user ON sign_in_links (user_id);
CREATE TABLE sessions (
    hash        BYTEA  PRIMARY KEY,
    user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE TABLE agents (
    id            TEXT   PRIMARY KEY,
    owner         TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    description   TEXT,
    enabled       BIGINT NOT NULL,
    names_servers BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    revision      BIGINT NOT NULL
);
CREATE INDEX agents_by_owner ON agents (owner);
CREATE TABLE agent_servers (
    agent_id  TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
    server    TEXT NOT NULL,
    PRIMARY KEY (agent_id, server)
);
CREATE INDEX agent_servers_by_server ON agent_servers (server);
CREATE TABLE tokens (
    id          TEXT   PRIMARY KEY,
    hash        BYTEA  NOT NULL UNIQUE,
    hint        TEXT   NOT NULL,
    name        TEXT   NOT NULL,
    user_id     TEXT   REFERENCES users (id) ON DELETE CASCADE,
    agent_id    TEXT   REFERENCES agents (id) ON DELETE CASCADE,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT,
    revoked_at  BIGINT,
    last_used   BIGINT,
    CHECK ((user_id IS NULL) <> (agent_id IS NULL))
);
CREATE INDEX tokens_by_user ON tokens (user_id);
CREATE INDEX tokens_by_agent ON tokens (agent_id);

CREATE TABLE servers (
    id             TEXT   PRIMARY KEY,
    scope          TEXT   NOT NULL CHECK (scope IN ('global', 'user', 'agent')),
    owner          TEXT   NOT NULL,
    name           TEXT   NOT NULL,
    transport      TEXT   NOT NULL,
    command        TEXT,
    args           TEXT   NOT NULL,
    env_names      TEXT   NOT NULL,
    url            TEXT,
    declaration    TEXT   NOT NULL,
    enabled        BIGINT NOT NULL,
    category       TEXT,
    description    TEXT,
    added_at       BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    revision       BIGINT NOT NULL,
    approved_hash  BYTEA,
    approved_by    TEXT,
    approved_at    BIGINT,
    UNIQUE (scope, owner, name)
);
-- What happened to a server, declared in a file or here: by its key, not by its row.
CREATE TABLE server_stats (
    server             TEXT   PRIMARY KEY,
    added_at           BIGINT NOT NULL,
    last_used          BIGINT,
    use_count          BIGINT NOT NULL DEFAULT 0,
    error_count        BIGINT NOT NULL DEFAULT 0,
    last_error         TEXT,
    connection_status  TEXT,
    last_connected_at  BIGINT,
    tool_count         BIGINT
);
CREATE TABLE credentials (
    server      TEXT   NOT NULL,
    owner       TEXT   NOT NULL,
    kind        TEXT   NOT NULL,
    issuer      TEXT,
    scopes      TEXT,
    expires_at  BIGINT,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    revision    BIGINT NOT NULL,
    PRIMARY KEY (server, owner)
);
CREATE INDEX credentials_by_owner ON credentials (owner);

CREATE TABLE tool_definitions (
    server       TEXT   NOT NULL,
    tool         TEXT   NOT NULL,
    hash         BYTEA  NOT NULL,
    definition   TEXT   NOT NULL,
    offered      BIGINT NOT NULL,
    first_seen   BIGINT NOT NULL,
    last_seen    BIGINT NOT NULL,
    reviewed_at  BIGINT,
    reviewed_by  TEXT,
    PRIMARY KEY (server, tool, hash)
);
CREATE TABLE tool_cache (
    server    TEXT   PRIMARY KEY,
    catalog   BYTEA  NOT NULL,
    revision  TEXT   NOT NULL,
    saved_at  BIGINT NOT NULL,
    stale     BIGINT NOT NULL
);
CREATE TABLE era_verdicts (
    target      TEXT   PRIMARY KEY,
    verdict     TEXT   NOT NULL,
    updated_at  BIGINT NOT NULL
);

CREATE TABLE approvals (
    id           TEXT   PRIMARY KEY,
    user_id      TEXT   NOT NULL,
    agent        TEXT,
    session      TEXT,
    server       TEXT   NOT NULL,
    tool         TEXT   NOT NULL,
    origin       TEXT   NOT NULL,
    args_hash    BYTEA  NOT NULL,
    reason       TEXT   NOT NULL,
    state        TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    answered_at  BIGINT,
    answered_by  TEXT
);
CREATE INDEX approvals_by_state ON approvals (state, expires_at);
CREATE INDEX approvals_by_user ON approvals (user_id, created_at);
CREATE TABLE rules (
    id           TEXT   PRIMARY KEY,
    position     BIGINT NOT NULL,
    agent        TEXT,
    user_id      TEXT,
    server       TEXT,
    tool         TEXT,
    read_only    BIGINT,
    destructive  BIGINT,
    origin       TEXT,
    action       TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    created_by   TEXT   NOT NULL
);
CREATE INDEX rules_by_position ON rules (position);

CREATE TABLE usage (
    period       TEXT   NOT NULL CHECK (period IN ('hour', 'day')),
    start        BIGINT NOT NULL,
    server       TEXT   NOT NULL,
    tool         TEXT   NOT NULL,
    agent        TEXT   NOT NULL,
    user_id      TEXT   NOT NULL,
    calls        BIGINT NOT NULL,
    errors       BIGINT NOT NULL,
    denied       BIGINT NOT NULL,
    duration_us  BIGINT NOT NULL,
    slowest_us   BIGINT NOT NULL,
    bytes_in     BIGINT NOT NULL,
    bytes_out    BIGINT NOT NULL,
    PRIMARY KEY (period, start, server, tool, agent, user_id)
);
CREATE INDEX usage_by_server ON usage (server, period, start);

CREATE TABLE audit (
    seq          BIGINT PRIMARY KEY,
    at           BIGINT NOT NULL,
    action       TEXT   NOT NULL,
    source       TEXT   NOT NULL,
    user_id      TEXT,
    agent        TEXT,
    server       TEXT,
    tool         TEXT,
    origin       TEXT,
    decision     TEXT,
    outcome      TEXT,
    duration_us  BIGINT,
    bytes_in     BIGINT,
    bytes_out    BIGINT,
    trace        TEXT,
    detail       TEXT,
    hash         BYTEA  NOT NULL
);
-- Each filter is a look-up: the column, then the order of the page.
CREATE INDEX audit_by_time ON audit (at, seq);
CREATE INDEX audit_by_action ON audit (action, at, seq);
CREATE INDEX audit_by_user ON audit (user_id, at, seq);
CREATE INDEX audit_by_agent ON audit (agent, at, seq);
CREATE INDEX audit_by_server ON audit (server, at, seq);
CREATE INDEX audit_by_tool ON audit (tool, at, seq);
CREATE INDEX audit_by_origin ON audit (origin, at, seq);
CREATE INDEX audit_by_decision ON audit (decision, at, seq);
CREATE INDEX audit_by_outcome ON audit (outcome, at, seq);
CREATE TABLE audit_head (
    id    BIGINT PRIMARY KEY CHECK (id = 1),
    seq   BIGINT NOT NULL,
    hash  BYTEA  NOT NULL
);
CREATE TABLE audit_marks (
    seq   BIGINT PRIMARY KEY,
    kind  TEXT   NOT NULL CHECK (kind IN ('mark', 'anchor')),
    hash  BYTEA  NOT NULL
);
-- The last batch that each instance is known to have written, so that none is written twice.
CREATE TABLE batches (
    instance  TEXT   PRIMARY KEY,
    batch     BIGINT NOT NULL,
    at        BIGINT NOT NULL
);

CREATE TABLE events (
    seq      BIGINT PRIMARY KEY,
    at       BIGINT NOT NULL,
    kind     TEXT   NOT NULL,
    user_id  TEXT,
    server   TEXT,
    payload  TEXT   NOT NULL
);
CREATE INDEX events_by_time ON events (at);
CREATE TABLE snapshots (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    taken_at  BIGINT NOT NULL,
    content   TEXT   NOT NULL
);
CREATE TABLE idempotency (
    id            TEXT   PRIMARY KEY,
    request_hash  BYTEA  NOT NULL,
    status        BIGINT,
    expires_at    BIGINT NOT NULL
);
CREATE INDEX idempotency_by_time ON idempotency (expires_at);

INSERT INTO counters (name, value) VALUES ('people', 0), ('servers', 0), ('rules', 0), ('approvals', 0), ('definitions', 0), ('settings', 0), ('events', 0);
