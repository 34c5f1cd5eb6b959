import { expect, test } from "bun:test";
import { LARGE_BODY } from "../../../core/email/large-body.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import { createWorld, DAY, QUEUE } from "../../contract/world.contract.ts";
import { openInMemory } from "../sqlite-world.contract.ts";
import { createRefusals } from "./refusals.ts";

test("a large email that is still being stored is not accepted once a repeat of it was refused", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  const content: EmailContent = {
    channel: "email",
    from: { email: "hello@acme.example" },
    to: [{ email: "ann@example.net" }],
    subject: "News",
    bodyText: "x".repeat(4 * LARGE_BODY),
  };
  const message = {
    id: world.id(),
    recipient: "",
    status: "queued",
    parts: [{ status: "pending", address: "ann@example.net" }],
    jobs: [{ queue: QUEUE }],
    expiresAt: world.clock.now + DAY,
  } as const;
  const idempotency = { ...world.key("k"), answer: { status: 202, body: message.id } };
  const request = { accountId: world.account.id, flow: "single", content, messages: [message] } as const;
  const sending = store.intake.accept({ ...request, idempotency });
  world.clock.now += 1;
  expect(await store.intake.savedAnswer(world.key("k"))).toBeUndefined();
  expect(await sending).toEqual({ kind: "refused_meanwhile" });
  expect(await world.claim()).toEqual([]);
  await store.close();
});

test("a key that was refused often is held once, and others are held beside it", () => {
  const refusals = createRefusals(2);
  const key = (name: string, now: number) => ({ scope: "s", key: name, now });
  refusals.note(key("a", 5));
  for (const now of [1, 9, 7]) refusals.note(key("b", now));
  const cameAfter = (name: string, now: number) => refusals.cameAfter(key(name, now));
  expect([cameAfter("a", 4), cameAfter("b", 8), cameAfter("b", 9)]).toEqual([true, true, false]);
  refusals.note(key("c", 9));
  expect([cameAfter("a", 4), cameAfter("b", 8), cameAfter("c", 8)]).toEqual([false, true, true]);
});
