-- Generated: what the migrations lead to, for review.

TABLE accounts
  id text COLLATE "C" NOT NULL
  number integer NOT NULL GENERATED ALWAYS AS IDENTITY
  name text NOT NULL
  mode text NOT NULL
  created_at bigint NOT NULL
  has_messages boolean NOT NULL DEFAULT false
  accounts_number_key UNIQUE (number)
  accounts_pkey PRIMARY KEY (id)

TABLE api_keys
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  name text
  prefix text NOT NULL
  digest text NOT NULL
  created_at bigint NOT NULL
  revoked_at bigint
  api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  api_keys_digest_key UNIQUE (digest)
  api_keys_pkey PRIMARY KEY (id)
  CREATE INDEX api_keys_of_account ON public.api_keys USING btree (account_id, id)

TABLE connectors
  id text COLLATE "C" NOT NULL
  name text NOT NULL
  kind text NOT NULL
  config text NOT NULL
  secrets text NOT NULL
  is_enabled boolean NOT NULL
  created_at bigint NOT NULL
  connectors_name_key UNIQUE (name)
  connectors_pkey PRIMARY KEY (id)

TABLE contacts
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  external_id text
  created_at bigint NOT NULL
  contacts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  contacts_pkey PRIMARY KEY (id)
  CREATE INDEX contacts_of_account ON public.contacts USING btree (account_id, id)
  CREATE UNIQUE INDEX contacts_by_external_id ON public.contacts USING btree (account_id, external_id) WHERE (external_id IS NOT NULL)

TABLE contents PARTITION BY RANGE (id)
  id uuid NOT NULL
  envelope text NOT NULL
  body text
  messages integer NOT NULL
  last_message_id uuid NOT NULL
  is_kept boolean NOT NULL DEFAULT false
  contents_pkey PRIMARY KEY (id)
  CREATE INDEX contents_to_wipe ON ONLY public.contents USING btree (id) WHERE ((body IS NOT NULL) AND (messages > 1) AND (NOT is_kept))

TABLE dlt_entities
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  entity_id text NOT NULL
  name text
  status text
  whitelisted_urls text
  callback_numbers text
  created_at bigint NOT NULL
  dlt_entities_account_id_entity_id_key UNIQUE (account_id, entity_id)
  dlt_entities_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  dlt_entities_pkey PRIMARY KEY (id)

TABLE domains
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  domain text NOT NULL
  ownership_token text NOT NULL
  dkim_keys text NOT NULL
  verified_at bigint
  failing_since bigint
  lapsed_at bigint
  last_check text
  next_check_at bigint
  created_at bigint NOT NULL
  domains_account_id_domain_key UNIQUE (account_id, domain)
  domains_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  domains_pkey PRIMARY KEY (id)

TABLE erasures
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C"
  recipient text
  salt text NOT NULL
  digest text NOT NULL
  created_at bigint NOT NULL
  completed_at bigint
  walk integer NOT NULL DEFAULT 0
  position text NOT NULL DEFAULT ''::text
  erased bigint NOT NULL DEFAULT 0
  redacted bigint NOT NULL DEFAULT 0
  last_id text COLLATE "C"
  last_job bigint
  erasures_pkey PRIMARY KEY (id)
  CREATE INDEX erasures_under_way ON public.erasures USING btree (id) WHERE (completed_at IS NULL)

TABLE event_numbers WITH (fillfactor=10)
  REPLICA IDENTITY FULL
  last bigint NOT NULL

TABLE events PARTITION BY RANGE (subject_id)
  subject_id uuid NOT NULL
  position integer NOT NULL
  account integer NOT NULL
  number bigint NOT NULL
  event_id text
  at bigint
  type text
  data text
  events_pkey PRIMARY KEY (subject_id, "position")
  CREATE INDEX events_of_account ON ONLY public.events USING btree (account, number)

TABLE idempotency_keys WITH (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_vacuum_scale_factor=0.02, fillfactor=90)
  name uuid NOT NULL
  body_digest text NOT NULL
  status integer NOT NULL
  body text NOT NULL
  taken_at bigint NOT NULL
  expires_at bigint NOT NULL
  idempotency_keys_pkey PRIMARY KEY (name)
  CREATE INDEX idempotency_keys_by_end ON public.idempotency_keys USING btree (expires_at)

