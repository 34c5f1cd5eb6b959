-- Whether the process takes part in sharing out connectors. One that only delivers webhooks does not.

ALTER TABLE lease_processes ADD COLUMN is_sharing boolean NOT NULL DEFAULT true;
