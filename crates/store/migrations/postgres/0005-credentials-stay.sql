-- To which address or command line a credential was given; what is there already is bound at the next start.
ALTER TABLE credentials ADD COLUMN target BYTEA;
