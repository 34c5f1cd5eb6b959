import { type Client, Failure } from "./client.ts";
import { h } from "./dom/dom.ts";
import { failureText } from "./dom/failure-text.ts";
import type { Notices } from "./dom/notices.ts";
import { showWaiting } from "./dom/waiting.ts";
import { holdTyped } from "./forms/filters.ts";
import { watchDepartures } from "./forms/unsent.ts";
import { type Frame, focusTitle } from "./frame.ts";
import { pageFor } from "./pages.ts";
import { type Place, parsePlace } from "./place.ts";
import type { Positions } from "./position.ts";
import type { ReadSchema } from "./schemas.ts";
import type { View, Visit } from "./visit.ts";

export interface RouterParts {
  readonly frame: Frame;
  readonly notices: Notices;
  readonly positions: Positions;
  readonly schemas: ReadSchema;
  readonly clientUntil: (left: AbortSignal) => Client;
}

interface Arrival {
  readonly place: Place;
  readonly view: View;
  /** The id of what had the focus before; "" if it has none. */
  readonly focused: string;
}

/** Shows the page that the address names, and the next one when it changes. A page that was left is asked nothing more. */
export function startRouter({ frame, notices, positions, schemas, clientUntil }: RouterParts): void {
  let leaving = new AbortController();
  let shown: Place | undefined;

  const show = async (moved: (arrival: Arrival) => void): Promise<void> => {
    leaving.abort();
    leaving = new AbortController();
    departures.begin();
    positions.pause();
    const left = leaving.signal;
    const { hash } = location;
    const place = parsePlace(hash);
    const view = await readView(frame, visitOf(place, left));
    if (left.aborted) return;
    const focused = document.activeElement?.id ?? "";
    showIn(frame, view, { before: shown, now: place });
    moved({ place, view, focused });
    shown = place;
    departures.end(hash);
    positions.resume();
  };

  const visitOf = (place: Place, left: AbortSignal): Visit => {
    const ifHere = (act: () => void) => left.aborted || act();
    return {
      place,
      schemas,
      left,
      client: clientUntil(left),
      notify: notices.notify,
      reload: () => ifHere(() => void show(({ focused }) => stay(frame.main, focused))),
      leaveFor: (hash) => ifHere(() => departures.leaveFor(hash)),
    };
  };

  /** To another page, to other rows of the same one, or back to where one was. */
  const arrive = ({ place, view, focused }: Arrival) => {
    const isSame = isSamePage(shown, place);
    if (isSame) frame.say(view.said ?? "");
    else notices.clear();
    if (isSame && focus(focused)) return;
    const position = positions.here();
    scrollTo(0, position?.y ?? 0);
    // The first page is read from the top, as any page.
    if (shown !== undefined) focusLink(frame.main, position?.href) || focusTitle(frame.main);
  };

  const departures = watchDepartures(frame.main, () => void show(arrive));
  void show(arrive);
}

/** The page is read again: what was pressed may be gone. */
function stay(main: HTMLElement, focused: string): void {
  if (!focus(focused)) focusTitle(main);
}

function focus(id: string): boolean {
  const element = id === "" ? null : document.getElementById(id);
  element?.focus({ preventScroll: true });
  return element !== null;
}

/** Whoever comes back goes on behind the link that has led away. */
function focusLink(main: HTMLElement, href: string | undefined): boolean {
  const link = [...main.querySelectorAll("a")].find((each) => each.getAttribute("href") === href);
  link?.focus({ preventScroll: true });
  return link !== undefined;
}

/** What was said is taken back meanwhile: the same words are read out again only if they were gone. */
function readView(frame: Frame, visit: Visit): Promise<View> {
  frame.say("");
  return showWaiting(frame.main, viewOf(visit));
}

/** Whatever fails, there is something to see, and a way to try again. */
async function viewOf(visit: Visit): Promise<View> {
  try {
    return await pageFor(visit.place)(visit);
  } catch (error) {
    const isMissing = error instanceof Failure && error.status === 404;
    const again = h("button", { type: "button", onclick: visit.reload }, "Try again");
    return {
      title: isMissing ? "Not found" : "This page could not be read",
      content: [h("p", { class: "problem" }, failureText(error)), again],
    };
  }
}

/** With other rows of the same page, what is typed above them stays. */
function showIn(frame: Frame, view: View, { before, now }: { before: Place | undefined; now: Place }): void {
  const typeAgain = holdTyped(frame.main);
  frame.show(view, now.path[0] ?? "");
  if (isSamePage(before, now)) typeAgain();
}

function isSamePage(before: Place | undefined, now: Place): boolean {
  return before?.path.join("/") === now.path.join("/");
}
