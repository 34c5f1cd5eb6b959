-- What handsets write to us, who wants to hear no more, and what accounts with a limit have sent.

-- Whom a number or short code belongs to that handsets write to.
CREATE TABLE inbound_numbers (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  number TEXT NOT NULL,
  -- NULL: through whichever connector it comes.
  connector_id TEXT REFERENCES connectors (id),
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX inbound_numbers_anywhere ON inbound_numbers (number) WHERE connector_id IS NULL;
CREATE UNIQUE INDEX inbound_numbers_of_connector ON inbound_numbers (connector_id, number) WHERE connector_id IS NOT NULL;
CREATE INDEX inbound_numbers_of_account ON inbound_numbers (account_id, id);
CREATE INDEX senders_by_sender_id ON senders (sender_id);

-- account_id NULL: nobody's. `keyword`: stop or start. webhook_url: where its account wants to be told, as it came.
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
CREATE INDEX inbound_messages_of_account ON inbound_messages (account_id, id);
CREATE INDEX inbound_messages_by_sender ON inbound_messages (account_id, sender, id);
CREATE INDEX inbound_messages_by_recipient ON inbound_messages (account_id, recipient, id);

-- Parts of long messages, until all are there or their time is up. `text`: JSON, since half a pair of surrogates
-- may stand at its ends. `message_id`: of the message that was made of them; they stay a while to tell repeats.
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
  message_id TEXT,
  PRIMARY KEY (connector_id, sender, recipient, reference, total, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbound_parts_by_time ON inbound_parts (received_at);

-- sender NULL: every sender of the account.
CREATE TABLE opt_outs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  sender TEXT,
  recipient TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX opt_outs_of_sender ON opt_outs (account_id, sender, recipient) WHERE sender IS NOT NULL;
CREATE UNIQUE INDEX opt_outs_of_all_senders ON opt_outs (account_id, recipient) WHERE sender IS NULL;
CREATE INDEX opt_outs_of_account ON opt_outs (account_id, id);

-- Messages accepted from an hour on, in all (recipient '') and per recipient. Only of accounts with a limit.
CREATE TABLE sms_usage (
  account INTEGER NOT NULL,
  recipient TEXT NOT NULL,
  hour INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  segments INTEGER NOT NULL,
  PRIMARY KEY (account, recipient, hour)
) STRICT, WITHOUT ROWID;
CREATE INDEX sms_usage_by_hour ON sms_usage (hour);
