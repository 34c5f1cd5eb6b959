import { join } from "node:path";
import type { Terminal } from "../commands/terminal.ts";
import { DATABASE_FILE } from "./data-folder.ts";

/** See `FolderLock.lostCommits`. */
export const LOST_COMMITS =
  "the database's log is damaged, and what its last commits stored is lost, although they were on disk: restore a backup, or go on without";

/** The file that is damaged. */
export function logIn(dataFolder: string): string {
  return join(dataFolder, `${DATABASE_FILE}-wal`);
}

/** Says it in a command, behind which no start could tell any more. */
export function tellOfLostCommits(terminal: Pick<Terminal, "stderr">, dataFolder: string) {
  return (commits: number) =>
    terminal.stderr(`${LOST_COMMITS} (${logIn(dataFolder)}, commits: ${commits})\n`);
}
