/** Receipts that come over another connector than their message left by. Both belong to one account at the provider. */
import { type Clock, sleep } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import type { ReceiptGroups } from "../../core/receipts/receipt-groups.ts";
import type { ReceiptStore } from "../../store/store.ts";

const ROUND_MS = 1_000;

/** A receipt that has matched nothing for this long is only tried again when the connectors change. */
const PATIENCE_MS = 120_000;

const PAGE = 200;

export interface SharedReceiptsDeps {
  readonly receipts: Pick<ReceiptStore, "parked" | "record">;
  /** Returns the same object until the groups change. */
  readonly groups: () => ReceiptGroups;
  readonly onMatched: (receipts: readonly Receipt[], results: readonly ReceiptResult[]) => void;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
}

/** Tries parked receipts at the connectors that share receipts with their own, until `signal` aborts. Never throws. */
export async function shareReceipts(deps: SharedReceiptsDeps, signal: AbortSignal): Promise<void> {
  let groups: ReceiptGroups = new Map();
  /** For each connector, the last receipt that need not be tried again. */
  let done = new Map<string, string>();
  while (!signal.aborted) {
    const current = deps.groups();
    if (current !== groups) done = new Map();
    groups = current;
    for (const [connectorId, alsoOf] of groups) {
      await matchParked(deps, { connectorId, alsoOf, done, signal }).catch((error) =>
        deps.log.warn({ err: error, connector: connectorId }, "parked receipts could not be read"),
      );
    }
    await sleep(deps.clock, ROUND_MS, signal);
  }
}

const RECENT = { isRecent: true } as const;

interface Round {
  readonly connectorId: string;
  readonly alsoOf: readonly string[];
  readonly done: Map<string, string>;
  readonly signal: AbortSignal;
}

async function matchParked(
  deps: SharedReceiptsDeps,
  { connectorId, alsoOf, done, signal }: Round,
): Promise<void> {
  let after = done.get(connectorId);
  while (!signal.aborted) {
    const page = await deps.receipts.parked({
      connectorId,
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    if (page.length === 0) return;
    const latest = deps.clock.now() - PATIENCE_MS;
    const isRecent = ({ receivedAt }: Receipt) => receivedAt >= latest;
    const receipts = page.map(({ receipt }) => ({ ...receipt, alsoOf, ...(isRecent(receipt) && RECENT) }));
    const results = await deps.receipts.record(receipts);
    const isMatched = (index: number) => results[index]?.kind !== "parked";
    deps.onMatched(
      receipts.filter((_, index) => isMatched(index)),
      results.filter((_, index) => isMatched(index)),
    );
    const old = page.findLast(({ receipt }) => !isRecent(receipt));
    if (old && done.get(connectorId) === after) done.set(connectorId, old.id);
    after = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}
