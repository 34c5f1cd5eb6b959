/** The web console at `/console`: its page, style sheet and scripts, served from this process. */
import type { AppDeps } from "../app-deps.ts";
import type { Endpoint } from "../endpoint.ts";
import { notFound } from "../errors.ts";

/** Nothing is inline, nothing comes from elsewhere, and no text becomes markup. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

export function consolePages({ consoleAsset }: Pick<AppDeps, "consoleAsset">): readonly Endpoint[] {
  if (!consoleAsset) return [];
  // A `Blob` is shared by all answers. Text would be encoded for each, and kept until its client has read it.
  const files = new Map<string, Blob>();
  const fileNamed = (name: string): Blob => {
    const known = files.get(name);
    if (known) return known;
    const text = consoleAsset(name);
    if (text === undefined) throw notFound();
    const file = new Blob([text]);
    files.set(name, file);
    return file;
  };
  const answer = (name: string) =>
    new Response(fileNamed(name), { headers: { ...HEADERS, "Content-Type": typeOf(name) } });

  return [
    { ...page("/console", "console", () => answer("index.html")), aliases: ["/console/"] },
    page("/console/{asset}", "consoleAsset", ({ params }) => answer(params.asset ?? "")),
  ];
}

function page(path: string, operation: string, handle: Endpoint["handle"]): Endpoint {
  return {
    method: "GET",
    path,
    operation,
    summary: "Web console",
    tag: "Operation",
    auth: "none",
    responses: { 200: { description: "A file of the web console." } },
    handle,
  };
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}
