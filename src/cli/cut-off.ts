import { constants } from "node:os";
import { errorText } from "../core/error-text.ts";
import { AdminFailure } from "./admin/admin-client.ts";
import type { Terminal } from "./admin/command-line.ts";
import { orRefusal } from "./or-refusal.ts";
import { stopSignals } from "./stop-signals.ts";

/**
 * From here on a signal that ends the command does `undo` first, and `left` says what is left and what to do. A database that goes
 * away leaves the same, unless there is an `undo`, which whoever gave it has done before a failure comes here.
 */
export type OnCutOff = (left: string, undo?: () => void) => void;

/** What shells add the signal's number to. */
const SIGNALLED = 128;

/** As `orRefusal`, for work that changes or makes something: a signal ends it with a last line that says what is left of it. */
export async function untilCutOff(
  terminal: Terminal,
  work: (onCutOff: OnCutOff) => Promise<void>,
): Promise<void> {
  let left = "nothing was done";
  let undo = () => {};
  let leftByOutage: string | undefined;
  const end = (signal: NodeJS.Signals) => {
    try {
      undo();
    } catch (error) {
      left = `it could not be taken back (${errorText(error)})`;
    }
    terminal.stderr(`error: ended by ${signal}: ${left}\n`);
    terminal.exit(SIGNALLED + constants.signals[signal]);
  };
  for (const signal of stopSignals()) process.on(signal, end);
  const onCutOff: OnCutOff = (words, takeBack) => {
    left = words;
    undo = takeBack ?? (() => {});
    leftByOutage = takeBack ? undefined : words;
  };
  await orRefusal(terminal, async () => {
    try {
      await work(onCutOff);
    } catch (error) {
      throw withLeft(error, leftByOutage);
    }
  });
  for (const signal of stopSignals()) process.off(signal, end);
}

function withLeft(error: unknown, left: string | undefined): unknown {
  const isCutOff = left !== undefined && error instanceof AdminFailure && error.isOutage;
  return isCutOff ? new AdminFailure(`${error.message}; ${left}`) : error;
}
