import { constants, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";

/** How long to wait before a terminal that takes nothing is tried again. */
const AGAIN_MS = 100;

/** Standard output or standard error. `onTaken`: the text is held no longer; with an error: not all of it was written, and never will be. */
export interface Output {
  write(text: string, onTaken?: (error?: Error | null) => void): unknown;
}

/**
 * A stream that never waits for its reader, even if that is a terminal. For a terminal Bun waits, so that Ctrl-S, or a connection
 * to the terminal that hangs, would stop the whole process. For pipes and files Bun does not wait.
 */
export function unblocked(name: keyof typeof DESCRIPTORS): Output {
  // Not that of the stream, which has none on threads other than the first.
  const fd = DESCRIPTORS[name];
  const own = isatty(fd) ? openAgain(fd) : undefined;
  return own === undefined ? process[name] : writeWhenTaken(own);
}

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** Opens the same terminal once more: the one that the shell has opened must go on waiting, for those who use it after us. */
function openAgain(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // The terminal belongs to another user, as after `su`.
    return undefined;
  }
}

function writeWhenTaken(fd: number): Output {
  const left: { octets: Uint8Array; readonly onTaken: (() => void) | undefined }[] = [];

  const flush = () => {
    for (let first = left[0]; first; first = left[0]) {
      first.octets = first.octets.subarray(writeSome(fd, first.octets));
      if (first.octets.length > 0) break;
      first.onTaken?.();
      left.shift();
    }
    if (left.length > 0) setTimeout(flush, AGAIN_MS).unref();
  };
  process.on("exit", flush);
  return {
    write(text, onTaken) {
      // A text that is written while another one is handed on is left to the loop in `flush`.
      const isFirst = left.push({ octets: Buffer.from(text), onTaken }) === 1;
      if (isFirst) flush();
    },
  };
}

/** How many octets the terminal has taken; all of them if it is gone, since nobody will read them. */
function writeSome(fd: number, octets: Uint8Array): number {
  try {
    return writeSync(fd, octets);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : octets.length;
  }
}
