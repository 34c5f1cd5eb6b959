import type { Visit } from "../visit.ts";
import { fill, h } from "./dom.ts";
import { failureText } from "./failure-text.ts";
import { time } from "./pieces.ts";
import { repeat } from "./waiting.ts";

const READ_EVERY_MS = 5_000;

/**
 * Reads the page again while it is looked at. The element says when it last could, and what keeps it from it: without that, what
 * is old would look like what is so.
 */
export function keepUpdated({ left }: Visit, read: () => Promise<unknown>): HTMLElement {
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
  repeat(readAgain, READ_EVERY_MS, left);
  return element;
}
