-- A message names its jobs, which are numbered one after the other: an index less to write for each of them.
ALTER TABLE messages ADD COLUMN first_job INTEGER;
ALTER TABLE messages ADD COLUMN last_job INTEGER;
UPDATE messages SET
  first_job = (SELECT min(id) FROM jobs WHERE message_id = messages.id),
  last_job = (SELECT max(id) FROM jobs WHERE message_id = messages.id)
WHERE id IN (SELECT message_id FROM jobs);
DROP INDEX jobs_of_message;
