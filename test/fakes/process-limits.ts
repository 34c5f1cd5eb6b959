/** Simulates bad days of a running process: a full disk, or no free file descriptors. */
import { dlopen, FFIType, ptr } from "bun:ffi";
import { readdirSync } from "node:fs";

/** Linux has prlimit(2), and so can limit another process. */
export const canLimitFiles = process.platform === "linux";

const RLIMIT_FSIZE = 1;
const RLIMIT_NOFILE = 7;
const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/**
 * Its files cannot grow beyond a size.
 *
 * @param bytes absent: without a limit again
 */
export function limitFiles(pid: number, bytes?: number): void {
  // The soft limit, which may be raised again, and the hard one.
  setLimits(pid, RLIMIT_FSIZE, [bytes === undefined ? UNLIMITED : BigInt(bytes), UNLIMITED]);
}

/** It can open no file and no connection beyond those that are open, until `letGo`. */
export function holdFreeFiles(pid: number): { letGo(): void } {
  const open = new Set(readdirSync(`/proc/${pid}/fd`));
  let free = 0;
  while (open.has(String(free))) free++;
  const [soft, hard] = setLimits(pid, RLIMIT_NOFILE);
  setLimits(pid, RLIMIT_NOFILE, [BigInt(free), hard]);
  return { letGo: () => void setLimits(pid, RLIMIT_NOFILE, [soft, hard]) };
}

type Limits = readonly [soft: bigint, hard: bigint];

/** Returns the limits before. */
function setLimits(pid: number, resource: number, limits?: Limits): Limits {
  const { symbols, close } = dlopen("libc.so.6", {
    prlimit: { args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  });
  const before = new BigUint64Array(2);
  const result = symbols.prlimit(pid, resource, limits ? ptr(new BigUint64Array(limits)) : null, ptr(before));
  close();
  if (result !== 0) throw new Error("a limit could not be set");
  return [before[0]!, before[1]!];
}
