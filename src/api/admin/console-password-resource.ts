import { hash } from "node:crypto";
import Type from "typebox";
import { makeConsolePassword } from "../../core/records/console-password.ts";
import { withoutCookie } from "../console/session-endpoints.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { adminOnly, adminPath } from "./record-plan.ts";

/** Enough that no round is ever the same as one before. */
const ROUND_BYTES = 16;

/** The password of the web console, and the end of its sessions. */
export function consolePasswordEndpoints({
  store,
  randomBytes,
  consoleKey,
}: Pick<AdminDeps, "store" | "randomBytes" | "consoleKey">): readonly Endpoint[] {
  return [
    {
      ...adminOnly("console"),
      method: "POST",
      path: adminPath("console-password"),
      operation: "makeConsolePassword",
      summary: "Make a new password for the web console; all its sessions end within a second",
      responses: {
        200: { description: "Shown only now", schema: Type.Object({ console_password: Type.String() }) },
      },
      async handle() {
        const password = makeConsolePassword(randomBytes);
        await store.access.setConsoleSeal({ passwordDigest: hash("sha256", password, "hex") });
        return Response.json({ console_password: password });
      },
    },
    {
      ...adminOnly("console"),
      method: "DELETE",
      path: adminPath("sessions"),
      operation: "endConsoleSessions",
      summary: "End all sessions of the web console, within a second; its password stays",
      responses: { 204: { description: "They end; so does that of the caller" } },
      async handle({ headers }) {
        await store.access.setConsoleSeal({ round: Buffer.from(randomBytes(ROUND_BYTES)).toString("hex") });
        return new Response(null, { status: 204, headers: withoutCookie(consoleKey, headers) });
      },
    },
  ];
}
