import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A folder that is removed when the test run ends, however it ends: a shell gets the names, and removes them when its input
 * ends. An exit hook of the process would not run.
 */
export function folderUntilTheEnd(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  cleaner ??= startCleaner();
  cleaner.stdin?.write(`${path}\n`);
  return path;
}

let cleaner: ChildProcess | undefined;

/** In a session of its own, so that the signal that ends the run does not end it too. */
function startCleaner(): ChildProcess {
  const script = 'set --; while read -r path; do set -- "$@" "$path"; done; sleep 1; rm -rf -- "$@"';
  const child = spawn("sh", ["-c", script], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  child.unref();
  return child;
}
