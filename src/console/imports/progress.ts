import { h } from "../dom/dom.ts";

/** Says how far a piece of work has come. */
export type Tell = (done: number, total: number) => void;

export interface Progress {
  readonly element: HTMLElement;
  /** Shows how far `work` comes, until it ends; meanwhile the browser asks before it closes the page. If it fails, it stays. */
  readonly during: <T>(work: (tell: Tell) => Promise<T>) => Promise<T>;
  /** Where the last work has ended, if that was early: `500 of 4,000`. */
  readonly stoppedAt: () => string | undefined;
}

export function createProgress(): Progress {
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
  const text = h("span", { class: "hint" });
  const element = h("p", { class: "progress", hidden: true }, bar, text);
  let isEarly = false;
  const tell: Tell = (done, total) => {
    bar.max = Math.max(total, 1);
    bar.value = done;
    text.textContent = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
    isEarly = done < total;
    element.hidden = false;
  };
  const stay = (event: Event) => event.preventDefault();
  return {
    element,
    async during(work) {
      isEarly = false;
      element.hidden = true;
      addEventListener("beforeunload", stay);
      try {
        const result = await work(tell);
        element.hidden = true;
        return result;
      } catch (error) {
        if (isEarly) text.textContent += " were done: start again for the others";
        throw error;
      } finally {
        removeEventListener("beforeunload", stay);
      }
    },
    stoppedAt: () => (isEarly ? (text.textContent ?? "") : undefined),
  };
}
