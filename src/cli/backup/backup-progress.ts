import type { Clock } from "../../core/clock.ts";
import type { Terminal } from "../commands/terminal.ts";

/** A step of work on files, and how far it is, in octets, if that is known. */
export interface FileStep {
  readonly what: string;
  readonly done?: number;
  readonly of?: number;
}

export type OnStep = (step: FileStep) => void;

/** Prints how far a long backup or restore is, at most once a second. */
export interface BackupProgress {
  /** To be called with each step. Work that takes less than a second is not mentioned. */
  readonly onStep: OnStep;
  /** To be called while a table of PostgreSQL is under way. `of`: how many rows it has, if that is known. */
  readonly onRows: (table: string, rows: number, of?: number) => void;
  /** To be called when a table is complete. Always printed, unless the table is empty. */
  readonly onTable: (table: string, rows: number) => void;
}

const TELL_EVERY_MS = 1_000;

export function createBackupProgress(
  terminal: Pick<Terminal, "stderr">,
  clock: Pick<Clock, "monotonicMs">,
): BackupProgress {
  let toldAt = clock.monotonicMs();
  let last = "";
  const tell = (line: string) => {
    toldAt = clock.monotonicMs();
    last = line;
    terminal.stderr(`${line}\n`);
  };
  const tellAtTimes = (line: () => string) => {
    if (clock.monotonicMs() - toldAt < TELL_EVERY_MS) return;
    const next = line();
    if (next !== last) tell(next);
  };
  return {
    onStep: ({ what, done, of }) =>
      tellAtTimes(() =>
        done === undefined || of === undefined ? what : `${what}: ${inMiB(done)} of ${inMiB(of)} MiB`,
      ),
    onRows: (table, rows, of) =>
      tellAtTimes(() =>
        of === undefined
          ? `${table}: ${whole(rows)} rows so far`
          : `${table}: ${whole(rows)} of ${whole(of)} rows`,
      ),
    onTable(table, rows) {
      if (rows > 0) tell(`${table}: ${whole(rows)} ${rows === 1 ? "row" : "rows"}`);
    },
  };
}

function inMiB(octets: number): string {
  return whole(Math.round(octets / 2 ** 20));
}

function whole(count: number): string {
  return count.toLocaleString("en");
}
