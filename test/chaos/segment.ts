/** What a submit_sm says, as a handset would read it. */
import { ESM_UDHI, type ShortMessage, TAG, userData } from "../../src/channels/sms/smpp/wire/pdu.ts";
import type { HandOver } from "./model.ts";

/** data_coding of UCS-2; what the runs write in the default alphabet is ASCII in it. */
const UCS2 = 8;

/** Where a header of one element has the number of parts, counted from its end: both kinds end with it and the part's own. */
const TOTAL_FROM_END = 2;

export function contentOf(message: ShortMessage): Pick<HandOver, "text" | "segments"> {
  const octets = userData(message);
  const hasHeader = (message.esmClass & ESM_UDHI) !== 0;
  const headerEnd = hasHeader ? (octets[0] ?? 0) + 1 : 0;
  const text = octets.subarray(headerEnd);
  const inHeader = hasHeader ? octets[headerEnd - TOTAL_FROM_END] : undefined;
  return {
    text:
      message.dataCoding === UCS2
        ? new TextDecoder("utf-16be").decode(text)
        : Buffer.from(text).toString("latin1"),
    segments: inHeader ?? message.tlvs.get(TAG.sarTotal)?.[0] ?? 1,
  };
}