TABLE inbound_messages
  id uuid NOT NULL
  account_id text COLLATE "C"
  connector_id text COLLATE "C" NOT NULL
  provider_key text NOT NULL
  sender text NOT NULL
  recipient text NOT NULL
  text text NOT NULL
  segments integer NOT NULL
  encoding text NOT NULL
  keyword text
  is_partial boolean NOT NULL
  received_at bigint NOT NULL
  webhook_url text
  inbound_messages_pkey PRIMARY KEY (id)
  CREATE INDEX inbound_messages_by_key ON public.inbound_messages USING btree (connector_id, provider_key, received_at)
  CREATE INDEX inbound_messages_by_recipient ON public.inbound_messages USING btree (account_id, recipient, id)
  CREATE INDEX inbound_messages_by_sender ON public.inbound_messages USING btree (account_id, sender, id)
  CREATE INDEX inbound_messages_of_account ON public.inbound_messages USING btree (account_id, id)

TABLE inbound_numbers
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  number text NOT NULL
  connector_id text COLLATE "C"
  created_at bigint NOT NULL
  inbound_numbers_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  inbound_numbers_connector_id_fkey FOREIGN KEY (connector_id) REFERENCES connectors(id)
  inbound_numbers_pkey PRIMARY KEY (id)
  CREATE INDEX inbound_numbers_of_account ON public.inbound_numbers USING btree (account_id, id)
  CREATE UNIQUE INDEX inbound_numbers_anywhere ON public.inbound_numbers USING btree (number) WHERE (connector_id IS NULL)
  CREATE UNIQUE INDEX inbound_numbers_of_connector ON public.inbound_numbers USING btree (connector_id, number) WHERE (connector_id IS NOT NULL)

TABLE inbound_parts
  connector_id text COLLATE "C" NOT NULL
  sender text NOT NULL
  recipient text NOT NULL
  reference integer NOT NULL
  total integer NOT NULL
  number integer NOT NULL
  id text COLLATE "C" NOT NULL
  provider_key text NOT NULL
  text text NOT NULL
  encoding text NOT NULL
  received_at bigint NOT NULL
  message_id uuid
  came_over text
  inbound_parts_pkey PRIMARY KEY (connector_id, sender, recipient, reference, total, number)
  CREATE INDEX inbound_parts_by_time ON public.inbound_parts USING btree (received_at)

TABLE jobs WITH (autovacuum_analyze_scale_factor=0.1, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=2000)
  id bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY
  queue integer NOT NULL
  flow integer NOT NULL
  message_id uuid NOT NULL
  parts text
  deadline bigint NOT NULL
  due_at bigint
  ready_since bigint
  is_leased boolean NOT NULL DEFAULT false
  was_interrupted boolean NOT NULL DEFAULT false
  claim integer NOT NULL DEFAULT 0
  attempt integer NOT NULL DEFAULT 0
  holder text COLLATE "C"
  interruptions integer NOT NULL DEFAULT 0
  interrupted_claim integer
  jobs_pkey PRIMARY KEY (id)
  CREATE INDEX jobs_of_message ON public.jobs USING btree (message_id)
  CREATE INDEX jobs_ready ON public.jobs USING btree (queue, flow, deadline, id) WHERE (due_at IS NULL)
  CREATE INDEX jobs_waiting ON public.jobs USING btree (is_leased, due_at) WHERE (due_at IS NOT NULL)

TABLE kept_messages
  day integer NOT NULL
  id uuid NOT NULL
  kept_messages_pkey PRIMARY KEY (day, id)

TABLE lease_processes WITH (fillfactor=50)
  id text COLLATE "C" NOT NULL
  turn bigint NOT NULL
  is_sharing boolean NOT NULL DEFAULT true
  lease_processes_pkey PRIMARY KEY (id)

SEQUENCE lease_turns

