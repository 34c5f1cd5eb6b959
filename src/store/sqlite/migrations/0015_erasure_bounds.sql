-- The highest id there was when the erasure was asked for. What was accepted before it may have an id that is ahead of its own: by the
-- clock of another process, or by one that was set back since.
ALTER TABLE erasures ADD COLUMN last_id TEXT;
