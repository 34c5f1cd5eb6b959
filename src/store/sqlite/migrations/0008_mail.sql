-- The id of a message, or words of who added it.
ALTER TABLE suppressions ADD COLUMN source TEXT;

-- NULL: it does not end by itself.
ALTER TABLE suppressions ADD COLUMN expires_at INTEGER;

CREATE INDEX suppressions_of_account ON suppressions (account_id, id);

CREATE INDEX suppressions_ending ON suppressions (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE soft_bounces (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  days INTEGER NOT NULL,
  -- Days since 1970, UTC.
  last_day INTEGER NOT NULL,
  PRIMARY KEY (account_id, email)
) STRICT, WITHOUT ROWID;

CREATE INDEX soft_bounces_by_day ON soft_bounces (last_day);
