-- The host that a message's webhooks go to; NULL: nobody asked for them.
ALTER TABLE messages ADD COLUMN callback_host TEXT;

-- A row per public event of a message with a callback URL, until the message is pruned. What it says is put together
-- from `messages`, `contents` and the entry of `timeline` at `position`.
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
CREATE UNIQUE INDEX webhooks_of_message ON webhooks (message_id, sequence);
CREATE INDEX webhooks_by_time ON webhooks (account, at);
CREATE INDEX webhooks_failed ON webhooks (account, at) WHERE state = 'failed';
CREATE INDEX webhooks_ready ON webhooks (lane) WHERE state = 'ready';
CREATE INDEX webhooks_due ON webhooks (state, due_at) WHERE due_at IS NOT NULL;

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
