/** How an SMSC writes the id of a message in its submit_sm_resp and in its receipts. */
export type IdFormat = "same" | "resp_hex_receipt_dec" | "resp_dec_receipt_hex";

/** Who wrote an id. */
export type IdSource = "response" | "receipt";

/**
 * The one form of an id that both of the SMSC's ways to write it come to. Numbers lose their leading zeros and come
 * in capitals and, where the two bases differ, in hexadecimal, whatever their size; UUIDs come in capitals; anything
 * else is opaque and stays as it is, but for blanks around it.
 */
export function canonicalId(id: string, format: IdFormat, source: IdSource): string {
  const trimmed = id.trim();
  const isDecimal = DECIMAL_SOURCE[format] === source && /^\d+$/.test(trimmed);
  if (isDecimal) return BigInt(trimmed).toString(16).toUpperCase();
  if (NUMBER.test(trimmed)) return trimmed.replace(/^0+(?=.)/, "").toUpperCase();
  return UUID.test(trimmed) ? trimmed.toUpperCase() : trimmed;
}

/**
 * The ids of a submit_sm_resp for the record: first as the SMSC wrote it, for asking about it, then, if it is another,
 * as receipts will name it. None where there is none.
 */
export function responseIds(id: string, format: IdFormat): readonly string[] {
  const canonical = canonicalId(id, format, "response");
  if (canonical === "") return [];
  return canonical === id ? [id] : [id, canonical];
}

/** Which of the two writes decimal numbers that the other writes in hexadecimal. */
const DECIMAL_SOURCE: Readonly<Record<IdFormat, IdSource | undefined>> = {
  same: undefined,
  resp_hex_receipt_dec: "receipt",
  resp_dec_receipt_hex: "response",
};

const NUMBER = /^[0-9A-Fa-f]+$/;
const UUID = /^[0-9A-Fa-f]+(-[0-9A-Fa-f]+)+$/;