TABLE leases
  name text COLLATE "C" NOT NULL
  slot integer NOT NULL
  process text COLLATE "C" NOT NULL
  is_up boolean NOT NULL DEFAULT false
  leases_pkey PRIMARY KEY (name, slot)
  leases_process_fkey FOREIGN KEY (process) REFERENCES lease_processes(id) ON DELETE CASCADE
  CREATE INDEX leases_of_process ON public.leases USING btree (process)

TABLE messages PARTITION BY RANGE (id)
  id uuid NOT NULL
  account integer NOT NULL
  content uuid NOT NULL
  channel text NOT NULL
  recipient text NOT NULL
  status text NOT NULL
  parts text
  sequence integer NOT NULL
  position integer NOT NULL
  error text
  expires_at bigint NOT NULL
  callback_host text
  messages_pkey PRIMARY KEY (id)
  CREATE INDEX messages_of_account ON ONLY public.messages USING btree (account, channel, id, recipient)

TABLE meta
  name text NOT NULL
  value text NOT NULL
  meta_pkey PRIMARY KEY (name)

TABLE migrations
  number integer NOT NULL
  name text NOT NULL
  checksum text NOT NULL
  works_with integer NOT NULL
  migrations_pkey PRIMARY KEY (number)

TABLE mta_sts_policies
  domain text COLLATE "C" NOT NULL
  policy_id text NOT NULL
  mode text NOT NULL
  mx text NOT NULL
  max_age_ms bigint NOT NULL
  expires_at bigint NOT NULL
  mta_sts_policies_pkey PRIMARY KEY (domain)
  CREATE INDEX mta_sts_policies_ending ON public.mta_sts_policies USING btree (expires_at)

TABLE new_events WITH (autovacuum_analyze_scale_factor=0.1, autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=2000)
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY
  subject_id uuid NOT NULL
  position integer NOT NULL
  account integer NOT NULL
  event_id text
  at bigint
  type text
  data text
  new_events_pkey PRIMARY KEY (id)

TABLE old_days
  day integer NOT NULL
  position uuid
  seen bigint NOT NULL DEFAULT 0
  kept bigint NOT NULL DEFAULT 0
  is_by_row boolean NOT NULL DEFAULT false
  is_last boolean NOT NULL DEFAULT false
  walked_before bigint NOT NULL DEFAULT 0
  contents integer NOT NULL DEFAULT 0
  old_days_pkey PRIMARY KEY (day)

TABLE opt_outs
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  sender text
  recipient text NOT NULL
  reason text NOT NULL
  created_at bigint NOT NULL
  opt_outs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  opt_outs_pkey PRIMARY KEY (id)
  CREATE INDEX opt_outs_by_recipient ON public.opt_outs USING btree (account_id, recipient)
  CREATE INDEX opt_outs_of_account ON public.opt_outs USING btree (account_id, id)
  CREATE UNIQUE INDEX opt_outs_of_all_senders ON public.opt_outs USING btree (account_id, recipient) WHERE (sender IS NULL)
  CREATE UNIQUE INDEX opt_outs_of_sender ON public.opt_outs USING btree (account_id, sender, recipient) WHERE (sender IS NOT NULL)

TABLE overdue_receipts WITH (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=2000)
  message_id uuid NOT NULL
  part integer NOT NULL
  connector_id text COLLATE "C" NOT NULL
  asked integer NOT NULL
  ask_at bigint NOT NULL
  overdue_receipts_pkey PRIMARY KEY (message_id, part)
  CREATE INDEX overdue_receipts_to_ask ON public.overdue_receipts USING btree (connector_id, ask_at)

TABLE parked_receipts WITH (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=2000)
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY
  connector_id text COLLATE "C" NOT NULL
  id_key text NOT NULL
  reference bigint
  at bigint NOT NULL
  receipt text NOT NULL
  parked_receipts_pkey PRIMARY KEY (id)
  CREATE INDEX parked_receipts_by_id ON public.parked_receipts USING btree (connector_id, id_key)
  CREATE INDEX parked_receipts_by_reference ON public.parked_receipts USING btree (reference) WHERE (reference IS NOT NULL)

