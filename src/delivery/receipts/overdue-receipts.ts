/** Receipts that are overdue: flags their messages, and asks the providers that can be asked. */
import type { Channel } from "../../channels/channel.ts";
import { type Clock, sleep } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import { QUESTION_WAITS_MS } from "../../core/receipts/overdue-receipt.ts";
import { readSetting } from "../../core/records/settings.ts";
import type { Chore } from "../../core/work/chores.ts";
import type { ReceiptStore, Records } from "../../store/store.ts";

/** How many parts one transaction flags. */
const CHUNK = 200;

/** The most questions that a connector is asked in a round: they share its window and its rate with messages. */
const QUESTIONS = 20;
const ROUND_MS = 10_000;

/** A round that takes longer is broken off; the rest is asked in the next one. */
const LONGEST_ROUND_MS = 60_000;

/** Flags messages that have had no receipt for longer than the setting `receipt_overdue_after_minutes`. */
export function overdueChore(store: {
  readonly receipts: Pick<ReceiptStore, "flagOverdue">;
  readonly records: Pick<Records, "settings">;
}): Chore {
  return {
    name: "flag overdue receipts",
    everyMs: 5_000,
    async run(now) {
      const minutes = readSetting(await store.records.settings(undefined), "receipt_overdue_after_minutes");
      return store.receipts.flagOverdue({ now, sentBefore: now - minutes * 60_000, limit: CHUNK });
    },
  };
}

export interface InquiryDeps {
  readonly receipts: Pick<ReceiptStore, "takeQuestions" | "record">;
  readonly channels: () => readonly Channel[];
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/** Asks the providers that can be asked, in rounds, until `signal` aborts. Never throws. */
export async function inquire(deps: InquiryDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(deps.clock, ROUND_MS, signal);
    const asked = deps.channels().filter((channel) => channel.query && channel.status().state === "up");
    await Promise.all(asked.map((channel) => ask(deps, channel, signal)));
  }
}

async function ask(deps: InquiryDeps, channel: Channel, signal: AbortSignal): Promise<void> {
  const { clock, receipts, log } = deps;
  const { connectorId } = channel;
  const breakOff = new AbortController();
  const cancel = clock.after(LONGEST_ROUND_MS, () => breakOff.abort());
  try {
    const now = clock.now();
    const questions = signal.aborted
      ? []
      : await receipts.takeQuestions({ connectorId, now, limit: QUESTIONS, waitsMs: QUESTION_WAITS_MS });
    if (questions.length === 0) return;
    const answers = await channel.query?.(questions, AbortSignal.any([signal, breakOff.signal]));
    if (answers && answers.length > 0) await receipts.record(answers);
  } catch (error) {
    log.warn({ err: error, connector: connectorId }, "overdue receipts could not be asked about");
  } finally {
    cancel();
  }
}
