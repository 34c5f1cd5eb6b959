import { constants } from "node:os";
import { errorText } from "../core/error-text.ts";
import type { Terminal } from "./admin/command-line.ts";
import { orRefusal } from "./or-refusal.ts";
import { stopSignals } from "./stop-signals.ts";

/** From here on a signal that ends the command does `undo` first, and `left` says what is left and what to do. */
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
  await orRefusal(terminal, () =>
    work((words, takeBack = () => {}) => {
      left = words;
      undo = takeBack;
    }),
  );
  for (const signal of stopSignals()) process.off(signal, end);
}
