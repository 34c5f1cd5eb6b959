/** Calls that delivery makes of a store, by dice, made of two engines at once: both have to answer alike. */
import type { ClaimedJob } from "../../src/core/queue/claimed-job.ts";
import type { ClaimedWebhook, WebhookVerdict } from "../../src/core/webhooks/webhook-outbox.ts";
import type { Store } from "../../src/store/store.ts";
import type { Dice } from "../chaos/dice.ts";
import { ask, type Ground } from "./engine-ground.ts";
import {
  ADDRESSES,
  ERROR,
  IDS,
  PHONES,
  partBy,
  receiptBy,
  segmentsOf,
  settlementOf,
} from "./provider-words.ts";

/** The steps, with how often each is made. */
export const WEIGHTS = {
  acceptSms: 4,
  acceptEmail: 3,
  claim: 5,
  settle: 8,
  release: 1,
  receive: 7,
  answerLate: 2,
  refuseLate: 2,
  wait: 3,
  stage: 4,
  expire: 1,
  cancel: 1,
  flagOverdue: 1,
  claimWebhooks: 2,
  settleWebhooks: 3,
  stageWebhooks: 1,
  replay: 1,
} as const;

export const STEPS: Readonly<Record<keyof typeof WEIGHTS, (ground: Ground) => Promise<unknown>>> = {
  acceptSms,
  acceptEmail,
  claim,
  settle,
  release,
  receive,
  answerLate,
  refuseLate,
  async wait({ clock, dice }) {
    clock.now += dice.oneOf([500, 2_000, 10_000, 30_000, 400_000]);
  },
  stage: (ground) => ask(ground, (store) => store.queue.stage(ground.clock.now, 1_000)),
  expire: (ground) => ask(ground, (store) => store.queue.expire(ground.clock.now, 1_000)),
  cancel,
  flagOverdue,
  claimWebhooks,
  settleWebhooks,
  stageWebhooks: (ground) => ask(ground, (store) => store.outbox.stage(ground.clock.now, 1_000)),
  replay,
};

const URLS = ["https://a.test/x", "https://b.test/"];

async function acceptSms(ground: Ground): Promise<void> {
  const { dice, clock, messages, accountId } = ground;
  const count = dice.oneOf([1, 1, 3]);
  const dueAt = dice.chance(0.15) ? clock.now + 5_000 : undefined;
  const common = {
    status: dueAt === undefined ? ("queued" as const) : ("scheduled" as const),
    parts: [],
    expiresAt: clock.now + dice.oneOf([6_000, 60_000, 3_600_000]),
    jobs: [{ queue: "q" }],
    ...(dueAt !== undefined && { dueAt }),
  };
  const list = Array.from({ length: count }, () => ({
    ...common,
    id: ground.id(),
    recipient: dice.oneOf(PHONES),
  }));
  const content = { channel: "sms" as const, templateId: "t", from: "ACME", text: "hi", ...callback(dice) };
  const flow = count > 1 ? "batch" : "single";
  await ask(ground, (store) => store.intake.accept({ accountId, flow, content, messages: list }));
  for (const { id, recipient } of list) messages.push({ id, channel: "sms", to: [recipient] });
}

async function acceptEmail(ground: Ground): Promise<void> {
  const { dice, clock, messages, accountId } = ground;
  const to = Array.from({ length: dice.between(1, 3) }, () => dice.oneOf(ADDRESSES));
  const apart = [
    { queue: "q", parts: [0] },
    { queue: "q", parts: [...to.keys()].slice(1) },
  ];
  const message = {
    id: ground.id(),
    recipient: "",
    status: "queued" as const,
    parts: to.map((address) => ({ status: "pending" as const, address })),
    jobs: to.length > 1 && dice.chance(0.5) ? apart : [{ queue: "q" }],
    expiresAt: clock.now + dice.oneOf([6_000, 60_000, 3_600_000]),
  };
  const content = {
    channel: "email" as const,
    from: { email: "a@acme.test" },
    to: to.map((email) => ({ email })),
    subject: "s",
    bodyText: "t",
    ...callback(dice),
  };
  await ask(ground, (store) =>
    store.intake.accept({ accountId, flow: "single", content, messages: [message] }),
  );
  messages.push({ id: message.id, channel: "email", to });
}

function callback(dice: Dice): { readonly callbackUrl?: string } {
  return dice.chance(0.6) ? { callbackUrl: dice.oneOf(URLS) } : {};
}

async function claim(ground: Ground): Promise<void> {
  const request = { queue: "q", limit: 200, now: ground.clock.now, leaseMs: 20_000 };
  const [one, other] = await ask(
    ground,
    (store) => store.queue.claim(request),
    // The engines number jobs and accounts each in their own way.
    (jobs) => jobs.map((job) => ({ ...job, jobId: 0, flow: job.flow % 2 })).sort(byKey(keyOfJob)),
  );
  ground.jobs.push(...pairs(one, other, keyOfJob));
}

