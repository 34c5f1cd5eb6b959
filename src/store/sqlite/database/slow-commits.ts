import type { SqliteOptions } from "../open-sqlite.ts";

/** Makes every commit take `commitMs` longer, for tests and benchmarks. `undefined` changes nothing. */
export function slowCommits(commitMs: number | undefined): Pick<SqliteOptions, "faults"> {
  return commitMs === undefined ? {} : { faults: { beforeCommit: () => stall(commitMs) } };
}

/** Holds this thread, as a disk does. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
