-- The highest id there was when the erasure was asked for. What was accepted before it may have an id that is ahead of its own: by the
-- clock of another process, or by one that was set back since. And the last job: a message with a later one was accepted afterwards, though
-- by a clock that is behind.

ALTER TABLE erasures ADD COLUMN last_id text COLLATE "C", ADD COLUMN last_job bigint;
