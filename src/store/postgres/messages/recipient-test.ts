/**
 * SQL that is true of messages to the number behind the placeholder `mark`. It names no column alone: the planner would take
 * that for a reason to go through the primary key, over the messages of all accounts, where one has nearly all of them.
 */
export function isTo(mark: string): string {
  return `recipient || '' = ${mark}`;
}
