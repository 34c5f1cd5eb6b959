import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folderUntilTheEnd } from "./temp-folder.ts";

/** How long the others wait for the worker that fills a folder. */
const LATEST_MS = 60_000;

/**
 * A folder that the workers of a test run share: the first that asks fills it, the others wait. It is removed when the run
 * has ended, however it ended. Where the run cannot be told from others, each worker has a folder of its own.
 */
export function filledOnce(prefix: string, fill: (folder: string) => void): string {
  const run = thisRun();
  if (run === undefined) return ownFolder(prefix, fill);
  const folder = join(tmpdir(), `${prefix}${run}`);
  const filled = join(folder, "filled");
  if (isFirst(folder)) {
    removeAfterRun(folder);
    fill(folder);
    writeFileSync(filled, "");
  }
  for (let waitedMs = 0; !existsSync(filled); waitedMs += PAUSE_MS) {
    if (waitedMs > LATEST_MS) return ownFolder(prefix, fill);
    Bun.sleepSync(PAUSE_MS);
  }
  return folder;
}

const PAUSE_MS = 50;

/** The process that the workers of a run have started from, and when that started; `undefined` without workers, and off Linux. */
function thisRun(): string | undefined {
  const stat = `/proc/${process.ppid}/stat`;
  if (process.env.BUN_TEST_WORKER_ID === undefined || !existsSync(stat)) return undefined;
  const text = readFileSync(stat, "utf8");
  return `${process.ppid}-${text.slice(text.lastIndexOf(")") + 2).split(" ")[STARTED_AT]}`;
}

/** Of the fields behind the name: proc(5) counts it as the 22nd. */
const STARTED_AT = 19;

function ownFolder(prefix: string, fill: (folder: string) => void): string {
  const folder = folderUntilTheEnd(prefix);
  fill(folder);
  return folder;
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") return false;
    throw error;
  }
}

/** This worker may end before the others: the shell that removes the folder waits for the process that started them all. */
function removeAfterRun(folder: string): void {
  const script = 'cat >/dev/null; while kill -0 "$1" 2>/dev/null; do sleep 1; done; sleep 1; rm -rf -- "$2"';
  const stdio = ["pipe", "ignore", "ignore"] as const;
  const remover = spawn("sh", ["-c", script, "sh", String(process.ppid), folder], {
    stdio: [...stdio],
    detached: true,
  });
  remover.unref();
}
