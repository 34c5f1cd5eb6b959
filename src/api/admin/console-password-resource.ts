import { hash } from "node:crypto";
import Type from "typebox";
import { makeConsolePassword } from "../../core/records/console-password.ts";
import type { Endpoint } from "../endpoint.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { adminPath } from "./record-plan.ts";

/** The password of the web console. */
export function consolePasswordEndpoints({
  store,
  randomBytes,
}: Pick<AdminDeps, "store" | "randomBytes">): readonly Endpoint[] {
  return [
    {
      method: "POST",
      path: adminPath("console-password"),
      operation: "makeConsolePassword",
      summary: "Make a new password for the web console; all its sessions end within a second",
      tag: "Admin: console",
      auth: "admin",
      responses: {
        200: { description: "Shown only now", schema: Type.Object({ console_password: Type.String() }) },
      },
      async handle() {
        const password = makeConsolePassword(randomBytes);
        await store.setConsolePasswordDigest(hash("sha256", password, "hex"));
        return Response.json({ console_password: password });
      },
    },
  ];
}
