import { writeSync } from "node:fs";
import { isatty } from "node:tty";

/** Where a command prints, and how it ends. */
export interface Terminal {
  stdout(text: string): void;
  /** How many columns a line of `stdout` has; absent if it is not a terminal. */
  readonly columns?: number | undefined;
  stderr(text: string): void;
  /** Ends the process. 1: the command failed; 2: it was not understood. */
  exit(code: number): never;
}

/** The exit code that shells give a program ended by SIGPIPE: the reader of the output is gone. */
const READER_GONE = 141;

/**
 * The terminal, pipe or file that the program was started with. Writes block until all is written: otherwise `exit` would
 * lose what a pipe has not taken yet. If the reader of `stdout` is gone, the command ends. If nobody reads `stderr`, it goes on, since a
 * line about its progress must not end the work.
 */
export const PROCESS_TERMINAL: Terminal = {
  stdout: (text) => print(1, text),
  // Only for a terminal: reading `process.stdout` makes the stream, which would change how pipes are written to.
  columns: isatty(1) ? process.stdout.columns : undefined,
  stderr: (text) => print(2, text),
  exit: (code) => process.exit(code),
};

function print(descriptor: 1 | 2, text: string): void {
  let rest: Uint8Array = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSome(descriptor, rest));
  } catch (error) {
    if (descriptor === 1) giveUp(error as { code?: string; message?: string });
  }
}

/** Returns how many octets were written. If a pipe is full that another process has made non-blocking, waits a little. */
function writeSome(descriptor: number, octets: Uint8Array): number {
  try {
    return writeSync(descriptor, octets);
  } catch (error) {
    if ((error as { code?: string }).code !== "EAGAIN") throw error;
    Atomics.wait(NOBODY_WAKES_THIS, 0, 0, FULL_PIPE_WAIT_MS);
    return 0;
  }
}

const FULL_PIPE_WAIT_MS = 5;
const NOBODY_WAKES_THIS = new Int32Array(new SharedArrayBuffer(4));

function giveUp({ code, message }: { code?: string; message?: string }): never {
  if (code === "EPIPE" || code === "EBADF") process.exit(READER_GONE);
  print(2, `error: the output cannot be written: ${message}\n`);
  process.exit(1);
}
