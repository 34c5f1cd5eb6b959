/** Signing in to the web console, and out of it. */
import Type from "typebox";
import { createErrors } from "../../core/body/field-errors.ts";
import { validFields } from "../../core/body/parse-body.ts";
import { addressBlock } from "../../core/network/address-block.ts";
import { toIso } from "../../core/time/timestamp.ts";
import { adminPath } from "../admin/record-plan.ts";
import type { HandlerDeps } from "../app-deps.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { invalidConsolePassword, validationFailed } from "../errors.ts";
import { countRequest } from "../limits/count-request.ts";
import type { RateLimiter } from "../limits/rate-limit.ts";
import { type ConsoleSession, cookieNameOf, createConsoleSessions, SESSION_MS } from "./console-sessions.ts";

/** Per client address. Passwords are made here and cannot be guessed: this keeps trying from costing much. */
const SIGN_IN_RATE = { rate: 0.2, burst: 10 };

const MAX_BYTES = 4 * 1024;

const SignIn = Type.Object({ password: Type.String({ minLength: 1, maxLength: 200 }) });

const shown = Type.Object({
  expires_at: Type.Optional(
    Type.String({ format: "date-time", description: "When the session ends; absent with an admin token" }),
  ),
});

export function sessionEndpoints(
  deps: Pick<HandlerDeps, "clock" | "store" | "consoleKey">,
  limiter: RateLimiter,
): readonly Endpoint[] {
  const sessions = createConsoleSessions(deps);
  const countSignIn = ({ clientAddress }: Call) =>
    countRequest(limiter, { key: `console ${addressBlock(clientAddress)}`, limit: SIGN_IN_RATE });
  return [
    {
      ...session,
      method: "POST",
      operation: "openConsoleSession",
      summary: "Sign in to the web console: sets the cookie of a session of 12 hours",
      auth: "none",
      request: { schema: SignIn, maxBytes: MAX_BYTES },
      responses: {
        ...session.responses,
        401: { description: "`invalid console password`" },
        429: { description: "`too many requests` from one client address" },
      },
      async handle(call) {
        countSignIn(call);
        const opened = await sessions.open(readPassword(call));
        if (!opened) throw invalidConsolePassword();
        const cookie = { value: opened.cookie, maxAgeSeconds: SESSION_MS / 1_000 };
        return showSession(opened, setCookie(deps.consoleKey, cookie, call.headers));
      },
    },
    {
      ...session,
      method: "GET",
      operation: "getConsoleSession",
      summary: "Show whether one is signed in to the web console",
      auth: "admin",
      handle: async ({ headers }) => showSession(await sessions.of(headers)),
    },
    {
      ...session,
      method: "DELETE",
      operation: "closeConsoleSession",
      summary: "Sign out of the web console: deletes the cookie",
      auth: "none",
      responses: { 204: { description: "Signed out" } },
      handle: ({ headers }) =>
        new Response(null, { status: 204, headers: withoutCookie(deps.consoleKey, headers) }),
    },
  ];
}

const session = {
  path: adminPath("session"),
  tag: "Admin: console",
  responses: { 200: { description: "The session", schema: shown } },
} as const;

function readPassword({ body }: Call): string {
  const errors = createErrors();
  const { password } = validFields(SignIn, body?.json ?? {}, errors);
  if (password === undefined) throw validationFailed(errors.list());
  return password;
}

function showSession(opened: ConsoleSession | undefined, headers: Readonly<Record<string, string>> = {}) {
  return Response.json(opened ? { expires_at: toIso(opened.expiresAt) } : {}, { headers });
}

/** Headers of the answer that signs the browser out. */
export function withoutCookie(consoleKey: Uint8Array | undefined, headers: Headers): SetCookie {
  return setCookie(consoleKey, { value: "", maxAgeSeconds: 0 }, headers);
}

type SetCookie = Readonly<Record<string, string>>;

/**
 * Scripts cannot read it, it goes to the admin API only, and no page of another site makes a browser send it. Whether the
 * page came over HTTPS, the browser says: a proxy in front may end TLS.
 */
function setCookie(
  consoleKey: Uint8Array | undefined,
  { value, maxAgeSeconds }: { readonly value: string; readonly maxAgeSeconds: number },
  headers: Headers,
): SetCookie {
  if (!consoleKey) return {};
  const isSecure = headers.get("origin")?.startsWith("https:");
  const rest = `Path=${adminPath("")}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict`;
  return { "Set-Cookie": `${cookieNameOf(consoleKey)}=${value}; ${rest}${isSecure ? "; Secure" : ""}` };
}
