/** Requests by dice: some with a key that was used before, some of an account with limits. */
import type { AcceptRequest, NewMessage } from "../../src/core/messages/accept-request.ts";
import type { Dice } from "../chaos/dice.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { ADDRESSES, NUMBER, PHONES } from "./provider-words.ts";

const URLS = ["https://a.test/x", "https://b.test/"];
export const QUEUES = ["q", "r"];
const KEYS = ["k-1", "k-2", "k-3"];

export async function acceptSms(ground: Ground): Promise<boolean> {
  const { dice, clock } = ground;
  const count = dice.oneOf([1, 1, 3]);
  const dueAt = dice.chance(0.15) ? clock.now + 5_000 : undefined;
  const common = {
    status: dueAt === undefined ? ("queued" as const) : ("scheduled" as const),
    parts: [],
    expiresAt: windowEnd(ground),
    jobs: [{ queue: dice.oneOf(QUEUES) }],
    ...(dueAt !== undefined && { dueAt }),
  };
  const messages = Array.from({ length: count }, () => ({
    ...common,
    id: ground.id(),
    recipient: dice.oneOf(PHONES),
  }));
  const from = dice.oneOf(["ACME", NUMBER]);
  const content = { channel: "sms", templateId: "t", from, text: "hi", ...callback(dice) } as const;
  const flow = count > 1 ? "batch" : "single";
  const limits = { daily_segment_limit: 40, recipient_hourly_limit: 9 };
  return accept(ground, {
    flow,
    content,
    messages,
    ...(dice.chance(0.3) && { limited: { limits, now: clock.now, segments: dice.between(1, 2) } }),
  });
}

export async function acceptEmail(ground: Ground): Promise<boolean> {
  const { dice } = ground;
  const to = Array.from({ length: dice.between(1, 3) }, () => dice.oneOf(ADDRESSES));
  const queue = dice.oneOf(QUEUES);
  const apart = [
    { queue, parts: [0] },
    { queue, parts: [...to.keys()].slice(1) },
  ];
  const message: NewMessage = {
    id: ground.id(),
    recipient: "",
    status: "queued",
    parts: to.map((address) => ({ status: "pending", address })),
    jobs: to.length > 1 && dice.chance(0.5) ? apart : [{ queue }],
    expiresAt: windowEnd(ground),
  };
  const content = {
    channel: "email" as const,
    from: { email: "a@acme.test" },
    to: to.map((email) => ({ email })),
    subject: "s",
    bodyText: "t",
    ...callback(dice),
  };
  return accept(ground, { flow: "single", content, messages: [message] });
}

function windowEnd({ dice, clock }: Ground): number {
  return clock.now + dice.oneOf([6_000, 60_000, 3_600_000]);
}

function callback(dice: Dice): { readonly callbackUrl?: string } {
  return dice.chance(0.6) ? { callbackUrl: dice.oneOf(URLS) } : {};
}

/** Whether it was accepted; what was not is known to nobody. */
async function accept(ground: Ground, request: Omit<AcceptRequest, "accountId">): Promise<boolean> {
  const { dice, accountId, messages } = ground;
  const whole = { ...request, accountId, ...(dice.chance(0.2) && { idempotency: keyed(ground, request) }) };
  const { limited } = request;
  const recipients = request.messages.map(({ recipient }) => recipient);
  if (limited) await ask(ground, (store) => store.intake.overLimit({ accountId, recipients, limited }));
  const [{ kind }] = await ask(ground, (store) => store.intake.accept(whole));
  if (kind !== "accepted") return false;
  const { channel } = request.content;
  for (const { id, recipient, parts } of request.messages)
    messages.push({
      id,
      channel,
      to: channel === "sms" ? [recipient] : parts.map(({ address = "" }) => address),
    });
  return true;
}

function keyed({ dice, clock }: Ground, { messages }: Pick<AcceptRequest, "messages">) {
  const body = `{"id":"${messages[0]?.id}"}`;
  const expiresAt = clock.now + 60_000;
  const key = { scope: "s", key: dice.oneOf(KEYS), bodyDigest: "d".repeat(64), now: clock.now, expiresAt };
  return { ...key, answer: { status: 202, body } };
}

export async function savedAnswers(ground: Ground): Promise<void> {
  const { now } = ground.clock;
  for (const key of KEYS) await ask(ground, (store) => store.intake.savedAnswer({ scope: "s", key, now }));
}

export async function cancel(ground: Ground): Promise<unknown> {
  const { dice, messages, accountId, clock } = ground;
  if (messages.length === 0) return false;
  const { id, channel } = dice.oneOf(messages);
  const scope = `cancel ${id}`;
  const idempotency = {
    scope,
    key: "k",
    bodyDigest: "d".repeat(64),
    now: clock.now,
    expiresAt: clock.now + 60_000,
  };
  const query = { accountId, channel, id, now: clock.now, ...(dice.chance(0.5) && { idempotency }) };
  await ask(ground, (store) => store.messages.ownerOf(id));
  return (await ask(ground, (store) => store.messages.cancel(query)))[0] === "canceled";
}
