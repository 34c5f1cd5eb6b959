/** The console: makes its parts, and starts. */
import { createClient } from "./client.ts";
import { h } from "./dom.ts";
import { failureText } from "./failure-text.ts";
import { createFrame } from "./frame.ts";
import { readAgainOnLinks } from "./go-to.ts";
import { createNotices } from "./notices.ts";
import { NAVIGATION } from "./pages.ts";
import { keepTimesTrue } from "./pieces.ts";
import { rememberPositions } from "./position.ts";
import { startRouter } from "./router.ts";
import { createSchemas } from "./schemas.ts";
import { createSignIn } from "./sign-in.ts";

function start(): void {
  const root = h("div");
  const notices = createNotices();
  const signIn = createSignIn(root);
  const client = createClient(signIn);
  const signOut = () =>
    void client.send("DELETE", "session").then(
      // Nothing of what was read stays in the page.
      () => location.reload(),
      (error: unknown) => notices.notify(failureText(error), "failed"),
    );
  const frame = createFrame(NAVIGATION, signOut);
  root.append(frame.element);
  readAgainOnLinks(root);
  keepTimesTrue();
  document.body.append(root, notices.element);
  const clientUntil = (left: AbortSignal) => createClient(signIn, left);
  const positions = rememberPositions(root);
  startRouter({ frame, notices, positions, schemas: createSchemas(client), clientUntil });
}

start();
