-- What DLT portals register beyond the ids: entities, and what templates and headers are for.
CREATE TABLE dlt_entities (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  entity_id TEXT NOT NULL,
  name TEXT,
  status TEXT,
  whitelisted_urls TEXT,
  callback_numbers TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (account_id, entity_id)
) STRICT;

ALTER TABLE sms_templates ADD COLUMN category TEXT;
ALTER TABLE sms_templates ADD COLUMN variable_tags TEXT;
ALTER TABLE sms_templates ADD COLUMN linked_headers TEXT;
ALTER TABLE sms_templates ADD COLUMN status TEXT;

ALTER TABLE senders ADD COLUMN header_type TEXT;
ALTER TABLE senders ADD COLUMN status TEXT;