TABLE provider_ids WITH (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=2000)
  connector_id text COLLATE "C" NOT NULL
  id_key text NOT NULL
  message_id uuid NOT NULL
  part integer NOT NULL
  provider_id text
  awaited_since bigint
  provider_ids_pkey PRIMARY KEY (connector_id, id_key, message_id, part)
  CREATE INDEX provider_ids_awaited ON public.provider_ids USING btree (awaited_since) WHERE (awaited_since IS NOT NULL)
  CREATE INDEX provider_ids_of_message ON public.provider_ids USING btree (message_id)

TABLE push_apps
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  name text NOT NULL
  platforms text NOT NULL
  created_at bigint NOT NULL
  push_apps_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  push_apps_pkey PRIMARY KEY (id)
  CREATE INDEX push_apps_of_account ON public.push_apps USING btree (account_id, id)

TABLE queues
  number integer NOT NULL GENERATED ALWAYS AS IDENTITY
  name text NOT NULL
  queues_name_key UNIQUE (name)
  queues_pkey PRIMARY KEY (number)

TABLE registrations
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  app_id text COLLATE "C" NOT NULL
  contact_id text COLLATE "C" NOT NULL
  platform text NOT NULL
  token text
  device_id text
  os_version text
  app_version text
  locale text
  timezone text
  created_at bigint NOT NULL
  updated_at bigint NOT NULL
  registrations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  registrations_app_id_fkey FOREIGN KEY (app_id) REFERENCES push_apps(id)
  registrations_contact_id_fkey FOREIGN KEY (contact_id) REFERENCES contacts(id)
  registrations_pkey PRIMARY KEY (id)
  CREATE INDEX registrations_by_token_hash ON public.registrations USING btree (app_id, hashtextextended(token, (0)::bigint)) WHERE (token IS NOT NULL)
  CREATE INDEX registrations_of_contact ON public.registrations USING btree (contact_id)
  CREATE INDEX registrations_of_device ON public.registrations USING btree (account_id, device_id) WHERE (device_id IS NOT NULL)
  CREATE UNIQUE INDEX registrations_by_device ON public.registrations USING btree (app_id, device_id) WHERE (device_id IS NOT NULL)

TABLE routes
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C"
  channel text NOT NULL
  match text NOT NULL
  connector_ids text NOT NULL
  created_at bigint NOT NULL
  sender text
  category text
  weights text
  failover text
  routes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  routes_pkey PRIMARY KEY (id)
  CREATE INDEX routes_of_account ON public.routes USING btree (account_id, id)

TABLE sandbox_messages
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  message_id text COLLATE "C" NOT NULL
  channel text NOT NULL
  recipient text NOT NULL
  received_at bigint NOT NULL
  rendered text NOT NULL
  receipt text
  receipt_at bigint
  sandbox_messages_pkey PRIMARY KEY (id)
  CREATE INDEX sandbox_messages_of_message ON public.sandbox_messages USING btree (message_id, id)
  CREATE INDEX sandbox_messages_with_receipt_due ON public.sandbox_messages USING btree (receipt_at) WHERE (receipt_at IS NOT NULL)

TABLE senders
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  sender_id text NOT NULL
  dlt_entity_id text
  linked_dlt_template_ids text
  is_default boolean NOT NULL
  created_at bigint NOT NULL
  header_type text
  status text
  senders_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  senders_account_id_sender_id_key UNIQUE (account_id, sender_id)
  senders_pkey PRIMARY KEY (id)
  CREATE INDEX senders_by_sender_id ON public.senders USING btree (sender_id)

TABLE settings
  REPLICA IDENTITY FULL
  account_id text COLLATE "C"
  name text NOT NULL
  value text NOT NULL
  settings_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
  settings_account_id_name_key UNIQUE NULLS NOT DISTINCT (account_id, name)

TABLE sms_templates
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  name text NOT NULL
  body text NOT NULL
  dlt_template_id text
  dlt_entity_id text
  sender text
  created_at bigint NOT NULL
  category text
  variable_tags text
  linked_headers text
  status text
  sms_templates_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  sms_templates_pkey PRIMARY KEY (id)
  CREATE INDEX sms_templates_by_dlt_id ON public.sms_templates USING btree (account_id, dlt_template_id)
  CREATE INDEX sms_templates_of_account ON public.sms_templates USING btree (account_id, id)

