/** The console: makes its parts, and starts. */
import { createClient } from "./client.ts";
import { isConfirmed } from "./dom/dialogs.ts";
import { fill, h } from "./dom/dom.ts";
import { failureText } from "./dom/failure-text.ts";
import { createNotices } from "./dom/notices.ts";
import { keepTimesTrue } from "./dom/pieces.ts";
import { holdsUnsent, isLeftAnyway } from "./forms/unsent.ts";
import { createFrame } from "./frame.ts";
import { readAgainOnLinks } from "./go-to.ts";
import { NAVIGATION } from "./pages.ts";
import { rememberPositions } from "./position.ts";
import { startRouter } from "./router.ts";
import { createSchemas } from "./schemas.ts";
import { createSignIn } from "./sign-in.ts";

const ENDS_ALL =
  "End all sessions of the console, in every browser, this one too? Whoever knows the password can sign in again.";

function start(): void {
  const root = h("div");
  const notices = createNotices();
  const signIn = createSignIn(root);
  const client = createClient(signIn);
  const signOut = async (sessions: "session" | "sessions") => {
    if (holdsUnsent(root) && !(await isLeftAnyway())) return;
    try {
      await client.send("DELETE", sessions);
    } catch (error) {
      notices.notify(failureText(error), "failed");
      return;
    }
    // Nothing of what was read, or typed, stays in the page.
    fill(frame.main);
    location.reload();
  };
  const endAllSessions = async () => {
    if (await isConfirmed(ENDS_ALL, "End them")) await signOut("sessions");
  };
  const frame = createFrame(NAVIGATION, [
    { text: "Sign out", leave: () => void signOut("session") },
    { text: "End all sessions", leave: () => void endAllSessions() },
  ]);
  root.append(frame.element);
  readAgainOnLinks(root);
  keepTimesTrue();
  document.getElementById("loading")?.remove();
  document.body.append(root, notices.element);
  const clientUntil = (left: AbortSignal) => createClient(signIn, left);
  const positions = rememberPositions(root);
  startRouter({ frame, notices, positions, schemas: createSchemas(client), clientUntil });
}

start();
