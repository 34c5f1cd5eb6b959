import { bareId, markedHex } from "../../../../core/receipts/provider-id.ts";

/** How an SMSC writes a message's id in its submit_sm_resp and in its receipts. */
export type IdFormat = "same" | "resp_hex_receipt_dec" | "resp_dec_receipt_hex";

/** Who wrote an id. */
export type IdSource = "response" | "receipt";

/**
 * One form for an id, whether the SMSC wrote it in a submit_sm_resp or in a receipt. Numbers of any size are written in capitals,
 * without leading zeros and, if the two bases differ, in hexadecimal; UUIDs in capitals. Anything else is opaque, and only
 * loses the blanks and quotes around it.
 */
export function canonicalId(id: string, format: IdFormat, source: IdSource): string {
  const bare = bareId(id);
  // A number that is marked as hexadecimal (`0x`) is hexadecimal, whatever the connector's setting says.
  const hex = markedHex(bare);
  const isDecimal = hex === undefined && DECIMAL_SOURCE[format] === source && /^\d+$/.test(bare);
  if (isDecimal) return BigInt(bare).toString(16).toUpperCase();
  const written = hex ?? bare;
  if (NUMBER.test(written)) return written.replace(/^0+(?=.)/, "").toUpperCase();
  return UUID.test(written) ? written.toUpperCase() : written;
}

/**
 * The ids to record of a submit_sm_resp: first as the SMSC wrote it, to ask about it (query_sm); then, if it differs, its
 * canonical form, which receipts are matched by. Empty if the SMSC gave none.
 */
export function responseIds(id: string, format: IdFormat): readonly string[] {
  const canonical = canonicalId(id, format, "response");
  if (canonical === "") return [];
  return canonical === id ? [id] : [id, canonical];
}

/** Which of the two writes numbers in decimal, while the other writes them in hexadecimal. */
const DECIMAL_SOURCE: Readonly<Record<IdFormat, IdSource | undefined>> = {
  same: undefined,
  resp_hex_receipt_dec: "receipt",
  resp_dec_receipt_hex: "response",
};

const NUMBER = /^[0-9A-Fa-f]+$/;
const UUID = /^[0-9A-Fa-f]+(-[0-9A-Fa-f]+)+$/;
