import type { SandboxEntry } from "../../core/messages/sandbox-entry.ts";

/** Where the simulator keeps what it was given; implemented by the store's sandbox ledger. */
export interface SimulatorLedger {
  /** Resolves when the entries are durable; stores none of them when it rejects. */
  record(entries: readonly SandboxEntry[]): Promise<void>;
  /** Entries of either channel whose receipt is due and not yet recorded, earliest first. */
  dueReceipts(now: number, limit: number): Promise<readonly OwedReceipt[]>;
  /** When the next receipt is due, of either channel; `undefined` if none is owed. Unix milliseconds. */
  nextReceiptAt(): Promise<number | undefined>;
}

export type OwedReceipt = Pick<SandboxEntry, "id" | "channel" | "receipt">;
