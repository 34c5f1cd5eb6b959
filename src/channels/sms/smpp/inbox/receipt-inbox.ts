import type { Receipt } from "../../../../core/messages/outcome.ts";
import { createDroppedLog } from "../../../../core/receipts/dropped-log.ts";
import type { ChannelDeps } from "../../../channel.ts";
import type { AnswerReading } from "../submit/submit-result.ts";
import { canonicalId, type IdFormat } from "../wire/message-id.ts";
import type { ShortMessage } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
import { createLateReceipts } from "./late-receipts.ts";
import { readReceipt, type SmppReceipt } from "./receipt.ts";
import { createStoreLine } from "./store-line.ts";

/** Receives the receipts that the SMSC delivers: stores them, and only then acknowledges them. */
export interface ReceiptInbox {
  take(message: ShortMessage, acknowledge: (status: number) => void): void;
}

type InboxDeps = Pick<ChannelDeps, "clock" | "log" | "onReceipts">;

export interface InboxOptions {
  readonly connectorId: string;
  readonly storeTimeoutMs: number;
  /** How receipts are read at present. */
  readonly reading: () => Pick<AnswerReading, "idFormat" | "dltCodes">;
}

export function createReceiptInbox(options: InboxOptions, deps: InboxDeps): ReceiptInbox {
  const { connectorId, storeTimeoutMs, reading } = options;
  const late = createLateReceipts(deps.clock, storeTimeoutMs);
  const store = (receipts: readonly Receipt[]) => late.watch(receipts, deps.onReceipts(receipts));
  const line = createStoreLine<Receipt>(
    { noun: "receipts", connectorId, timeoutMs: storeTimeoutMs, store },
    deps,
  );
  const tellNameless = createDroppedLog(deps, "a receipt names no message and was dropped");
  return {
    take(message, acknowledge) {
      const { idFormat, dltCodes } = reading();
      const read = readReceipt(message, dltCodes);
      if (!read) {
        tellNameless(connectorId);
        return acknowledge(STATUS_OK);
      }
      const receipt = { ...canonical(read, idFormat), connectorId, receivedAt: deps.clock.now() };
      const answer = late.answerTo(receipt);
      if (answer !== undefined) return acknowledge(answer);
      line.join(receipt, acknowledge);
    },
  };
}

function canonical(
  { providerMessageId: id, otherId: other, ...rest }: SmppReceipt,
  format: IdFormat,
): SmppReceipt {
  const providerMessageId = canonicalId(id, format, "receipt");
  const otherId = other === undefined ? providerMessageId : canonicalId(other, format, "receipt");
  return { ...rest, providerMessageId, ...(otherId !== providerMessageId && { otherId }) };
}
