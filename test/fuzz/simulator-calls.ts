/** What the simulator is given, and the receipts that it owes, by dice. */
import type { SandboxEntry } from "../../src/core/messages/sandbox-entry.ts";
import type { Store } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { ADDRESSES } from "./provider-words.ts";

export async function simulate(ground: Ground): Promise<unknown> {
  const { dice, clock, accountId, messages } = ground;
  if (messages.length === 0) return false;
  const { id: messageId, channel, to } = dice.oneOf(messages);
  const entry: SandboxEntry = {
    id: ground.id(),
    accountId,
    messageId,
    channel,
    to: dice.oneOf(to),
    receivedAt: clock.now,
    rendered: { text: `hi ${dice.oneOf([...to, ...ADDRESSES])}` },
    ...(dice.chance(0.7) && { receipt: { at: clock.now + 5_000, status: "delivered" } }),
  };
  await ask(ground, (store) => store.sandbox.record([entry]));
  return true;
}

/** Pays what is due; one receipt is sometimes told twice. */
export async function payReceipts(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const due = (store: Store) => store.sandbox.dueReceipts(clock.now, 100);
  const [entries] = await ask(ground, due);
  const told = dice.chance(0.2) ? [...entries, ...entries.slice(0, 1)] : entries;
  const receipts = told.map(({ id, messageId, to, receipt }) => ({
    connectorId: "sandbox:sms",
    providerMessageId: id,
    target: { messageId },
    recipient: to,
    status: receipt?.status ?? "delivered",
    receivedAt: clock.now,
  }));
  await ask(ground, (store) => store.receipts.record(receipts));
  return entries;
}
