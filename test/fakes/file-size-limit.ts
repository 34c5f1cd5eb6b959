/** Simulates a full disk for a running process: its files cannot grow beyond a size (RLIMIT_FSIZE). */
import { dlopen, FFIType, ptr } from "bun:ffi";

/** Linux has prlimit(2), and so can fill another process's disk. */
export const canLimitFiles = process.platform === "linux";

const RLIMIT_FSIZE = 1;
const UNLIMITED = 0xffff_ffff_ffff_ffffn;

/** @param bytes absent: without a limit again */
export function limitFiles(pid: number, bytes?: number): void {
  const { symbols, close } = dlopen("libc.so.6", {
    prlimit: { args: [FFIType.i32, FFIType.i32, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  });
  // The soft limit, which may be raised again, and the hard one.
  const limits = new BigUint64Array([bytes === undefined ? UNLIMITED : BigInt(bytes), UNLIMITED]);
  const result = symbols.prlimit(pid, RLIMIT_FSIZE, ptr(limits), null);
  close();
  if (result !== 0) throw new Error("the limit on file sizes could not be set");
}
