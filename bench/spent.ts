/** What a process has used so far, as Linux tells it. */
import { readFileSync } from "node:fs";

/** Of /proc/PID/stat: Linux counts in hundredths of a second wherever it runs. */
const TICK_US = 10_000;

/** Microseconds of processor time, user and system, of all threads. */
export function spentUs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Fields 14 and 15; the name before them may hold spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13)
    .map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_US;
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
