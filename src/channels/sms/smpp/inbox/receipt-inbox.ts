import type { Receipt } from "../../../../core/messages/outcome.ts";
import type { ChannelDeps } from "../../../channel.ts";
import type { OwnCodes } from "../../dlt-scrub-codes.ts";
import { canonicalId, type IdFormat } from "../wire/message-id.ts";
import type { ShortMessage } from "../wire/pdu.ts";
import { STATUS_OK } from "../wire/status-words.ts";
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
  readonly reading: () => ReceiptReading;
}

interface ReceiptReading {
  readonly idFormat: IdFormat;
  /** The connector's own scrub codes. */
  readonly dltCodes?: OwnCodes;
}

/** The time between two log lines about receipts without an id: an SMSC may send nothing else, thousands in a second. */
const NAMELESS_GAP_MS = 60_000;

export function createReceiptInbox(options: InboxOptions, deps: InboxDeps): ReceiptInbox {
  const { connectorId, storeTimeoutMs, reading } = options;
  const line = createStoreLine<Receipt>(
    { noun: "receipts", connectorId, timeoutMs: storeTimeoutMs, store: deps.onReceipts },
    deps,
  );
  const tellNameless = createNamelessLog(connectorId, deps);
  return {
    take(message, acknowledge) {
      const { idFormat, dltCodes } = reading();
      const receipt = readReceipt(message, dltCodes);
      if (!receipt) {
        tellNameless();
        return acknowledge(STATUS_OK);
      }
      line.join({ ...canonical(receipt, idFormat), connectorId, receivedAt: deps.clock.now() }, acknowledge);
    },
  };
}

/** Logs the first receipt without an id, and then, at most once a minute, how many there were since. */
function createNamelessLog(connector: string, { clock, log }: Pick<InboxDeps, "clock" | "log">): () => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let dropped = 0;
  return () => {
    dropped++;
    const nowMs = clock.monotonicMs();
    if (nowMs - toldAtMs < NAMELESS_GAP_MS) return;
    log.warn({ connector, dropped }, "a receipt names no message and was dropped");
    toldAtMs = nowMs;
    dropped = 0;
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
