-- Texts that are too large for one row: written piece by piece before the content that they belong to, so that no
-- commit and no reading of them takes long. Pieces go with the body, whoever wipes it.
CREATE TABLE content_pieces (
  content INTEGER NOT NULL,
  field TEXT NOT NULL, -- bodyText, bodyHtml
  place INTEGER NOT NULL, -- from 0
  text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX content_pieces_in_order ON content_pieces (content, field, place);

-- How many there are.
ALTER TABLE contents ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER contents_wiped AFTER UPDATE OF body ON contents WHEN OLD.pieces > 0 AND NEW.body IS NULL
BEGIN
  DELETE FROM content_pieces WHERE content = OLD.id;
END;

CREATE TRIGGER contents_deleted AFTER DELETE ON contents WHEN OLD.pieces > 0
BEGIN
  DELETE FROM content_pieces WHERE content = OLD.id;
END;

-- Policies that domains publish for mail to them (RFC 8461), for as long as they hold: a restart forgets none.
CREATE TABLE mta_sts_policies (
  domain TEXT PRIMARY KEY,
  policy_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  mx TEXT NOT NULL, -- JSON, a list of patterns
  max_age_ms INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mta_sts_policies_expired ON mta_sts_policies (expires_at);
