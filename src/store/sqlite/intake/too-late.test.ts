/** Requests whose `schedule_at` passes while they wait to be stored: a repeat may have been refused for that meanwhile. */
import { expect, test } from "bun:test";
import { LARGE_BODY } from "../../../core/email/large-body.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import { createWorld, HOUR, QUEUE } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";

async function setUp() {
  let now = () => 0;
  const { store } = await openInMemory({ now: () => now() });
  const world = await createWorld(store);
  const { clock } = world;
  now = () => clock.now;
  const send = async (acceptBefore: number, bodyText: string) => {
    const content: EmailContent = {
      channel: "email",
      from: { email: "hello@acme.example" },
      to: [{ email: "ann@example.net" }],
      subject: "News",
      bodyText,
    };
    const message = {
      id: world.id(),
      recipient: "",
      status: "scheduled",
      parts: [{ status: "pending", address: "ann@example.net" }],
      jobs: [{ queue: QUEUE }],
      dueAt: acceptBefore,
      expiresAt: acceptBefore + HOUR,
    } as const;
    const idempotency = { ...world.key("k"), answer: { status: 202, body: message.id }, acceptBefore };
    const request = { accountId: world.account.id, flow: "single", content, messages: [message] } as const;
    return store.intake.accept({ ...request, idempotency });
  };
  return { clock, store, world, send };
}

test("a large email that is still being stored is not accepted once a repeat of it may have been refused", async () => {
  const { clock, store, world, send } = await setUp();
  const scheduleAt = clock.now + 1_000;
  const sending = send(scheduleAt, "x".repeat(4 * LARGE_BODY));
  clock.now = scheduleAt;
  expect(await store.intake.savedAnswer(world.key("k"))).toBeUndefined();
  expect(await sending).toEqual({ kind: "too_late" });
  expect(await store.intake.savedAnswer(world.key("k"))).toBeUndefined();
  expect(await store.queue.stage(scheduleAt + HOUR, 10)).toBe(0);
  await store.close();
});

test("a request that was accepted in time is replayed afterwards, however late", async () => {
  const { clock, store, send } = await setUp();
  const scheduleAt = clock.now + 1_000;
  expect(await send(scheduleAt, "in time")).toEqual({ kind: "accepted" });
  clock.now = scheduleAt;
  expect(await send(scheduleAt, "in time")).toMatchObject({ kind: "replay" });
  await store.close();
});
