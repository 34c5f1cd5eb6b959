/**
 * Which rows of `jobs` are those of message ?1. Others may have numbers between them: those of threads that take turns
 * in numbering, and after a start numbers of jobs that have ended are given again.
 */
export const OF_MESSAGE = `id BETWEEN (SELECT first_job FROM messages WHERE id = ?1)
  AND (SELECT last_job FROM messages WHERE id = ?1) AND message_id = ?1`;
