import { readFileSync } from "node:fs";

/**
 * What ends the service: a supervisor's SIGTERM, Ctrl-C, and a terminal that is closed. Under `nohup` the last is to do
 * nothing, which a handler would undo; where the system does not say whether it is so, it does what it does by itself.
 */
export function stopSignals(): readonly NodeJS.Signals[] {
  return ["SIGTERM", "SIGINT", ...(isHangUpIgnored() ? [] : (["SIGHUP"] as const))];
}

/** proc(5): a hexadecimal mask, whose lowest bit is signal 1. */
const IGNORED = /^SigIgn:\s*[0-9a-f]*(?<last>[0-9a-f])$/m;

function isHangUpIgnored(): boolean {
  try {
    const last = IGNORED.exec(readFileSync("/proc/self/status", "utf8"))?.groups?.last;
    return last === undefined || Number.parseInt(last, 16) % 2 === 1;
  } catch {
    return true;
  }
}
