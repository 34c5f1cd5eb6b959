import { constants } from "node:os";
import { errorText } from "../../core/error-text.ts";
import { stopSignals } from "../stop-signals.ts";
import { CommandFailure } from "./command-failure.ts";
import { orRefusal } from "./or-refusal.ts";
import type { Terminal } from "./terminal.ts";

/**
 * From this call on, a signal that ends the command first runs `undo`, and `left` says what is left and what to do. The same is left
 * if the database goes away, unless there is an `undo`: in that case the caller has run it before the failure comes here.
 */
export type OnCutOff = (left: string, undo?: () => void) => void;

/** Shells add the signal's number to this to get the exit code. */
const SIGNALLED = 128;

/** Like `orRefusal`, for work that changes or makes something: if a signal ends it, a last line says what is left of it. */
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
  const isCutOff = left !== undefined && error instanceof CommandFailure && error.isOutage;
  return isCutOff ? new CommandFailure(`${error.message}; ${left}`) : error;
}
