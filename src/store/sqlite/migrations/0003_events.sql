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