TABLE sms_usage
  account integer NOT NULL
  recipient text NOT NULL
  hour integer NOT NULL
  messages integer NOT NULL
  segments integer NOT NULL
  sms_usage_pkey PRIMARY KEY (account, recipient, hour)
  CREATE INDEX sms_usage_by_hour ON public.sms_usage USING btree (hour)

TABLE soft_bounces
  account_id text COLLATE "C" NOT NULL
  email text NOT NULL
  days integer NOT NULL
  last_day integer NOT NULL
  soft_bounces_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
  soft_bounces_pkey PRIMARY KEY (account_id, email)
  CREATE INDEX soft_bounces_by_day ON public.soft_bounces USING btree (last_day)

TABLE suppressions
  id text COLLATE "C" NOT NULL
  account_id text COLLATE "C" NOT NULL
  email text NOT NULL
  reason text NOT NULL
  created_at bigint NOT NULL
  source text
  expires_at bigint
  suppressions_account_id_email_key UNIQUE (account_id, email)
  suppressions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
  suppressions_pkey PRIMARY KEY (id)
  CREATE INDEX suppressions_ending ON public.suppressions USING btree (expires_at) WHERE (expires_at IS NOT NULL)
  CREATE INDEX suppressions_of_account ON public.suppressions USING btree (account_id, id)

TABLE timeline PARTITION BY RANGE (message_id)
  message_id uuid NOT NULL
  position integer NOT NULL
  at bigint NOT NULL
  kind text NOT NULL
  status text NOT NULL
  sequence integer
  event_type text
  recipient text
  error text
  detail text
  timeline_pkey PRIMARY KEY (message_id, "position")

TABLE unconfirmed_parts
  reference bigint NOT NULL
  message_id uuid NOT NULL
  part integer NOT NULL
  connector_id text COLLATE "C"
  unconfirmed_parts_pkey PRIMARY KEY (reference, message_id, part)
  CREATE INDEX unconfirmed_parts_of_message ON public.unconfirmed_parts USING btree (message_id)

TABLE webhook_attempts
  webhook bigint NOT NULL
  number integer NOT NULL
  at bigint NOT NULL
  ms integer NOT NULL
  status integer
  head text
  error_code text
  error text
  webhook_attempts_pkey PRIMARY KEY (webhook, number)

TABLE webhook_secrets
  number bigint NOT NULL GENERATED ALWAYS AS IDENTITY
  account_id text COLLATE "C" NOT NULL
  secret text NOT NULL
  created_at bigint NOT NULL
  webhook_secrets_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE
  webhook_secrets_pkey PRIMARY KEY (number)
  CREATE INDEX webhook_secrets_of_account ON public.webhook_secrets USING btree (account_id)

TABLE webhooks WITH (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_threshold=2000)
  id bigint NOT NULL GENERATED ALWAYS AS IDENTITY
  message_id uuid NOT NULL
  sequence integer NOT NULL
  position integer NOT NULL
  account integer NOT NULL
  lane text COLLATE "C" NOT NULL
  event_type text NOT NULL
  state text NOT NULL
  at bigint NOT NULL
  due_at bigint
  failures integer NOT NULL DEFAULT 0
  claim integer NOT NULL DEFAULT 0
  attempts integer NOT NULL DEFAULT 0
  holder text COLLATE "C"
  webhooks_pkey PRIMARY KEY (id)
  CREATE INDEX webhooks_by_time ON public.webhooks USING btree (account, at, id)
  CREATE INDEX webhooks_due ON public.webhooks USING btree (state, due_at) WHERE (due_at IS NOT NULL)
  CREATE INDEX webhooks_failed ON public.webhooks USING btree (account, at, id) WHERE (state = 'failed'::text)
  CREATE INDEX webhooks_ready ON public.webhooks USING btree (lane, id) WHERE (state = 'ready'::text)
  CREATE UNIQUE INDEX webhooks_of_message ON public.webhooks USING btree (message_id, sequence)
