import type { Clock } from "../../core/clock.ts";
import type { SandboxEntry } from "../../core/messages/sandbox-entry.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { SandboxLedger } from "../../store/store.ts";
import type { ChannelLog } from "../channel.ts";

/** `failed`: nothing was stored. `unanswered`: the entries may have been stored. */
export type Written = "written" | "failed" | "unanswered";

export interface EntryWriter {
  /** Makes one message's entries durable, together or not at all. Never rejects. */
  write(entries: readonly SandboxEntry[]): Promise<Written>;
}

export interface EntryWriterDeps {
  readonly ledger: Pick<SandboxLedger, "record">;
  readonly clock: Clock;
  readonly log: ChannelLog;
  /** Called with entries that have become durable. */
  readonly onWritten: (entries: readonly SandboxEntry[]) => void;
}

/** How long a write may take, milliseconds. After that its messages are unconfirmed. */
export const WRITE_LIMIT_MS = 4_000;

const MAX_BATCH_ENTRIES = 500;

/** The most characters of rendered text in one write. A message that is longer is written alone. */
const MAX_BATCH_CHARACTERS = 8 * 1024 * 1024;

interface Waiting {
  readonly entries: readonly SandboxEntry[];
  readonly answer: (written: Written) => void;
}

/**
 * Messages that come in one turn of the event loop, or while a write is under way, share the next write: one commit for
 * many messages. The channel's slots limit how many can wait.
 */
export function createEntryWriter(deps: EntryWriterDeps): EntryWriter {
  const waiting: Waiting[] = [];
  let isWriting = false;

  const writeAll = async () => {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchLength(waiting));
      const written = await writeBatch(
        deps,
        batch.flatMap(({ entries }) => entries),
      );
      for (const { answer } of batch) answer(written);
      // The ledger hangs. The messages that wait were not handed to it, and may be tried again.
      if (written === "unanswered") for (const { answer } of waiting.splice(0)) answer("failed");
    }
    isWriting = false;
  };

  return {
    write(entries) {
      return new Promise((answer) => {
        waiting.push({ entries, answer });
        if (isWriting) return;
        isWriting = true;
        queueMicrotask(() => void writeAll());
      });
    },
  };
}

function writeBatch(
  { clock, ledger, log, onWritten }: EntryWriterDeps,
  entries: readonly SandboxEntry[],
): Promise<Written> {
  const late = (): Written => {
    log.warn({ entries: entries.length }, "the sandbox ledger does not answer");
    return "unanswered";
  };
  const succeed = (): Written => {
    // Called even after the time limit: the entries are stored, so their receipts are owed.
    onWritten(entries);
    return "written";
  };
  const fail = (error: unknown): Written => {
    log.warn({ err: error, entries: entries.length }, "the sandbox ledger cannot be written");
    return "failed";
  };
  return inTime(clock, { limitMs: WRITE_LIMIT_MS, late }, ledger.record(entries).then(succeed, fail));
}

/** How many of the waiting messages the next write takes: at least one. */
function batchLength(waiting: readonly Waiting[]): number {
  let entries = 0;
  let characters = 0;
  const end = waiting.findIndex((each) => {
    entries += each.entries.length;
    characters += each.entries.reduce((sum, entry) => sum + charactersOf(entry), 0);
    return entries > MAX_BATCH_ENTRIES || characters > MAX_BATCH_CHARACTERS;
  });
  return end < 0 ? waiting.length : Math.max(1, end);
}

function charactersOf({ rendered }: SandboxEntry): number {
  let characters = 0;
  for (const value of Object.values(rendered)) if (typeof value === "string") characters += value.length;
  return characters;
}
