import type { Visit } from "../visit.ts";
import { fill, h } from "./dom.ts";
import { failureText } from "./failure-text.ts";
import { time } from "./pieces.ts";
import { repeat } from "./waiting.ts";

const READ_EVERY_MS = 5_000;

interface Following {
  readonly everyMs?: number;
  /** When nothing can change any more; without it, when the page is left. */
  readonly until?: AbortSignal;
}

/**
 * Reads the page again while it is looked at. The element says when it last could, and what keeps it from it: without that, what
 * is old would look like what is so.
 */
export function keepUpdated(
  { left }: Visit,
  read: () => Promise<unknown>,
  { everyMs = READ_EVERY_MS, until = left }: Following = {},
): HTMLElement {
  const element = h("p", { class: "hint" });
  let last = "";
  const say = (failure?: unknown) => {
    if (failure === undefined) last = new Date().toISOString();
    const problem = failure === undefined ? "" : `, not since then: ${failureText(failure)}`;
    element.classList.toggle("problem", failure !== undefined);
    fill(element, "Updated ", time(last), problem);
  };
  say();
  const readAgain = () =>
    read().then(
      () => say(),
      (error: unknown) => void (left.aborted || say(error)),
    );
  repeat(readAgain, everyMs, AbortSignal.any([left, until]));
  return element;
}
