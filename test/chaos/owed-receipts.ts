/** The receipts that an SMSC owes: sent when they are due, and again until they are acknowledged. */
import type { ShortMessage } from "../../src/channels/sms/smpp/wire/pdu.ts";
import { receiptFor } from "../fakes/smsc-receipts.ts";
import type { PaidReceipt } from "./model.ts";
import type { Submitted } from "./smsc.ts";
import { type PlannedReceipt, receiptsOf, WORD_OF } from "./smsc-fates.ts";

export interface OwedReceipt extends PaidReceipt {
  readonly state: PlannedReceipt["state"];
  readonly dueMs: number;
  inFlightSinceMs?: number;
}

/** Sends a deliver_sm; false if no ESME is bound. */
export type Deliver = (message: Partial<ShortMessage>, onAnswer: (status: number) => void) => boolean;

/** A deliver_sm without an answer is sent again after this time. */
const REPEAT_AFTER_MS = 2_500;

/** Plans the receipts of a submit_sm that was taken, by `seed`. Those that precede the answer are sent at once. */
export function oweReceipts(submit: Submitted, seed: string, deliver: Deliver): void {
  const { receipts, repeatsReference } = receiptsOf(seed);
  const owed = receipts.map(toOwed);
  submit.receipts.push(...owed);
  submit.repeatsReference = repeatsReference;
  if (owed.some(({ dueMs }) => dueMs === 0)) payReceipts([submit], deliver);
}

/** Those that precede the answer are due at once. */
export function toOwed({ state, afterMs }: PlannedReceipt): OwedReceipt {
  return { state, says: WORD_OF[state], dueMs: afterMs < 0 ? 0 : Date.now() + afterMs, tries: 0 };
}

export function isOwed({ storedAtMs }: Pick<PaidReceipt, "storedAtMs">): boolean {
  return storedAtMs === undefined;
}

/** Sends all receipts that are due. */
export function payReceipts(submits: readonly Submitted[], deliver: Deliver): void {
  const nowMs = Date.now();
  for (const submit of submits) {
    for (const receipt of submit.receipts) {
      const isUnderWay = nowMs - (receipt.inFlightSinceMs ?? 0) < REPEAT_AFTER_MS;
      if (isOwed(receipt) && receipt.dueMs <= nowMs && !isUnderWay) pay(submit, receipt, deliver);
    }
  }
}

function pay(submit: Submitted, receipt: OwedReceipt, deliver: Deliver): void {
  const { tlvs: _, ...rest } = submit.message;
  const tlvs = submit.repeatsReference ? submit.message.tlvs : new Map<number, Uint8Array>();
  const told = { ...rest, tlvs, sequence: 0, messageId: submit.messageId };
  const isSent = deliver(receiptFor({ receiptForm: formOf(submit) }, told, receipt.state), (status) => {
    delete receipt.inFlightSinceMs;
    if (status === 0) receipt.storedAtMs ??= Date.now();
  });
  if (!isSent) return;
  receipt.inFlightSinceMs = Date.now();
  receipt.tries++;
}

function formOf({ reference }: Submitted): "text" | "tlv" {
  return reference % 4 === 0 ? "text" : "tlv";
}
