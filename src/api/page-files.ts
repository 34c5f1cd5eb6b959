/** What the pages that this process serves itself have in common: `/docs` and `/console`. */
import type { Endpoint } from "./endpoint.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** @param policy the directives of the page's Content-Security-Policy beside those that all pages have */
export function pageHeaders(policy: readonly string[]) {
  const directives = ["default-src 'none'", "script-src 'self'", ...policy, ...SHARED_POLICY];
  const headers = {
    "Content-Security-Policy": directives.join("; "),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
  };
  return (name: string) => ({ ...headers, "Content-Type": typeOf(name) });
}

/** Nothing comes from elsewhere, and no other site shows the page as part of its own. */
const SHARED_POLICY = [
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Makes the endpoints of a page's files. */
export function pageEndpoints(summary: string) {
  const responses = { 200: { description: `A file of the ${summary}.` } };
  const shared = { method: "GET", summary, tag: "Operation", auth: "none", responses } as const;
  return (path: string, operation: string, handle: Endpoint["handle"]): Endpoint => ({
    ...shared,
    path,
    operation,
    handle,
  });
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}
