/** What becomes of events, by dice. */
import type { ClaimedWebhook, WebhookVerdict } from "../../src/core/webhooks/webhook-outbox.ts";
import type { Store } from "../../src/store/store.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { byKey, pairs, takeSome } from "./pairs.ts";

const HOSTS = ["a.test", "b.test"];

export async function claimWebhooks(ground: Ground): Promise<unknown> {
  const { accounts, clock } = ground;
  // All: of those of one moment it is not promised which are first.
  const lanes = accounts.flatMap((accountId) =>
    HOSTS.map((host) => ({ lane: { accountId, host }, limit: 500 })),
  );
  const claimed = await ask(
    ground,
    (store) => store.outbox.claim({ lanes, now: clock.now, leaseMs: 20_000 }),
    (webhooks) => webhooks.map((each) => ({ ...each, id: 0 })).sort(byKey(keyOfWebhook)),
  );
  ground.webhooks.push(...pairs(claimed, keyOfWebhook));
  return claimed[0];
}

function keyOfWebhook({ messageId, sequence }: Pick<ClaimedWebhook, "messageId" | "sequence">): string {
  return `${messageId} ${sequence}`;
}

export async function settleWebhooks(ground: Ground): Promise<unknown> {
  const { dice, clock } = ground;
  const attempt = { at: clock.now, ms: 3, status: 200 };
  const settled = takeSome(ground, ground.webhooks).map((pair) => ({
    pair,
    verdict: dice.oneOf<WebhookVerdict>([
      { kind: "delivered" },
      { kind: "again", at: clock.now + 5_000 },
      { kind: "ended", reason: "gone" },
      { kind: "released" },
    ]),
  }));
  const [answers] = await ask(ground, (store, engine) =>
    store.outbox.settle(settled.map(({ pair, verdict }) => ({ ...pair[engine], verdict, attempt }))),
  );
  return answers;
}

export async function stageWebhooks(ground: Ground): Promise<unknown> {
  return (await ask(ground, (store) => store.outbox.stage(ground.clock.now, 1_000)))[0];
}

export async function replay(ground: Ground): Promise<unknown> {
  if (ground.messages.length === 0) return false;
  const event = { messageId: ground.dice.oneOf(ground.messages).id, sequence: ground.dice.between(1, 3) };
  await ask(ground, (store) => store.outbox.attempts(event));
  return (await ask(ground, (store) => store.outbox.replay(event)))[0];
}

export async function replayAll(ground: Ground): Promise<unknown> {
  const { dice, accounts, clock } = ground;
  const accountId = dice.oneOf(accounts);
  const selection = {
    accountId,
    ...(dice.chance(0.5) && { host: dice.oneOf(HOSTS) }),
    ...(dice.chance(0.5) && { state: dice.oneOf(["delivered", "failed", "waiting"] as const) }),
    ...(dice.chance(0.3) && { since: clock.now - 60_000 }),
  };
  const listed = async ({ outbox }: Store) => (await outbox.list(selection, { limit: 500 })).events;
  await ask(ground, listed, (events) => [...events].sort(byKey(keyOfWebhook)));
  const again = async ({ outbox }: Store) => (await outbox.replayAll(selection, { limit: 500 })).replayed;
  return (await ask(ground, again))[0];
}

/** All events; each engine numbers them in its own way. */
export async function readFeed(ground: Ground): Promise<unknown> {
  const accountId = ground.dice.oneOf(ground.accounts);
  const read = async ({ feed }: Store) => {
    while ((await feed.numberEvents(1_000)) > 0);
    return (await feed.read({ accountId, after: 0, limit: 1_000 })).events;
  };
  const [events] = await ask(ground, read, (found) => found.map((each) => JSON.stringify(each)).sort());
  return events;
}
