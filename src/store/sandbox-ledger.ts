import type { SandboxEntry, SandboxQuery } from "../core/messages/sandbox-entry.ts";

/** The messages that the simulator was given, and the receipts that it still owes. Stored, so that a crash loses neither. */
export interface SandboxLedger {
  /** Stores entries with new ids. */
  record(entries: readonly SandboxEntry[]): Promise<void>;
  /** Entries in order of id, and so of time, from either end. */
  list(query: SandboxQuery): Promise<readonly SandboxEntry[]>;
  /** Entries of either channel whose receipt is due and not yet recorded by `ReceiptStore.record`; the longest due first. */
  dueReceipts(now: number, limit: number): Promise<readonly SandboxEntry[]>;
  /** When the next receipt of either channel is due; `undefined` if none is owed. */
  nextReceiptAt(): Promise<number | undefined>;
}
