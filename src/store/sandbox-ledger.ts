import type { SandboxEntry, SandboxQuery } from "../core/messages/sandbox-entry.ts";

/** Messages the simulator was given, and the receipts it still owes: stored, so that neither is lost in a crash. */
export interface SandboxLedger {
  /** Stores entries with new ids. */
  record(entries: readonly SandboxEntry[]): Promise<void>;
  /** In order of id, which is that of time, from either end. */
  list(query: SandboxQuery): Promise<readonly SandboxEntry[]>;
  /** Entries of both channels whose receipt is due, the longest due first, until `ReceiptStore.record` has recorded it. */
  dueReceipts(now: number, limit: number): Promise<readonly SandboxEntry[]>;
  /** When the next receipt is due, of either channel; `undefined` if none is owed. */
  nextReceiptAt(): Promise<number | undefined>;
}
