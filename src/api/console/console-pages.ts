/** The web console at `/console`: its page, style sheet and scripts, served from this process. */
import { hash } from "node:crypto";
import type { AppDeps } from "../app-deps.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { notFound } from "../errors.ts";
import { pageEndpoints, pageHeaders } from "../page-files.ts";

/** Nothing is inline, and no text becomes markup. */
const headersOf = pageHeaders([
  "style-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
]);

const page = pageEndpoints("web console");

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
    const headers = { ...headersOf(name), ETag: etag };
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
