/** Checks the proof that a callback comes from the provider, beyond the token in its path. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { CallbackRequest } from "../../channel.ts";
import { documentOf, fieldsOf, queryOf } from "./callback-document.ts";
import type { VerifyDescription } from "./gateway.ts";

/** Whether the request carries the proof that the description asks for; false if the secret for it is not set. */
export function isAuthentic(
  verify: VerifyDescription,
  secrets: Readonly<Record<string, string>>,
  request: CallbackRequest,
): boolean {
  const secret = secrets[verify.secret];
  return secret !== undefined && PROOFS[verify.scheme]({ verify, secret, request });
}

interface Case {
  readonly verify: VerifyDescription;
  readonly secret: string;
  readonly request: CallbackRequest;
}

const PROOFS: Readonly<Record<VerifyDescription["scheme"], (of: Case) => boolean>> = {
  basic: ({ verify, secret, request }) => {
    const pair = Buffer.from(`${verify.username ?? ""}:${secret}`).toString("base64");
    const [scheme = "", given = ""] = header(request, "authorization").split(" ", 2);
    return scheme.toLowerCase() === "basic" && isSame(given, pair);
  },
  header: ({ verify, secret, request }) => isSame(header(request, verify.header ?? ""), secret),
  hmac: ({ verify, secret, request }) => {
    const { algorithm = "sha256", encoding = "hex", prefix = "" } = verify;
    const made = createHmac(algorithm, secret).update(request.body).digest(encoding);
    return isSame(header(request, verify.header ?? ""), prefix + made);
  },
  twilio: ({ secret, request }) => {
    if (hasUnsignedBody(request)) return false;
    const fields = isForm(request) ? fieldsOf(request.body) : {};
    const signed = sortedPairs(fields, "", "");
    return withAndWithoutPort(request.url).some((url) =>
      isSame(header(request, "x-twilio-signature"), hmac("sha1", secret, url + signed)),
    );
  },
  plivo: ({ secret, request }) => {
    const isV3 = request.headers.has("x-plivo-signature-v3");
    if (isV3 && hasUnsignedBody(request)) return false;
    const name = isV3 ? "x-plivo-signature-v3" : "x-plivo-signature-v2";
    const nonce = header(request, `${name}-nonce`);
    const made = hmac("sha256", secret, isV3 ? `${plivoV3(request)}.${nonce}` : plivoUrl(request) + nonce);
    // While the Auth Token is being changed, the header has several signatures.
    return (
      nonce !== "" &&
      header(request, name)
        .split(",")
        .some((given) => isSame(given.trim(), made))
    );
  },
  vonage: ({ verify, secret, request }) => {
    const { sig = "", ...fields } = vonageFields(request);
    return isSame(sig.toLowerCase(), vonageSignature(fields, secret, verify.algorithm));
  },
};

// ---------------------------------------------------------------- Twilio

/** Twilio's own libraries try both forms of a URL, since Twilio signs now the one and now the other. */
function withAndWithoutPort(url: string): readonly string[] {
  const [, origin = "", port, rest = ""] =
    /^(https?:\/\/(?:\[[^\]]*\]|[^/?#:]*))(:\d+)?(.*)$/.exec(url) ?? [];
  const usual = origin.startsWith("https:") ? ":443" : ":80";
  return [origin + rest, origin + (port ?? usual) + rest];
}

// ---------------------------------------------------------------- Plivo

/** What version 2, for messaging, signs: the URL without its query. */
function plivoUrl({ url }: CallbackRequest): string {
  return url.split("?", 1)[0] ?? "";
}

/** What version 3, for voice, signs: the URL, its sorted query and the sorted fields of the form. */
function plivoV3(request: CallbackRequest): string {
  const query = sortedPairs(fieldsOf(queryOf(request.url)), "=", "&");
  const fields = isForm(request) ? sortedPairs(fieldsOf(request.body), "", "") : "";
  const hasQuery = query !== "" || fields !== "";
  return (
    plivoUrl(request) + (hasQuery ? `?${query}` : "") + (query !== "" && fields !== "" ? "." : "") + fields
  );
}

// ---------------------------------------------------------------- Vonage

function vonageFields(request: CallbackRequest): Record<string, string> {
  const document = documentOf(request, undefined);
  const entries = Object.entries(document ?? {}).filter(([, value]) => typeof value !== "object");
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/**
 * Signs `&name=value` for each of the sorted fields, with `_` for `&` and `=` in values: by MD5 with the secret appended, or by
 * an HMAC.
 */
function vonageSignature(
  fields: Readonly<Record<string, string>>,
  secret: string,
  algorithm: VerifyDescription["algorithm"],
): string {
  const tidied = Object.entries(fields).map(([name, value]) => [name, value.replace(/[&=]/g, "_")] as const);
  const signed = `&${sortedPairs(Object.fromEntries(tidied), "=", "&")}`;
  return algorithm === undefined
    ? createHash("md5")
        .update(signed + secret)
        .digest("hex")
    : createHmac(algorithm, secret).update(signed).digest("hex");
}

// ---------------------------------------------------------------- shared

function header({ headers }: CallbackRequest, name: string): string {
  return name === "" ? "" : (headers.get(name) ?? "");
}

function isForm({ headers }: CallbackRequest): boolean {
  return /x-www-form-urlencoded/i.test(headers.get("content-type") ?? "");
}

/** Whether it has a body that nobody signed: only the fields of a form are signed, but a body of another type is read as well. */
function hasUnsignedBody(request: CallbackRequest): boolean {
  return request.method !== "GET" && request.body !== "" && !isForm(request);
}

function hmac(algorithm: string, secret: string, text: string): string {
  return createHmac(algorithm, secret).update(text).digest("base64");
}

/** The fields as text, sorted by name in order of code units. */
function sortedPairs(fields: Readonly<Record<string, string>>, between: string, joined: string): string {
  const names = Object.keys(fields).sort();
  return names.map((name) => name + between + fields[name]).join(joined);
}

/** Compares in constant time, so that the time does not tell how much was right. An empty `given` is never right. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && given !== "" && timingSafeEqual(a, b);
}
