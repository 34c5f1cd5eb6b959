/** A simulator on a clock the test holds, over a ledger in memory, and messages for it. */

import type { ChannelStatus, OutgoingEmail, OutgoingSms } from "../../src/channels/channel.ts";
import { createSimulator } from "../../src/channels/simulator/simulator.ts";
import type { PartOutcome, Receipt } from "../../src/core/messages/outcome.ts";
import type { SandboxEntry } from "../../src/core/messages/sandbox-entry.ts";
import type { SandboxLedger } from "../../src/store/store.ts";
import { createHeldClock } from "./held-clock.ts";

/** A signal that never aborts. */
export const never = new AbortController().signal;
const silent = { info() {}, warn() {}, debug() {} };

/** What the store's ledger promises, in memory. `hold` keeps writes waiting, `fail` refuses them. */
export function createMemoryLedger() {
  const entries = new Map<string, SandboxEntry>();
  const cleared = new Set<string>();
  const writes: number[] = [];
  let fault: "none" | "fail" | "hold" = "none";
  let held: (() => void)[] = [];
  let handed = 0;
  const waiters: { count: number; resolve: () => void }[] = [];
  const owed = () =>
    [...entries.values()]
      .filter((entry) => entry.receipt && !cleared.has(entry.id))
      .sort((a, b) => a.receipt!.at - b.receipt!.at);
  const ledger: Omit<SandboxLedger, "list"> = {
    async record(added) {
      handed += added.length;
      for (const { count, resolve } of waiters) if (handed >= count) resolve();
      if (fault === "fail") throw new Error("disk full");
      if (fault === "hold")
        await new Promise<void>((resolve) => {
          held.push(resolve);
        });
      writes.push(added.length);
      for (const entry of added) entries.set(entry.id, entry);
    },
    async dueReceipts(now, limit) {
      return owed()
        .filter((entry) => entry.receipt!.at <= now)
        .slice(0, limit);
    },
    nextReceiptAt: async () => owed()[0]?.receipt?.at,
  };
  return {
    ledger,
    entries: () => [...entries.values()],
    writes,
    clear(ids: readonly string[]) {
      for (const id of ids) cleared.add(id);
    },
    setFault(next: typeof fault) {
      fault = next;
    },
    /** Finishes the writes that were kept waiting. */
    release() {
      for (const resolve of held) resolve();
      held = [];
    },
    /** Entries the ledger has been handed, kept or not. */
    handed: () => handed,
    whenHanded: (count: number) =>
      new Promise<void>((resolve) => {
        if (handed >= count) resolve();
        else waiters.push({ count, resolve });
      }),
  };
}

/** Not started yet. */
export function createTestSimulator(
  channel: "sms" | "email",
  memory = createMemoryLedger(),
  clock = createHeldClock(),
) {
  const receipts: Receipt[] = [];
  const slots = { told: 0 };
  const statuses: ChannelStatus[] = [];
  const storing = { fails: false };
  const simulator = createSimulator({
    channel,
    connectorId: `simulator-${channel}`,
    ledger: memory.ledger,
    clock,
    random: Math.random,
    log: silent,
    onSlots: () => void slots.told++,
    onStatus: (status) => void statuses.push(status),
    async onReceipts(batch) {
      if (storing.fails) throw new Error("database away");
      receipts.push(...batch);
      memory.clear(batch.map(({ providerMessageId }) => providerMessageId));
    },
  });
  return { simulator, memory, clock, receipts, slots, statuses, storing };
}

export function openSimulator(...given: Parameters<typeof createTestSimulator>) {
  const opened = createTestSimulator(...given);
  opened.simulator.start();
  return opened;
}

let lastId = 0;

export function sms(to: string, over: Partial<OutgoingSms> = {}): OutgoingSms {
  return {
    channel: "sms",
    claim: 1,
    flow: 0,
    messageId: `message-${++lastId}`,
    accountId: "account-1",
    parts: [],
    remainingMs: 60_000,
    createdAt: createHeldClock().now(),
    to,
    text: "Your code is 4711",
    content: { channel: "sms" },
    ...over,
  };
}

export function email(addresses: readonly string[], over: Partial<OutgoingEmail> = {}): OutgoingEmail {
  return {
    channel: "email",
    messageId: `message-${++lastId}`,
    accountId: "account-1",
    parts: addresses.map((address) => ({ status: "pending", address })),
    remainingMs: 60_000,
    createdAt: createHeldClock().now(),
    content: {
      channel: "email",
      from: { email: "shop@example.com", name: "Shop" },
      to: addresses.map((each) => ({ email: each })),
      subject: "Your order",
      bodyText: "Thank you.",
    },
    ...over,
  };
}

/** The provider's id of a part that was sent. */
export function idOf(outcome: PartOutcome | undefined): string {
  if (outcome?.kind !== "sent") throw new Error(`not sent: ${JSON.stringify(outcome)}`);
  return outcome.providerMessageIds[0]!;
}
