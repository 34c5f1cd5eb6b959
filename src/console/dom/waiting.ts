/** Waits that show themselves. */

/** A wait shorter than this shows nothing: a flicker would be the only thing to see. */
const SHOWN_AFTER_MS = 150;

/** Marks `element` as busy while `work` goes on. */
export async function showWaiting<T>(element: Element, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => element.setAttribute("aria-busy", "true"), SHOWN_AFTER_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    element.removeAttribute("aria-busy");
  }
}

/**
 * Keeps `button` from being pressed a second time until `work` has ended. A browser takes the focus from what is disabled: it
 * comes back, unless it has gone elsewhere meanwhile.
 */
export async function showWorking<T>(button: HTMLButtonElement, work: () => Promise<T>): Promise<T> {
  const hadFocus = document.activeElement === button;
  button.disabled = true;
  try {
    return await showWaiting(button, work());
  } finally {
    button.disabled = false;
    if (hadFocus && document.activeElement === document.body) button.focus();
  }
}

/**
 * Again and again, `everyMs` after the last time has ended, while the tab is looked at, until `signal`. A time that fails
 * leaves what is shown as it was: the next one may go well.
 */
export function repeat(work: () => Promise<unknown>, everyMs: number, signal: AbortSignal): void {
  const wait = () => {
    if (!signal.aborted) setTimeout(turn, everyMs);
  };
  const turn = () => {
    if (signal.aborted) return;
    if (document.visibilityState === "visible") void work().then(wait, wait);
    else document.addEventListener("visibilitychange", turn, { once: true, signal });
  };
  wait();
}
