/** What was typed into a form and not sent: it is gone with the page, so whoever leaves is asked before. */
import { isConfirmed } from "../dom/dialogs.ts";
import { goTo } from "../go-to.ts";

/** Whether a form of the page says so: each gets the event `leave`, and cancels it if it holds something unsent. */
export function holdsUnsent(page: Element): boolean {
  const mayGo = (form: HTMLFormElement) => form.dispatchEvent(new Event("leave", { cancelable: true }));
  return [...page.querySelectorAll("form")].some((form) => !mayGo(form));
}

export function isLeftAnyway(): Promise<boolean> {
  return isConfirmed("Leave this page? What you have typed is not saved.", "Leave");
}

export interface Departures {
  /** The page is left without a question. It is seen until the next one has been read. */
  readonly begin: () => void;
  readonly leaveFor: (hash: string) => void;
  /** The page that the address named is there. */
  readonly end: (hash: string) => void;
}

/** Calls `depart` when the address has changed; where the page holds something unsent, only if one leaves it anyway. */
export function watchDepartures(main: Element, depart: () => void): Departures {
  let isLeft = true;
  let seen = location.hash;
  let departures = 0;
  const isHeld = () => !isLeft && holdsUnsent(main);
  const onMove = async () => {
    const departure = ++departures;
    if (!isHeld()) return depart();
    const isOver = await isLeftAnyway();
    // Another place was asked for meanwhile.
    if (departure !== departures) return;
    if (isOver) return depart();
    // The address has changed already. So has the choice in a form that leads to other pages.
    if (location.hash !== seen) history.pushState({ y: scrollY }, "", seen);
    for (const form of main.querySelectorAll<HTMLFormElement>("form.filters")) form.reset();
  };
  addEventListener("hashchange", () => void onMove());
  addEventListener("beforeunload", (event) => {
    if (isHeld()) event.preventDefault();
  });
  const begin = () => {
    isLeft = true;
  };
  return {
    begin,
    leaveFor(hash) {
      begin();
      goTo(hash);
    },
    end(hash) {
      isLeft = false;
      seen = hash;
    },
  };
}
