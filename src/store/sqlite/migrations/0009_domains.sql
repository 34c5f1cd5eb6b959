-- Domains get pairs of DKIM keys that can be rotated, and remember how the DNS was found. Nothing sealed can be
-- rewritten here, and no released version has written the old table: domains are registered anew.
DROP TABLE domains;

CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  domain TEXT NOT NULL,
  ownership_token TEXT NOT NULL,
  dkim_keys TEXT NOT NULL, -- sealed
  verified_at INTEGER,
  failing_since INTEGER,
  lapsed_at INTEGER,
  last_check TEXT, -- JSON
  next_check_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (account_id, domain)
) STRICT;
