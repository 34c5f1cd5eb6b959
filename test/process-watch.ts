/** What the machine says of a process that does not answer. From outside, one that hangs looks like one that never gets a processor. */
import { readFileSync } from "node:fs";

export interface ProcessWatch {
  /** Whether it runs, and, where the machine tells (Linux), how long its main thread ran and waited for a processor since `watchProcess`. */
  say(): string;
}

export function watchProcess(pid: number): ProcessWatch {
  const before = readTimes(pid);
  return {
    say() {
      const now = readTimes(pid);
      // Where the machine counts nothing, the file says so with zeros.
      const spent = before && now && now.ranMs > 0 ? `; it ${toWords(before, now)}` : "";
      return `process ${pid} ${stateOf(pid)}${spent}`;
    },
  };
}

function toWords(before: Times, now: Times): string {
  const [ran, waited] = [now.ranMs - before.ranMs, now.waitedMs - before.waitedMs].map(Math.round);
  return `ran ${ran} ms and waited ${waited} ms for a processor`;
}

/** By letters of proc_pid_stat(5). One that ended is a zombie until whoever started it has asked how. */
const STATES: Readonly<Record<string, string>> = { T: "is stopped", Z: "has ended", X: "has ended" };

function stateOf(pid: number): string {
  const letter = /\) (\S)/.exec(read(`/proc/${pid}/stat`) ?? "")?.[1];
  return letter === undefined ? exists(pid) : (STATES[letter] ?? "runs");
}

/** All that is known where there is no `/proc`. */
function exists(pid: number): string {
  try {
    process.kill(pid, 0);
    return "is there";
  } catch {
    return "has ended";
  }
}

const NS_PER_MS = 1e6;

interface Times {
  readonly ranMs: number;
  readonly waitedMs: number;
}

/** Of the main thread, on which all requests are answered. */
function readTimes(pid: number): Times | undefined {
  const text = read(`/proc/${pid}/schedstat`);
  if (!text) return undefined;
  const [ranNs = 0, waitedNs = 0] = text.split(" ").map(Number);
  return { ranMs: ranNs / NS_PER_MS, waitedMs: waitedNs / NS_PER_MS };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
