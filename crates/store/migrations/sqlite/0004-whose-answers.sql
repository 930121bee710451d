-- Answers that are kept for a repeated request go with whoever asked.
ALTER TABLE idempotency ADD COLUMN user_id TEXT;
CREATE INDEX idempotency_by_user ON idempotency (user_id);
