/** The web console at `/console`: its page, style sheet and scripts, served from this process. */
import { hash } from "node:crypto";
import type { AppDeps } from "../app-deps.ts";
import type { Call, Endpoint } from "../endpoint.ts";
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
  const files = new Map<string, AssetFile>();
  const fileNamed = (name: string): AssetFile => {
    const known = files.get(name);
    if (known) return known;
    const text = consoleAsset(name);
    if (text === undefined) throw notFound();
    const file = { blob: new Blob([text]), etag: `"${hash("sha256", text, "base64url")}"` };
    files.set(name, file);
    return file;
  };
  const answer = (name: string, call: Call): Response => {
    const { blob, etag } = fileNamed(name);
    const headers = { ...HEADERS, "Content-Type": typeOf(name), ETag: etag };
    const isKnown = call.headers.get("if-none-match") === etag;
    return isKnown ? new Response(null, { status: 304, headers }) : new Response(blob, { headers });
  };

  return [
    { ...page("/console", "console", (call) => answer("index.html", call)), aliases: ["/console/"] },
    page("/console/{asset}", "consoleAsset", (call) => answer(call.params.asset ?? "", call)),
  ];
}

interface AssetFile {
  readonly blob: Blob;
  readonly etag: string;
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
