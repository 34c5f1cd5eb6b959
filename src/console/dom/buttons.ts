import type { Visit } from "../visit.ts";
import { isConfirmed } from "./dialogs.ts";
import { h } from "./dom.ts";
import { failureText } from "./failure-text.ts";
import { showWorking } from "./waiting.ts";

export interface Deed {
  readonly text: string;
  readonly kind?: "danger" | "primary";
  /** What is asked before, or finds that out first; `undefined`: it has said that there is nothing to do. */
  readonly question?: string | (() => Promise<string | undefined>);
  readonly work: () => Promise<void>;
}

/** A button that does something at once, shows that it waits, and says what has failed: then it can be pressed again. */
export function deedButton({ text, kind, question, work }: Deed, { notify }: Visit): HTMLElement {
  const button = h("button", { type: "button", class: kind }, text);
  const run = async () => {
    try {
      const asked = typeof question === "function" ? await showWorking(button, question) : question;
      if (question !== undefined && (asked === undefined || !(await isConfirmed(asked, text)))) return;
      await showWorking(button, work);
    } catch (error) {
      notify(`${text}: ${failureText(error)}`, "failed");
    }
  };
  button.addEventListener("click", () => void run());
  return button;
}
