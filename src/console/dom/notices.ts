import { h } from "./dom.ts";
import { goOnFrom } from "./focus.ts";

export interface Notices {
  readonly element: HTMLElement;
  readonly notify: (text: string, kind?: "done" | "failed") => void;
  /** A new page begins without the notices of the last one that have been there a while. */
  readonly clear: () => void;
}

const DONE_SHOWN_MS = 6_000;

/** What has just happened, in a corner of the page. Failures stay until they are closed, or the page is left. */
export function createNotices(): Notices {
  const element = h("div", { class: "notices", "aria-live": "polite" });
  let cameFrom: Element | null = null;
  element.addEventListener("focusin", ({ relatedTarget }) => {
    if (relatedTarget instanceof Element && !element.contains(relatedTarget)) cameFrom = relatedTarget;
  });
  const remove = (notice: Element) => {
    const hadFocus = notice.contains(document.activeElement);
    notice.remove();
    if (hadFocus) goOnFrom(cameFrom);
  };
  return {
    element,
    notify(text, kind = "done") {
      const close = h("button", { type: "button", class: "plain", "aria-label": "Close" }, "×");
      const notice = h(
        "div",
        { class: `notice ${kind}`, role: kind === "failed" ? "alert" : undefined },
        text,
        close,
      );
      close.addEventListener("click", () => remove(notice));
      if (kind === "done") setTimeout(() => remove(notice), DONE_SHOWN_MS);
      for (const earlier of element.querySelectorAll(".done")) remove(earlier);
      element.append(notice);
    },
    clear() {
      for (const failed of element.querySelectorAll(".failed")) remove(failed);
    },
  };
}
