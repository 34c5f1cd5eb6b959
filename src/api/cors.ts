/** Browsers may call the push endpoints from any page: there is no cookie and no key that a page could abuse. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "X-Request-Id, Retry-After, Idempotent-Replayed, Idempotent-Payload-Mismatch",
};

/** The answer to a preflight. Browsers keep it for two hours at most, whatever is asked of them. */
export function preflightResponse(allow: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...CORS_HEADERS,
      "Access-Control-Allow-Methods": allow,
      "Access-Control-Allow-Headers": ALLOWED_HEADERS,
      "Access-Control-Max-Age": "7200",
    },
  });
}

/** Any, since a page's tracing adds its own (`traceparent`) to every request. Named are those for browsers that do not read `*`. */
const ALLOWED_HEADERS = "Content-Type, Idempotency-Key, X-Request-Id, *";
