/**
 * SQL that is true of messages to the number behind the placeholder `mark`. `|| ''` hides the column from the planner: with the
 * column alone it goes through the primary key, over the messages of all accounts, if one account has nearly all of them.
 */
export function isTo(mark: string): string {
  return `recipient || '' = ${mark}`;
}
