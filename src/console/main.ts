/** The console: makes its parts, and shows the page that the address names. */
import { createClient, Failure } from "./client.ts";
import { h } from "./dom.ts";
import { failureText } from "./failure-text.ts";
import { createFrame, focusTitle } from "./frame.ts";
import { createNotices } from "./notices.ts";
import { NAVIGATION, pageFor } from "./pages.ts";
import { type Place, parsePlace } from "./place.ts";
import { createSchemas } from "./schemas.ts";
import { createSignIn } from "./sign-in.ts";
import type { View, Visit } from "./visit.ts";
import { showWaiting } from "./waiting.ts";

function start(): void {
  const root = h("div", { hidden: true });
  const notices = createNotices();
  document.body.append(root, notices.element);
  const signIn = createSignIn(root);
  const client = createClient(signIn);
  const frame = createFrame(NAVIGATION, () => {
    client.send("DELETE", "session").then(
      () => location.reload(),
      (error) => notices.notify(failureText(error), "failed"),
    );
  });
  root.append(frame.element);

  const schemas = createSchemas(client);
  let left = new AbortController();
  let shown: Place | undefined;

  const show = async (): Promise<void> => {
    left.abort();
    left = new AbortController();
    const here = left.signal;
    const place = parsePlace(location.hash);
    const visit: Visit = {
      place,
      client: createClient(signIn, here),
      schemas,
      left: here,
      notify: notices.notify,
      reload: () => void show(),
    };
    const view = await showWaiting(frame.main, viewOf(visit));
    if (here.aborted) return;
    const focused = document.activeElement?.id;
    frame.show(view, place.path[0] ?? "");
    root.hidden = false;
    if (isSamePage(shown, place)) document.getElementById(focused ?? "")?.focus();
    else arrive(frame.main);
    shown = place;
  };

  const arrive = (main: HTMLElement) => {
    notices.clear();
    scrollTo(0, 0);
    // The first page is read from the top, as any page.
    if (shown !== undefined) focusTitle(main);
  };

  addEventListener("hashchange", () => void show());
  void show();
}

/** Whatever fails, there is something to see, and a way to try again. */
async function viewOf(visit: Visit): Promise<View> {
  try {
    return await pageFor(visit.place)(visit);
  } catch (error) {
    if (visit.left.aborted) return { title: "", content: undefined };
    const isMissing = error instanceof Failure && error.status === 404;
    const again = h("button", { type: "button", onclick: visit.reload }, "Try again");
    return {
      title: isMissing ? "Not found" : "This page could not be read",
      content: [h("p", {}, failureText(error)), again],
    };
  }
}

function isSamePage(before: Place | undefined, now: Place): boolean {
  return before !== undefined && before.path.join("/") === now.path.join("/");
}

start();
