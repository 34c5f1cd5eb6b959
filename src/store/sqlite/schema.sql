CREATE TABLE accounts (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  mode TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- 1 from the first message on: then the account stays, since messages name it.
  has_messages INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT,
  prefix TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

CREATE INDEX api_keys_of_account ON api_keys (account_id, id);

CREATE TABLE connectors (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  config TEXT NOT NULL,
  secrets TEXT NOT NULL, -- sealed
  is_enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE contacts (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  external_id TEXT,
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX contacts_by_external_id ON contacts (account_id, external_id) WHERE external_id IS NOT NULL;

CREATE INDEX contacts_of_account ON contacts (account_id, id);

CREATE TABLE content_pieces (
  content INTEGER NOT NULL,
  field TEXT NOT NULL, -- bodyText, bodyHtml
  place INTEGER NOT NULL, -- from 0
  text TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX content_pieces_in_order ON content_pieces (content, field, place);

CREATE TRIGGER contents_deleted AFTER DELETE ON contents WHEN OLD.pieces > 0
BEGIN
  DELETE FROM content_pieces WHERE content = OLD.id;
END;

CREATE TRIGGER contents_wiped AFTER UPDATE OF body ON contents WHEN OLD.pieces > 0 AND NEW.body IS NULL
BEGIN
  DELETE FROM content_pieces WHERE content = OLD.id;
END;

CREATE TABLE contents (
  id INTEGER PRIMARY KEY,
  envelope TEXT NOT NULL,
  body TEXT,
  messages INTEGER NOT NULL,
  first_message_id TEXT NOT NULL,
  last_message_id TEXT NOT NULL,
  -- 1: the account keeps bodies.
  is_kept INTEGER NOT NULL DEFAULT 0
, pieces INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX contents_to_wipe ON contents (id) WHERE body IS NOT NULL AND messages > 1 AND is_kept = 0;

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
, last_id TEXT) STRICT;

CREATE INDEX erasures_under_way ON erasures (id) WHERE completed_at IS NULL;

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

CREATE TABLE "idempotency_keys" (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  name BLOB NOT NULL,
  body_digest TEXT NOT NULL,
  status INTEGER NOT NULL,
  body ANY NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE inbound_messages (
  id TEXT PRIMARY KEY,
  account_id TEXT,
  connector_id TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  text TEXT NOT NULL,
  segments INTEGER NOT NULL,
  encoding TEXT NOT NULL,
  keyword TEXT,
  is_partial INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  webhook_url TEXT
) STRICT;

CREATE INDEX inbound_messages_by_key ON inbound_messages (connector_id, provider_key, received_at);

CREATE INDEX inbound_messages_by_recipient ON inbound_messages (account_id, recipient, id);

CREATE INDEX inbound_messages_by_sender ON inbound_messages (account_id, sender, id);

CREATE INDEX inbound_messages_of_account ON inbound_messages (account_id, id);

CREATE TABLE inbound_numbers (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  number TEXT NOT NULL,
  -- NULL: through whichever connector it comes.
  connector_id TEXT REFERENCES connectors (id),
  created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX inbound_numbers_anywhere ON inbound_numbers (number) WHERE connector_id IS NULL;

CREATE INDEX inbound_numbers_of_account ON inbound_numbers (account_id, id);

CREATE UNIQUE INDEX inbound_numbers_of_connector ON inbound_numbers (connector_id, number) WHERE connector_id IS NOT NULL;

CREATE TABLE inbound_parts (
  connector_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  reference INTEGER NOT NULL,
  total INTEGER NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  provider_key TEXT NOT NULL,
  text TEXT NOT NULL,
  encoding TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  message_id TEXT, came_over TEXT,
  PRIMARY KEY (connector_id, sender, recipient, reference, total, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX inbound_parts_by_time ON inbound_parts (received_at);

CREATE TABLE jobs (
  id INTEGER PRIMARY KEY,
  queue INTEGER NOT NULL,
  flow INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  parts TEXT,
  deadline INTEGER NOT NULL,
  due_at INTEGER,
  -- When it became ready; NULL: when the message was accepted.
  ready_since INTEGER,
  is_leased INTEGER NOT NULL,
  was_interrupted INTEGER NOT NULL,
  claim INTEGER NOT NULL,
  attempt INTEGER NOT NULL
, interruptions INTEGER NOT NULL DEFAULT 0, interrupted_claim INTEGER) STRICT;

CREATE INDEX jobs_ready ON jobs (queue, flow, deadline) WHERE due_at IS NULL;

CREATE INDEX jobs_waiting ON jobs (is_leased, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE key_names (
  name BLOB PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  account INTEGER NOT NULL,
  content INTEGER NOT NULL,
  channel TEXT NOT NULL,
  recipient TEXT NOT NULL,
  status TEXT NOT NULL,
  parts TEXT,
  sequence INTEGER NOT NULL,
  position INTEGER NOT NULL,
  error TEXT,
  expires_at INTEGER NOT NULL
, callback_host TEXT, envelope TEXT, body TEXT, first_job INTEGER, last_job INTEGER) STRICT, WITHOUT ROWID;

CREATE INDEX messages_of_account ON messages (account, channel, id, recipient);

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL
) STRICT;

CREATE TABLE mta_sts_policies (
  domain TEXT PRIMARY KEY,
  policy_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  mx TEXT NOT NULL, -- JSON, a list of patterns
  max_age_ms INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX mta_sts_policies_expired ON mta_sts_policies (expires_at);

CREATE TABLE opt_outs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  sender TEXT,
  recipient TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX opt_outs_by_recipient ON opt_outs (account_id, recipient);

CREATE INDEX opt_outs_of_account ON opt_outs (account_id, id);

CREATE UNIQUE INDEX opt_outs_of_all_senders ON opt_outs (account_id, recipient) WHERE sender IS NULL;

CREATE UNIQUE INDEX opt_outs_of_sender ON opt_outs (account_id, sender, recipient) WHERE sender IS NOT NULL;

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

CREATE INDEX provider_ids_awaited ON provider_ids (awaited_since) WHERE awaited_since IS NOT NULL;

CREATE INDEX provider_ids_of_message ON provider_ids (message_id);

CREATE TABLE push_apps (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  platforms TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX push_apps_of_account ON push_apps (account_id, id);

CREATE TABLE queues (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE registrations (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  app_id TEXT NOT NULL REFERENCES push_apps (id),
  contact_id TEXT NOT NULL REFERENCES contacts (id),
  platform TEXT NOT NULL,
  -- NULL once another registration of the app has taken it over.
  token TEXT,
  device_id TEXT,
  os_version TEXT,
  app_version TEXT,
  locale TEXT,
  timezone TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX registrations_by_device ON registrations (app_id, device_id) WHERE device_id IS NOT NULL;

CREATE UNIQUE INDEX registrations_by_token ON registrations (app_id, token) WHERE token IS NOT NULL;

CREATE INDEX registrations_of_contact ON registrations (contact_id);

CREATE INDEX registrations_of_device ON registrations (account_id, device_id) WHERE device_id IS NOT NULL;

CREATE TABLE routes (
  id TEXT PRIMARY KEY,
  account_id TEXT REFERENCES accounts (id),
  channel TEXT NOT NULL,
  match TEXT NOT NULL,
  connector_ids TEXT NOT NULL,
  created_at INTEGER NOT NULL
, sender TEXT, category TEXT, weights TEXT, failover TEXT) STRICT;

CREATE INDEX routes_of_account ON routes (account_id, id);

CREATE TABLE sandbox_messages (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  recipient TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  rendered TEXT NOT NULL,
  receipt TEXT,
  receipt_at INTEGER
) STRICT;

CREATE INDEX sandbox_messages_of_message ON sandbox_messages (message_id, id);

CREATE INDEX sandbox_messages_with_receipt_due ON sandbox_messages (receipt_at) WHERE receipt_at IS NOT NULL;

CREATE TABLE senders (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  sender_id TEXT NOT NULL,
  dlt_entity_id TEXT,
  linked_dlt_template_ids TEXT,
  is_default INTEGER NOT NULL,
  created_at INTEGER NOT NULL, header_type TEXT, status TEXT,
  UNIQUE (account_id, sender_id)
) STRICT;

CREATE INDEX senders_by_sender_id ON senders (sender_id);

CREATE TABLE settings (
  account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE, -- NULL: the instance
  name TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX settings_by_name ON settings (account_id, name);

CREATE UNIQUE INDEX settings_of_instance ON settings (name) WHERE account_id IS NULL;

CREATE TABLE sms_templates (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  dlt_template_id TEXT,
  dlt_entity_id TEXT,
  sender TEXT,
  created_at INTEGER NOT NULL
, category TEXT, variable_tags TEXT, linked_headers TEXT, status TEXT) STRICT;

CREATE INDEX sms_templates_by_dlt_id ON sms_templates (account_id, dlt_template_id);

CREATE INDEX sms_templates_of_account ON sms_templates (account_id, id);

CREATE TABLE sms_usage (
  account INTEGER NOT NULL,
  recipient TEXT NOT NULL,
  hour INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  segments INTEGER NOT NULL,
  PRIMARY KEY (account, recipient, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX sms_usage_by_hour ON sms_usage (hour);

CREATE TABLE soft_bounces (
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  days INTEGER NOT NULL,
  -- Days since 1970, UTC.
  last_day INTEGER NOT NULL,
  PRIMARY KEY (account_id, email)
) STRICT, WITHOUT ROWID;

CREATE INDEX soft_bounces_by_day ON soft_bounces (last_day);

CREATE TABLE sqlite_sequence(name,seq);

CREATE TABLE suppressions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL, source TEXT, expires_at INTEGER,
  UNIQUE (account_id, email)
) STRICT;

CREATE INDEX suppressions_ending ON suppressions (expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX suppressions_of_account ON suppressions (account_id, id);

CREATE TABLE timeline (
  message_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  sequence INTEGER,
  event_type TEXT,
  recipient TEXT,
  error TEXT,
  detail TEXT, event INTEGER,
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE unconfirmed_parts (
  reference INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  connector_id TEXT,
  PRIMARY KEY (reference, message_id, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX unconfirmed_parts_of_message ON unconfirmed_parts (message_id);

CREATE TABLE webhook_attempts (
  webhook INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  status INTEGER,
  head TEXT,
  error_code TEXT,
  error TEXT,
  PRIMARY KEY (webhook, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_secrets (
  number INTEGER PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  secret TEXT NOT NULL, -- sealed
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_secrets_of_account ON webhook_secrets (account_id);

CREATE TABLE webhooks (
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  position INTEGER NOT NULL,
  account INTEGER NOT NULL,
  -- Account number, a space, and the host.
  lane TEXT NOT NULL,
  event_type TEXT NOT NULL,
  -- held, ready, waiting, leased, delivered, failed
  state TEXT NOT NULL,
  -- When the event happened.
  at INTEGER NOT NULL,
  -- waiting and leased only.
  due_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  claim INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX webhooks_by_time ON webhooks (account, at);

CREATE INDEX webhooks_due ON webhooks (state, due_at) WHERE due_at IS NOT NULL;

CREATE INDEX webhooks_failed ON webhooks (account, at) WHERE state = 'failed';

CREATE UNIQUE INDEX webhooks_of_message ON webhooks (message_id, sequence);

CREATE INDEX webhooks_ready ON webhooks (lane) WHERE state = 'ready';
