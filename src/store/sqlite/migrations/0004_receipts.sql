DROP TABLE provider_ids;

-- Which parts of messages the ids of providers stand for. A provider that gives an id out again makes a second row.
CREATE TABLE provider_ids (
  connector_id TEXT NOT NULL,
  -- Folded: in capitals, without zeros in front.
  id_key TEXT NOT NULL,
  message_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  -- As receipts are to name it; NULL: as the key does.
  provider_id TEXT,
  -- When the provider took the part, while its receipt is awaited.
  awaited_since INTEGER,
  PRIMARY KEY (connector_id, id_key, message_id, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX provider_ids_of_message ON provider_ids (message_id);

CREATE INDEX provider_ids_awaited ON provider_ids (awaited_since) WHERE awaited_since IS NOT NULL;

-- Receipts that match nothing yet.
CREATE TABLE parked_receipts (
  id INTEGER PRIMARY KEY,
  connector_id TEXT NOT NULL,
  id_key TEXT NOT NULL,
  reference INTEGER,
  at INTEGER NOT NULL,
  receipt TEXT NOT NULL -- JSON
) STRICT;

CREATE INDEX parked_receipts_by_id ON parked_receipts (connector_id, id_key);

CREATE INDEX parked_receipts_by_reference ON parked_receipts (reference) WHERE reference IS NOT NULL;

CREATE INDEX parked_receipts_of_connector ON parked_receipts (connector_id);

-- Parts that left us unanswered, by the reference they carried. The connector is NULL where nobody knows it.
CREATE TABLE unconfirmed_parts (
  reference INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  connector_id TEXT,
  PRIMARY KEY (reference, message_id, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX unconfirmed_parts_of_message ON unconfirmed_parts (message_id);

-- Parts whose receipt has not come in time.
CREATE TABLE overdue_receipts (
  message_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  connector_id TEXT NOT NULL,
  -- How often the provider has been asked, and when to ask next.
  asked INTEGER NOT NULL,
  ask_at INTEGER NOT NULL,
  PRIMARY KEY (message_id, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX overdue_receipts_to_ask ON overdue_receipts (connector_id, ask_at);
