-- How many claims of a job have ended without a word since the last that was settled, and the latest of them. They count where the job
-- `was_interrupted`. Of a job that was interrupted before they were counted nobody knows which claim it was.
ALTER TABLE jobs ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN interrupted_claim INTEGER;
