/** Requests by dice: some with a key that was used before, some of an account with limits. */
import { LARGE_BODY } from "../../src/core/email/large-body.ts";
import type { AcceptRequest, NewMessage } from "../../src/core/messages/accept-request.ts";
import type { EmailContent } from "../../src/core/messages/message.ts";
import type { Dice } from "../chaos/dice.ts";
import { ask, type Ground } from "./engine-ground.ts";
import { ADDRESSES, NUMBER, PHONES } from "./provider-words.ts";

const URLS = ["https://a.test/x", "https://b.test/"];
export const QUEUES = ["q", "r"];
const KEYS = ["k-1", "k-2", "k-3"];

export async function acceptSms(ground: Ground): Promise<boolean> {
  const { dice, clock } = ground;
  const count = dice.oneOf([1, 1, 3]);
  // Also at once, and at the end of the shortest window, or after it.
  const dueAt = dice.chance(0.2) ? clock.now + dice.oneOf([0, 5_000, 6_000, 7_000]) : undefined;
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
    to: to.map((email) => ({ email, ...(dice.chance(0.3) && { name: "Ann" }) })),
    subject: "s",
    ...textsBy(dice),
    ...callback(dice),
  };
  return accept(ground, { flow: "single", content, messages: [message] });
}

/** Surrogate pairs wherever a large one may be cut. */
const LARGE = `x${"\u{1f4e6}".repeat(LARGE_BODY / 2)}`;

function textsBy(dice: Dice): Pick<EmailContent, "bodyText" | "bodyHtml"> {
  if (dice.chance(0.85)) return { bodyText: "t" };
  return { bodyText: LARGE, ...(dice.chance(0.3) && { bodyHtml: `<p>${LARGE}</p>` }) };
}

function windowEnd({ dice, clock }: Ground): number {
  return clock.now + dice.oneOf([6_000, 60_000, 3_600_000]);
}

function callback(dice: Dice): { readonly callbackUrl?: string } {
  return dice.chance(0.6) ? { callbackUrl: dice.oneOf(URLS) } : {};
}

/** Whether it was accepted; what was not is known to nobody. */
async function accept(ground: Ground, request: Omit<AcceptRequest, "accountId">): Promise<boolean> {
  const { dice, messages } = ground;
  const accountId = dice.chance(0.85) ? ground.accountId : dice.oneOf(ground.accounts);
  const whole = { ...request, accountId, ...(dice.chance(0.2) && { idempotency: keyed(ground, request) }) };
  const { limited } = request;
  const recipients = request.messages.map(({ recipient }) => recipient);
  if (limited) await ask(ground, (store) => store.intake.overLimit({ accountId, recipients, limited }));
  const [{ kind }] = await ask(ground, (store) => store.intake.accept(whole));
  if (kind !== "accepted") return false;
  const { channel } = request.content;
  for (const { id, recipient, parts, expiresAt } of request.messages)
    messages.push({
      id,
      accountId,
      expiresAt,
      channel,
      to: channel === "sms" ? [recipient] : parts.map(({ address = "" }) => address),
    });
  return true;
}

function keyed({ dice, clock }: Ground, { messages }: Pick<AcceptRequest, "messages">) {
  const body = JSON.stringify(messages.map(({ id, recipient }) => ({ message_id: id, to: recipient })));
  const expiresAt = clock.now + 60_000;
  const key = { scope: "s", key: dice.oneOf(KEYS), bodyDigest: "d".repeat(64), now: clock.now, expiresAt };
  return { ...key, answer: { status: 202, body } };
}

/** What each recipient, and each account, has had today. */
export async function lookAtUsage(ground: Ground): Promise<void> {
  const { now } = ground.clock;
  const names = ["daily_message_limit", "daily_segment_limit", "recipient_hourly_limit"] as const;
  const [accounts] = await ask(ground, (store) => store.records.list("accounts", {}, { limit: 10 }));
  for (const { id: accountId } of accounts)
    for (const limits of names.flatMap((name) => [1, 3, 8].map((limit) => ({ [name]: limit })))) {
      const limited = { limits, now, segments: 2 };
      await ask(ground, (store) => store.intake.overLimit({ accountId, recipients: PHONES, limited }));
    }
}

export async function savedAnswers(ground: Ground): Promise<void> {
  const { now } = ground.clock;
  for (const key of KEYS) await ask(ground, (store) => store.intake.savedAnswer({ scope: "s", key, now }));
}

export async function cancel(ground: Ground): Promise<unknown> {
  const { dice, messages, clock } = ground;
  if (messages.length === 0) return false;
  const { id, accountId, channel } = dice.oneOf(messages);
  const scope = `cancel ${id}`;
  const idempotency = {
    scope,
    key: "k",
    bodyDigest: "d".repeat(64),
    now: clock.now,
    expiresAt: clock.now + 60_000,
  };
  const query = { accountId, channel, id, now: clock.now, ...(dice.chance(0.5) && { idempotency }) };
  await ask(ground, (store) => store.messages.find({ id }));
  return (await ask(ground, (store) => store.messages.cancel(query)))[0] === "canceled";
}
