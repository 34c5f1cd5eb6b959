/** One-click unsubscribe (RFC 8058): the page behind the link in a mail, and the POST that mail clients make. */
import Type from "typebox";
import { addressBlock } from "../../core/network/address-block.ts";
import type { AppDeps } from "../app-deps.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { notFound } from "../errors.ts";
import { countRequest } from "../limits/count-request.ts";
import type { RateLimiter } from "../limits/rate-limit.ts";

/** `token`: letters, digits, `-` and `_`; for the route table, the parameter's name in braces. */
export function unsubscribePath(token: string): string {
  return `/unsubscribe/${token}`;
}

/** Per client address. It is high because a mail provider posts for many of its users. */
const RATE = { rate: 50, burst: 500 };

/** Far more than the form that RFC 8058 asks for, `List-Unsubscribe=One-Click`. */
const MAX_BYTES = 16 * 1024;

export function unsubscribeEndpoints(
  { unsubscribes }: Pick<AppDeps, "unsubscribes">,
  limiter: RateLimiter,
): readonly Endpoint[] {
  if (!unsubscribes) return [];
  const count = ({ clientAddress }: Call) =>
    countRequest(limiter, { key: `unsubscribe ${addressBlock(clientAddress)}`, limit: RATE });
  return [
    {
      ...shared,
      method: "GET",
      operation: "showUnsubscribe",
      summary: "Show the page behind an unsubscribe link; changes nothing",
      handle(call) {
        count(call);
        if (!unsubscribes.isKnown(call.params.token ?? "")) throw notFound();
        return page(ASK);
      },
    },
    {
      ...shared,
      method: "POST",
      operation: "unsubscribe",
      summary: "Unsubscribe the recipient of a link, at once (RFC 8058)",
      rawBody: { maxBytes: MAX_BYTES },
      async handle(call) {
        count(call);
        if (!(await unsubscribes.unsubscribe(call.params.token ?? ""))) throw notFound();
        return page(DONE);
      },
    },
  ];
}

const shared = {
  path: unsubscribePath("{token}"),
  tag: "Unsubscribe",
  auth: "none",
  responses: {
    200: { description: "A page for the recipient", schema: Type.String(), mediaType: "text/html" },
    404: { description: "Unknown link" },
    429: { description: "`too many requests` from one client address" },
  },
} as const satisfies Partial<Endpoint>;

/** Mail scanners open links as well as people do, so the page only asks, and its button acts. */
const ASK = `<p>Do you want no more of these emails?</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`;

const DONE = "<p>You are unsubscribed: no more emails will be sent to you from here.</p>";

function page(content: string): Response {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>Unsubscribe</title>`;
  return new Response(
    `<!doctype html><html lang="en"><head>${head}</head><body>\n${content}\n</body></html>\n`,
    {
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
      },
    },
  );
}
