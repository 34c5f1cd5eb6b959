/** One message of each kind, made by the store itself: what a history is copied from. */
import { randomBytes } from "node:crypto";
import { createSystemClock } from "../../src/cli/system-clock.ts";
import type { AcceptRequest } from "../../src/core/messages/accept-request.ts";
import type { Content } from "../../src/core/messages/message.ts";
import type { PartOutcome, Receipt } from "../../src/core/messages/outcome.ts";
import { createIds } from "../../src/core/uuid.ts";
import type { WebhookAttempt, WebhookVerdict } from "../../src/core/webhooks/webhook-outbox.ts";
import type { Store } from "../../src/store/store.ts";

/** What stands in a sample for what differs from message to message. */
export const SAMPLE = {
  number: "+919812345678",
  address: "ann4711@example.net",
  providerId: "8812345678",
  connectorId: "01a1fe4d-214d-743f-a718-81d8f26abc37",
} as const;

/** Kinds of messages, and how many of a hundred are of each. */
export const KINDS = [
  { name: "delivered", share: 80 },
  { name: "delivered, told by webhook", share: 8 },
  { name: "undelivered, not told: the webhook failed", share: 2 },
  { name: "sent, with no receipt", share: 3 },
  { name: "email taken by a relay", share: 5 },
  { name: "email delivered, told by webhook", share: 2 },
] as const;

const QUEUE = "bench";
const clock = createSystemClock();
const newId = createIds(clock, randomBytes);
const DAY_MS = 86_400_000;

type Ground = { readonly store: Store; readonly accountId: string };

/** One of each of `KINDS`, in their order. Resolves with their ids. */
export async function makeSamples(ground: Ground): Promise<readonly string[]> {
  const { store } = ground;
  const delivered = await makeSms(ground);
  await receive(ground, { status: "delivered" });
  const told = await makeSms(ground, { callbackUrl: CALLBACK });
  await receive(ground, { status: "delivered" });
  await tell(ground, { kind: "delivered" }, { status: 200, head: "ok" });
  const untold = await makeSms(ground, { callbackUrl: CALLBACK });
  await tell(ground, { kind: "delivered" }, { status: 200, head: "ok" });
  const error = { code: "smpp.001", message: "absent subscriber" };
  await receive(ground, { status: "undelivered", error });
  await tell(ground, { kind: "ended", reason: "gone" }, { status: 410, head: "gone" });
  const lost = await makeSms(ground);
  await store.receipts.flagOverdue({ now: clock.now(), sentBefore: clock.now() + 1, limit: 10 });
  const relayed = await makeEmail(ground, {});
  const emailTold = await makeEmail(ground, { callbackUrl: CALLBACK, isDelivered: true });
  await tell(ground, { kind: "delivered" }, { status: 200, head: "ok" });
  return [delivered, told, untold, lost, relayed, emailTold];
}

const CALLBACK = "https://hooks.example.com/postrider";

async function makeSms(ground: Ground, over: { callbackUrl?: string } = {}): Promise<string> {
  const content: Content = {
    channel: "sms",
    from: "ACMECO",
    templateId: "01a1fe4d-214d-743f-a718-81d8f26abc38",
    variables: { "1": "123456" },
    tags: ["otp"],
    text: "Your code is {#var#}",
    ...over,
  };
  const id = await acceptOne(ground, { content, recipient: SAMPLE.number, parts: [] });
  await settleOne(
    ground,
    { kind: "sent", providerMessageIds: [SAMPLE.providerId] },
    { encoding: "gsm7", segments: 1, provider_message_id: SAMPLE.providerId },
  );
  return id;
}

async function makeEmail(
  ground: Ground,
  { isDelivered = false, ...over }: { callbackUrl?: string; isDelivered?: boolean },
): Promise<string> {
  const to = [{ email: SAMPLE.address, name: "Ann" }];
  const from = { email: "hello@acme.example", name: "Acme" };
  const content: Content = {
    channel: "email",
    from,
    to,
    subject: "Your order",
    bodyText: "All is well.",
    tags: ["order"],
    ...over,
  };
  const id = await acceptOne(ground, {
    content,
    recipient: "",
    parts: [{ status: "pending", address: SAMPLE.address }],
  });
  await settleOne(
    ground,
    { kind: "sent", providerMessageIds: [], delivered: isDelivered, expectsReceipt: false },
    { recipients: 1, octets: 1_200, tls: true, queue_id: "4bQxYz1234z" },
  );
  return id;
}

async function acceptOne(
  { store, accountId }: Ground,
  {
    content,
    recipient,
    parts,
  }: Pick<AcceptRequest["messages"][number], "recipient" | "parts"> & { content: Content },
): Promise<string> {
  const id = newId();
  const expiresAt = clock.now() + DAY_MS;
  const message = { id, recipient, status: "queued" as const, parts, expiresAt, jobs: [{ queue: QUEUE }] };
  await store.intake.accept({ accountId, flow: "single", content, messages: [message] });
  return id;
}

async function settleOne(
  { store }: Ground,
  outcome: PartOutcome,
  detail: Readonly<Record<string, string | number | boolean>>,
): Promise<void> {
  const [job] = await store.queue.claim({ queue: QUEUE, limit: 1, now: clock.now(), leaseMs: 60_000 });
  if (!job) throw new Error("the sample was not claimed");
  const { jobId, claim, messageId } = job;
  await store.queue.settle([
    {
      jobId,
      claim,
      messageId,
      at: clock.now(),
      connectorId: SAMPLE.connectorId,
      countsAsAttempt: true,
      outcomes: [outcome],
      detail,
      next: { kind: "done" },
      keepsContent: false,
    },
  ]);
}

async function receive({ store }: Ground, over: Pick<Receipt, "status" | "error">): Promise<void> {
  const raw = `id:${SAMPLE.providerId} sub:001 dlvrd:001 submit date:2601151200 done date:2601151200 stat:DELIVRD err:000 text:`;
  const { connectorId, providerId: providerMessageId } = SAMPLE;
  const receipt = { connectorId, providerMessageId, recipient: SAMPLE.number.slice(1), raw };
  await store.receipts.record([{ ...receipt, receivedAt: clock.now(), ...over }]);
}

/** Delivers what is in line to the callback URL. */
async function tell(
  { store, accountId }: Ground,
  verdict: WebhookVerdict,
  attempt: Pick<WebhookAttempt, "status" | "head">,
): Promise<void> {
  const lanes = [{ lane: { accountId, host: new URL(CALLBACK).host }, limit: 1 }];
  for (;;) {
    const [hook] = await store.outbox.claim({ lanes, now: clock.now(), leaseMs: 60_000 });
    if (!hook) return;
    const { id, messageId, claim } = hook;
    await store.outbox.settle([
      { id, messageId, claim, verdict, attempt: { at: clock.now(), ms: 40, ...attempt } },
    ]);
  }
}
