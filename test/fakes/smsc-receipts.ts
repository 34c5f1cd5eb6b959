import { cString } from "../../src/channels/sms/smpp/wire/octets.ts";
import { encodeShortMessage, type ShortMessage, TAG } from "../../src/channels/sms/smpp/wire/pdu.ts";
import type { ReceivedSubmit } from "./fake-smsc.ts";
import type { SmscDial } from "./smsc-dial.ts";

const STATES = [
  "SCHEDULED",
  "ENROUTE",
  "DELIVRD",
  "EXPIRED",
  "DELETED",
  "UNDELIV",
  "ACCEPTD",
  "UNKNOWN",
  "REJECTD",
];

/** The deliver_sm that tells of a submit_sm, as the dial says. */
export function receiptFor(
  dial: SmscDial,
  submit: ReceivedSubmit,
  state = dial.receiptState ?? "DELIVRD",
): Partial<ShortMessage> {
  const id = receiptId(dial, submit.messageId);
  const addresses = { source: submit.destination, destination: submit.source, esmClass: 0x04 };
  const reference = submit.tlvs.get(TAG.userMessageReference);
  if (dial.receiptForm === "text") {
    const dlvrd = state === "DELIVRD" ? "001" : "000";
    const dates = "submit date:2601151200 done date:2601151201";
    const err = dial.receiptError ?? "000";
    const text = `id:${id} sub:001 dlvrd:${dlvrd} ${dates} stat:${state} err:${err} text:Hello`;
    return { ...addresses, shortMessage: Buffer.from(text, "latin1") };
  }
  const tlvs = new Map<number, Uint8Array>([
    [TAG.receiptedMessageId, cString(id)],
    [TAG.messageState, Uint8Array.of(STATES.indexOf(state))],
    ...(reference ? [[TAG.userMessageReference, reference] as const] : []),
  ]);
  return { ...addresses, tlvs };
}

function receiptId(dial: SmscDial, messageId: string): string {
  if (dial.ids === "hex, receipt decimal") return BigInt(`0x${messageId}`).toString().padStart(12, "0");
  if (dial.ids === "decimal, receipt hex") return BigInt(messageId).toString(16);
  return messageId;
}

/** The body of a deliver_sm, from and to nobody unless `message` says otherwise. */
export function deliverBody(message: Partial<ShortMessage>): Uint8Array {
  const nobody = { ton: 0, npi: 0, address: "" };
  return encodeShortMessage({
    source: nobody,
    destination: nobody,
    esmClass: 0,
    validityPeriod: "",
    registeredDelivery: 0,
    dataCoding: 0,
    shortMessage: Buffer.alloc(0),
    tlvs: new Map(),
    ...message,
  });
}
