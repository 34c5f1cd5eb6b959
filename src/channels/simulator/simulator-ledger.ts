import type { ChannelName, MessageError } from "../../core/message.ts";
import type { Receipt } from "../../core/outcome.ts";

/** What the simulator needs of its memory; the store's sandbox ledger is one. */
export interface SimulatorLedger {
  /** Resolves when the entries are durable; stores none of them when it rejects. */
  record(entries: readonly SimulatorEntry[]): Promise<void>;
  /** Entries of either channel whose receipt is due and has not been stored as a receipt yet, earliest first. */
  dueReceipts(now: number, limit: number): Promise<readonly OwedReceipt[]>;
  /** When the next receipt is due, of either channel; `undefined` if none is owed. Unix milliseconds. */
  nextReceiptAt(): Promise<number | undefined>;
}

export type OwedReceipt = Pick<SimulatorEntry, "id" | "channel" | "receipt">;

/** One message (SMS) or one recipient's copy (email) that was taken. */
export interface SimulatorEntry {
  /** UUIDv7; also the provider message id. */
  readonly id: string;
  readonly accountId: string;
  readonly messageId: string;
  readonly channel: ChannelName;
  /** Number or address. */
  readonly to: string;
  readonly receivedAt: number;
  /** As the admin API shows it, snake_case. */
  readonly rendered: Readonly<Record<string, unknown>>;
  /** What is owed; absent where nothing will ever be said. */
  readonly receipt?: {
    readonly at: number;
    readonly status: Receipt["status"];
    readonly error?: MessageError;
  };
}
