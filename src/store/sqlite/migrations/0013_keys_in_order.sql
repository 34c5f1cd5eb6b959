-- Keys are written in order of time. Their names, which have no order, are remembered, and written to an index of
-- their own a generation at a time, in order of name: no page is written for the sake of one key.
-- Numbers are never given again: whoever remembers one would take another key for it.
CREATE TABLE keys_in_order (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name BLOB NOT NULL,
  body_digest TEXT NOT NULL,
  status INTEGER NOT NULL,
  body ANY NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO keys_in_order SELECT number, name, body_digest, status, body, expires_at FROM idempotency_keys ORDER BY number;

-- `name`: the first 16 bytes of the key's. Those of keys up to the number that `meta` has under `key_names_to`.
CREATE TABLE key_names (
  name BLOB PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO key_names SELECT substr(name, 1, 16), number FROM idempotency_keys ORDER BY 1;
INSERT INTO meta (name, value) SELECT 'key_names_to', CAST(max(number) AS TEXT) FROM idempotency_keys HAVING count(*) > 0;

DROP TABLE idempotency_keys;
ALTER TABLE keys_in_order RENAME TO idempotency_keys;
