import { type ParsedJson, parseJsonObject } from "./parse-json-object.ts";

/** A body's exact text, and what it parses to. */
export interface JsonBody {
  readonly text: string;
  readonly parsed: ParsedJson;
}

/** `readJson` on another thread, for large bodies. An `ArrayBuffer` is transferred, so the caller cannot use it any more. */
export type ReadLargeJson = (octets: ArrayBuffer | Uint8Array) => Promise<JsonBody | undefined>;

/** `undefined` if the octets are not UTF-8. */
export function readJson(octets: ArrayBuffer | Uint8Array): JsonBody | undefined {
  const text = decodeUtf8(octets);
  return text === undefined ? undefined : { text, parsed: parseJsonObject(text) };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** `undefined` if the octets are not UTF-8. */
export function decodeUtf8(octets: ArrayBuffer | Uint8Array): string | undefined {
  try {
    return utf8.decode(octets);
  } catch {
    return undefined;
  }
}
