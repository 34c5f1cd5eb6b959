-- The event feed, and what lists of messages are read from.

-- In the order of commits, since there is one writer. A message's event is its entry of the timeline, which says
-- which number it has here; any other tells all by itself (at, id, type, data).
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice, also when all are gone
  account INTEGER NOT NULL,
  message_id TEXT,
  position INTEGER,
  at INTEGER,
  id TEXT,
  type TEXT,
  data TEXT
) STRICT;
CREATE INDEX events_of_account ON events (account, number);
CREATE INDEX events_of_no_message ON events (at) WHERE message_id IS NULL;


ALTER TABLE timeline ADD COLUMN event INTEGER;

-- Lists, newest first. With the recipient, so that looking for one reads the index alone. There is no index by
-- recipient: it would double what accepting writes.
CREATE INDEX messages_of_account ON messages (account, channel, id, recipient);

CREATE TABLE erasures (
  id TEXT PRIMARY KEY,
  account_id TEXT, -- NULL: in all
  recipient TEXT,  -- NULL once it is done: then only the digest is left
  salt TEXT NOT NULL,
  digest TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  completed_at INTEGER,
  -- How far the work has come: which walk, and where it stands.
  walk INTEGER NOT NULL DEFAULT 0,
  position TEXT NOT NULL DEFAULT '',
  erased INTEGER NOT NULL DEFAULT 0,
  redacted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX erasures_under_way ON erasures (id) WHERE completed_at IS NULL;
