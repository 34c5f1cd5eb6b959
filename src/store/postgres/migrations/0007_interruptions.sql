-- How many claims of a job have ended without a word, and which one, if it was one alone since the last that was settled; that counts
-- while the job `was_interrupted`. Of a job that was interrupted before this nobody knows which claim it was.

ALTER TABLE jobs ADD COLUMN interruptions integer NOT NULL DEFAULT 0, ADD COLUMN interrupted_claim integer;
