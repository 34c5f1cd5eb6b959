/**
 * SQL that selects the jobs of message ?1. Jobs of other messages may have numbers in between: from other threads that number jobs
 * at the same time, or from before a restart, which reuses numbers of jobs that have ended.
 */
export const OF_MESSAGE = `id BETWEEN (SELECT first_job FROM messages WHERE id = ?1)
  AND (SELECT last_job FROM messages WHERE id = ?1) AND message_id = ?1`;

/** Finds whether message ?1 has a job that is leased. */
export const HAS_LEASED_JOB = `SELECT 1 FROM jobs WHERE ${OF_MESSAGE} AND is_leased = 1 LIMIT 1`;