function keyOfJob({ messageId, parts = [] }: Pick<ClaimedJob, "messageId" | "parts">): string {
  return `${messageId} ${parts.join()}`;
}

function byKey<T>(keyOf: (each: T) => string): (one: T, other: T) => number {
  return (one, other) => (keyOf(one) < keyOf(other) ? -1 : 1);
}

function pairs<T>(some: readonly T[], others: readonly T[], keyOf: (each: T) => string) {
  const found = new Map(others.map((each) => [keyOf(each), each]));
  return some.map((each) => [each, found.get(keyOf(each)) as T] as const);
}

/** Settles a few, of different messages; now and then one that stays in hand, and is settled again later. */
async function settle(ground: Ground): Promise<void> {
  const settled = takeSome(ground, ground.jobs).map((pair) => ({
    pair,
    settlement: settlementOf(ground, pair[0]),
  }));
  await ask(ground, (store, engine) =>
    store.queue.settle(settled.map(({ pair, settlement }) => ({ ...settlement, jobId: pair[engine].jobId }))),
  );
}

function takeSome<T extends { readonly messageId: string }>(
  { dice }: Ground,
  pool: (readonly [T, T])[],
): readonly (readonly [T, T])[] {
  const taken = new Map<string, readonly [T, T]>();
  for (let count = dice.between(1, 3); count > 0 && pool.length > 0; count--) {
    const at = dice.between(0, pool.length - 1);
    const [pair] = dice.chance(0.1) ? [pool[at]] : pool.splice(at, 1);
    if (pair) taken.set(pair[0].messageId, pair);
  }
  return [...taken.values()];
}

async function release(ground: Ground): Promise<void> {
  const [pair] = ground.jobs.splice(0, 1);
  if (!pair) return;
  await ask(ground, (store, engine) => store.queue.release([pair[engine]], ground.clock.now));
}

async function receive(ground: Ground): Promise<void> {
  const receipts = Array.from({ length: ground.dice.between(1, 4) }, () => receiptBy(ground));
  await ask(ground, (store) => store.receipts.record(receipts));
}

async function answerLate(ground: Ground): Promise<void> {
  const part = partBy(ground);
  if (!part) return;
  const answer = { ...part, parts: segmentsOf(part.messageId), providerMessageIds: [ground.dice.oneOf(IDS)] };
  await ask(ground, (store) => store.receipts.recordLateAnswer(answer, ground.clock.now));
}

async function refuseLate(ground: Ground): Promise<void> {
  const part = partBy(ground);
  if (!part) return;
  const kind = ground.dice.oneOf(["rejected", "deferred"] as const);
  const refusal = { ...part, claim: ground.dice.between(1, 3), outcome: { kind, error: ERROR } };
  await ask(ground, (store) => store.receipts.recordLateRefusal(refusal, ground.clock.now));
}

async function cancel(ground: Ground): Promise<void> {
  const { dice, messages, accountId, clock } = ground;
  if (messages.length === 0) return;
  const { id, channel } = dice.oneOf(messages);
  await ask(ground, (store) => store.messages.cancel({ accountId, channel, id, now: clock.now }));
}

async function flagOverdue(ground: Ground): Promise<void> {
  const { now } = ground.clock;
  const flag = async ({ receipts }: Store) => {
    while ((await receipts.flagOverdue({ now, sentBefore: now - 5_000, limit: 500 })) > 0);
  };
  await ask(ground, flag);
}

async function claimWebhooks(ground: Ground): Promise<void> {
  const { accountId, clock } = ground;
  const lanes = ["a.test", "b.test"].map((host) => ({ lane: { accountId, host }, limit: 20 }));
  const [one, other] = await ask(
    ground,
    (store) => store.outbox.claim({ lanes, now: clock.now, leaseMs: 20_000 }),
    (webhooks) => webhooks.map((each) => ({ ...each, id: 0 })).sort(byKey(keyOfWebhook)),
  );
  ground.webhooks.push(...pairs(one, other, keyOfWebhook));
}

function keyOfWebhook({ messageId, sequence }: Pick<ClaimedWebhook, "messageId" | "sequence">): string {
  return `${messageId} ${sequence}`;
}

async function settleWebhooks(ground: Ground): Promise<void> {
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
  await ask(ground, (store, engine) =>
    store.outbox.settle(settled.map(({ pair, verdict }) => ({ ...pair[engine], verdict, attempt }))),
  );
}

async function replay(ground: Ground): Promise<void> {
  if (ground.messages.length === 0) return;
  const event = { messageId: ground.dice.oneOf(ground.messages).id, sequence: ground.dice.between(1, 3) };
  await ask(ground, (store) => store.outbox.replay(event));
}
