import type { Visit } from "../visit.ts";
import { isConfirmed } from "./dialogs.ts";
import { h } from "./dom.ts";
import { failureText } from "./failure-text.ts";
import { showWorking } from "./waiting.ts";

export interface Deed {
  readonly text: string;
  readonly kind?: "danger" | "primary";
  /** What is asked before. */
  readonly question?: string;
  readonly work: () => Promise<void>;
}

/** A button that does something at once, shows that it waits, and says what has failed: then it can be pressed again. */
export function deedButton({ text, kind, question, work }: Deed, { notify }: Visit): HTMLElement {
  const button = h("button", { type: "button", class: kind }, text);
  const run = async () => {
    if (question !== undefined && !(await isConfirmed(question, text))) return;
    try {
      await showWorking(button, work);
    } catch (error) {
      notify(`${text}: ${failureText(error)}`, "failed");
    }
  };
  button.addEventListener("click", () => void run());
  return button;
}
