import type { MessageError } from "../../../core/messages/message.ts";
import type { SendDescription } from "./gateway.ts";
import { fillJson, fillTemplate, type Lookup } from "./template.ts";

export interface RenderedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type Rendered = { readonly request: RenderedRequest } | { readonly error: MessageError };

/** The request that a description makes of a message, or why it makes none. Values are escaped as their place requires. */
export function renderRequest(send: SendDescription, lookup: Lookup): Rendered {
  const missing = send.required?.find((name) => !lookup(name));
  if (missing !== undefined)
    return refusal("missing_value", `the message has no ${missing}, and this provider needs it`);
  const url = renderUrl(send, lookup);
  if (!url) return refusal("invalid_url", "the description makes no URL of this message");
  const { type, body } = renderBody(send, lookup);
  const headers = renderHeaders(send, lookup);
  if (!headers)
    return refusal("invalid_header", "a value for a header must be printable ASCII without line ends");
  return {
    request: {
      method: send.method ?? "POST",
      url,
      headers: { ...(type && { "Content-Type": type }), ...headers },
      ...(body !== undefined && { body }),
    },
  };
}

function refusal(code: string, message: string): { readonly error: MessageError } {
  return { error: { code: `http.${code}`, message } };
}

function renderUrl({ url: template, query, auth }: SendDescription, lookup: Lookup): URL | undefined {
  const filled = fillTemplate(template, lookup, encodeURIComponent);
  if (filled === undefined || (LEADS_UP.test(filled) && !LEADS_UP.test(template))) return undefined;
  const url = URL.parse(filled);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const given = auth?.kind === "query" && auth.name ? { ...query, [auth.name]: auth.value } : query;
  for (const [name, value] of fields(given, lookup)) url.searchParams.append(name, value);
  return url;
}

/** A segment `.` or `..`: as a value it would lead to another path, and escaping does not prevent that (RFC 3986 §5.2.4). */
const LEADS_UP = /^[^?#]*\/\.{1,2}(?:[/?#]|$)/;

function renderBody(send: SendDescription, lookup: Lookup): { type?: string; body?: string } {
  if (send.json !== undefined) {
    return { type: "application/json", body: JSON.stringify(fillJson(send.json, lookup) ?? {}) };
  }
  if (!send.form) return {};
  const body = new URLSearchParams([...fields(send.form, lookup)]).toString();
  return { type: "application/x-www-form-urlencoded", body };
}

/** The fields whose placeholders all have a value, with these filled in. */
function* fields(
  templates: Readonly<Record<string, string>> | undefined,
  lookup: Lookup,
): Generator<[name: string, value: string]> {
  for (const [name, template] of Object.entries(templates ?? {})) {
    const value = fillTemplate(template, lookup, (one) => one);
    if (value !== undefined) yield [name, value];
  }
}

/** Whether a value is printable ASCII: without line ends, it cannot add a header. */
export function isHeaderValue(value: string): boolean {
  return /^[\x20-\x7e]*$/.test(value);
}

function renderHeaders(send: SendDescription, lookup: Lookup): Record<string, string> | undefined {
  const headers = Object.fromEntries(fields(send.headers, lookup));
  const { auth } = send;
  if (auth?.kind === "basic") {
    const pair = `${fill(auth.username ?? "", lookup)}:${fill(auth.value, lookup)}`;
    headers.Authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
  }
  if (auth?.kind === "bearer") headers.Authorization = `Bearer ${fill(auth.value, lookup)}`;
  if (auth?.kind === "header" && auth.name) headers[auth.name] = fill(auth.value, lookup);
  return Object.values(headers).every(isHeaderValue) ? headers : undefined;
}

function fill(template: string, lookup: Lookup): string {
  return fillTemplate(template, lookup, (one) => one) ?? "";
}
